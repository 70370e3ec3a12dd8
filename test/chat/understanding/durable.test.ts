/** Looking up what is in a message, with a process that dies and time that passes. */
import { expect, test } from 'vitest'
import { chat, type LinkHandler } from '../../../src/chat.ts'
import { agent, type ModelRequest } from '../../../src/index.ts'
import { foldTranscript, nothingFolded } from '../../../src/machines/transcript/fold.rules.ts'
import { FromTheEnd } from '../../../src/machines/transcript/from-the-end.rules.ts'
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

test('[CH-21] senders choose their ids, also such as every object has; what was found is no message that waits, and goes with a message that is stopped', async () => {
  const hanging = Promise.withResolvers<void>()
  const read = (url: string): string | Promise<string> => {
    if (!url.includes('hangs')) return `found ${url}`
    hanging.resolve()
    return new Promise(() => undefined)
  }
  const { options, asked } = aRuntime([{ name: 'reader', read }])
  await using runtime = await testRuntime(options)
  for (const id of ['constructor', '__proto__', 'm:lookup-0']) {
    const run = await runtime.session('s').send(id === 'constructor' ? 'plain' : 'https://a.example/', { idempotencyKey: id })
    await runtime.clock.until(run.result())
  }
  const stopped = await runtime.session('s').send('https://b.example/ https://hangs.example/', { idempotencyKey: 'stopped' })
  await runtime.clock.until(hanging.promise)
  const found = () => traceOf(runtime.runtime, 's').then((lines) => lines.some((line) => line.includes('/turn#4/understanding#1/lookup-0')))
  while (!(await found())) await runtime.clock.until(new Promise(setImmediate))
  const { waiting } = await runtime.runtime.command<{ waiting: unknown[] }>('chat.history', { sessionKey: 's' })
  await stopped.cancel()
  await runtime.clock.until(stopped.result().catch(() => undefined))
  const after = await runtime.session('s').send('and now?')
  await runtime.clock.until(after.result())

  const last = asked.map(({ messages }) => messages.at(-1))
  expect(last).toMatchObject([{ text: 'plain' }, { after: expect.stringContaining('found') }, { after: expect.stringContaining('found') }, {}])
  expect(waiting).toEqual([expect.objectContaining({ id: 'stopped' })])
  expect(JSON.stringify(asked[3]?.messages)).not.toContain('found https://b.example')
})

test('what was looked up in a message that waits no more is kept by neither way of reading a journal', () => {
  const commit = (seq: number, inputs: unknown[], notes: unknown[] = []) => ({ seq, inputs, notes }) as never
  const found = (id: string) => ({ from: '/x#1', event: { type: 'xstate.promise.resolve', data: { kind: 'lookup', id, text: 'found', by: 'r' } } })
  const commits = [
    commit(1, [{ event: { type: 'message', id: 'a', text: 'hi' } }]),
    commit(2, [found('a:lookup-0'), found('a:lookup-1')]),
    commit(3, [], [{ type: 'transcript', ended: [{ ids: ['a'] }] }]),
  ]
  const folded = nothingFolded()
  const backwards = new FromTheEnd()
  for (const one of commits) foldTranscript(folded, one)
  for (const one of commits.toReversed()) backwards.take(one)

  expect([...folded.pending.keys()]).toEqual([])
  expect([...backwards.end(true).pending.keys()]).toEqual([])
})
