/** Looking up what is in a message, with a process that dies and time that passes. */
import { expect, test } from 'vitest'
import { chat, type LinkHandler } from '../../../src/chat.ts'
import { agent, type ModelRequest } from '../../../src/index.ts'
import { testRuntime, traceOf } from '../../../src/testing/index.ts'

const aRuntime = (handlers: LinkHandler[]) => {
  const asked: ModelRequest[] = []
  const model = (request: ModelRequest) => {
    asked.push(request)
    return { text: 'read' }
  }
  const options = { agents: [agent({ name: 'main', model: 'test/a' })], models: { 'test/a': model }, extensions: [chat({ links: { handlers } })] }
  const told = () => asked.map(({ messages }) => messages.flatMap((one) => (one.role === 'user' ? [one.after ?? ''] : [])).join())
  return { options, asked, told }
}

test('[CH-21] a process that dies while a link is looked up looks again when it is back, and what was found before is not asked for again', async () => {
  const calls: string[] = []
  const hanging = Promise.withResolvers<void>()
  const read = (url: string): string | Promise<string> => {
    calls.push(url)
    if (url !== 'https://b.example/' || calls.filter((one) => one === url).length > 1) return `found ${url}`
    hanging.resolve()
    return new Promise(() => undefined)
  }
  const { options, told } = aRuntime([{ name: 'reader', read }])
  await using runtime = await testRuntime(options)
  await runtime.session('s').send('https://a.example/ https://b.example/', { idempotencyKey: 'm1' })
  await runtime.clock.until(hanging.promise)
  while (!(await traceOf(runtime.runtime, 's')).some((line) => line.includes('lookup-0'))) await runtime.clock.until(new Promise(setImmediate))

  await runtime.crash()
  const back = await runtime.restart()
  const run = await back.session('s').send('https://a.example/ https://b.example/', { idempotencyKey: 'm1' })
  const { text } = await runtime.clock.until(run.result())

  expect(text).toBe('read')
  expect(calls).toEqual(['https://a.example/', 'https://b.example/', 'https://b.example/'])
  expect(told()).toEqual([expect.stringMatching(/found https:\/\/a.example.*found https:\/\/b.example/s)])
})

test('[CH-21] what was found stands in the journal: a replay looks nothing up, and tells the same', async () => {
  let count = 0
  const { options, asked } = aRuntime([{ name: 'reader', read: () => `found ${++count}` }])
  await using runtime = await testRuntime(options)
  const run = await runtime.session('s').send('https://a.example/')
  await runtime.clock.until(run.result())

  await runtime.restart()
  const again = await runtime.session('s').send('and now?')
  await runtime.clock.until(again.result())
  const replayed = await runtime.runtime.replay({ kind: 'session', id: 's' })

  expect(replayed).toMatchObject({ verdict: 'identical', commits: await runtime.commits('s') })
  expect(count).toBe(1)
  expect(asked[1]?.messages[0]).toMatchObject({ after: expect.stringContaining('found 1') })
})

test('[CH-21] each handler has thirty seconds; then the next one is asked, and in the end the model without it', async () => {
  const stopped: number[] = []
  let began = 0
  const hangs = (name: string): LinkHandler => ({
    name,
    read: (_, { signal }) => {
      signal.addEventListener('abort', () => stopped.push(runtime.clock.now() - began))
      return new Promise(() => undefined)
    },
  })
  const { options, told } = aRuntime([hangs('one'), hangs('two')])
  await using runtime = await testRuntime(options)
  began = runtime.clock.now()
  const run = await runtime.session('s').send('https://a.example/')

  await runtime.clock.until(run.result(), 120_000)

  expect(stopped).toEqual([30_000, 60_000])
  expect(told()).toEqual([''])
})

test('[CH-21] several messages that become one prompt are told with what each of them links to', async () => {
  const { options, asked } = aRuntime([{ name: 'reader', read: (url) => `found ${url}` }])
  await using runtime = await testRuntime(options)
  const first = await runtime.session('s').send('begin')
  const runs = await Promise.all(
    ['https://a.example/', 'plain', 'https://b.example/'].map((text) => runtime.session('s').send(text, { queueMode: 'collect' })),
  )
  await runtime.clock.until(Promise.all([first, ...runs].map((run) => run.result())))

  expect(asked).toHaveLength(2)
  expect(asked[1]?.messages.at(-1)).toMatchObject({ after: expect.stringMatching(/found https:\/\/a.example.*found https:\/\/b.example/s) })
})
