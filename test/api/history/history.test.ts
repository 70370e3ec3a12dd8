/** What a client gets of a conversation: pages, bounds, and a way to all that was cut. */
import { expect, test } from 'vitest'
import { agent, type RuntimeOptions } from '../../../src/index.ts'
import { aGateway } from '../http/harness.ts'
import { aSocket } from '../ws/a-socket.ts'

const long = '🌍'.repeat(50_000)
const app = (more: RuntimeOptions = {}): RuntimeOptions => ({
  agents: [agent({ name: 'main', model: 'test/echo', tools: [] })],
  models: {
    'test/echo': ({ messages }) => {
      const last = messages.at(-1)
      const text = last?.role === 'user' ? last.text : ''
      return { text: text === 'long' ? long : `re ${text}` }
    },
  },
  ...more,
})

const says = async (socket: Awaited<ReturnType<typeof aSocket>>, message: string, idempotencyKey: string) => {
  expect(await socket.request('chat.send', { sessionKey: 'main', message, idempotencyKey })).toMatchObject({ ok: true })
  await socket.event('chat', ({ state, runId }) => state === 'final' && runId === idempotencyKey)
}

test('[CH-75] a history names its session, the levels in force, and whether there is more', async () => {
  const { gateway } = await aGateway({}, app({ agents: [agent({ name: 'main', model: 'test/echo', tools: [], thinking: 'high' })] }))
  const socket = await aSocket(gateway.url)
  await says(socket, 'hi', 'k1')

  const before = (await socket.request('chat.history', { sessionKey: 'main' })).payload
  await socket.request('sessions.configure', { sessionKey: 'main', toggles: { thinking: 'low', verbose: 'full' } })
  const after = (await socket.request('chat.history', { sessionKey: 'main' })).payload

  expect(before).toMatchObject({
    sessionKey: 'main',
    sessionId: expect.stringMatching(/^[\da-f-]{36}$/),
    thinkingLevel: 'high',
    verboseLevel: 'off',
    more: false,
    waiting: [],
  })
  expect(before.messages).toMatchObject([
    { role: 'user', id: 'k1', text: 'hi', at: expect.any(Number) },
    { role: 'assistant', id: 'k1:1', text: 're hi', at: expect.any(Number) },
  ])
  expect(after).toMatchObject({ thinkingLevel: 'low', verboseLevel: 'full', sessionId: before.sessionId })
})

test('[CH-75] an agent that says nothing of thinking has the default of its model', async () => {
  const { gateway } = await aGateway({}, app())
  const socket = await aSocket(gateway.url)
  await says(socket, 'hi', 'k1')

  expect((await socket.request('chat.history', { sessionKey: 'main' })).payload.thinkingLevel).toBe('off')
})

test('[CH-73] of 1,500 messages the newest 200 are given where nobody says how many, at most 1,000, and pages lead back to the first', async () => {
  const { gateway, runtime } = await aGateway({}, app())
  const session = runtime.session('main')
  for (let turn = 0; turn < 750; turn++) await (await session.send(`q${turn}`, { idempotencyKey: `k${turn}` })).result()
  const socket = await aSocket(gateway.url)
  const history = async (params: object) => socket.request('chat.history', { sessionKey: 'main', ...params })

  const usual = (await history({})).payload
  const all = [...(await history({ limit: 1000 })).payload.messages]
  for (let more = true; more; ) {
    const page = (await history({ limit: 300, before: all[0].id })).payload
    all.unshift(...page.messages)
    more = page.more
  }

  expect(usual.messages).toHaveLength(200)
  expect(usual.more).toBe(true)
  expect(usual.messages.at(-1).text).toBe('re q749')
  expect(await history({ limit: 5000 })).toMatchObject({ ok: false, error: { code: 'bad_request', field: 'limit' } })
  expect(all.map(({ text }) => text)).toEqual(Array.from({ length: 750 }, (_, turn) => [`q${turn}`, `re q${turn}`]).flat())
  expect(await history({ before: 'nobody' })).toMatchObject({ ok: false, error: { code: 'not_found', field: 'before' } })
}, 60_000)

test('[CH-73] a message of 200 KB is cut between characters, says how long it is, and can be read whole in pieces', async () => {
  const { gateway } = await aGateway({}, app())
  const socket = await aSocket(gateway.url)
  await says(socket, 'long', 'k1')

  const [, answer] = (await socket.request('chat.history', { sessionKey: 'main' })).payload.messages
  const [, more] = (await socket.request('chat.history', { sessionKey: 'main', maxChars: 500_000 })).payload.messages
  let whole = ''
  for (let offset: number | null = 0; offset !== null; ) {
    const { payload } = await socket.request('chat.message', { sessionKey: 'main', messageId: 'k1:1', offset, limit: 29_999 })
    expect(payload.text.isWellFormed()).toBe(true)
    whole += payload.text
    offset = payload.next
  }

  expect(answer).toMatchObject({ role: 'assistant', id: 'k1:1', at: expect.any(Number), cut: { text: 100_000 } })
  expect(answer.text).toBe(`${'🌍'.repeat(6000)}\n… (cut here)`)
  expect(more).toMatchObject({ role: 'assistant', id: 'k1:1', at: expect.any(Number), cut: { text: expect.any(Number) } })
  expect(more.text).toContain('too large')
  expect(whole).toBe(long)
})

test('[CH-73] all of an answer stays below its budget: the oldest are left for the page before', async () => {
  const { gateway } = await aGateway({}, app({ history: { bytesMax: 4096 }, config: { session: { historyMax: 50 } } }))
  const socket = await aSocket(gateway.url)
  for (let turn = 0; turn < 6; turn++) await says(socket, `${turn} ${'x'.repeat(500)}`, `k${turn}`)

  const first = (await socket.request('chat.history', { sessionKey: 'main' })).payload
  const second = (await socket.request('chat.history', { sessionKey: 'main', before: first.messages[0].id })).payload

  expect(JSON.stringify(first.messages).length).toBeLessThan(4096)
  expect(first).toMatchObject({ more: true })
  expect([...second.messages, ...first.messages].map(({ id }: { id: string }) => id).slice(-8)).toEqual([
    'k2',
    'k2:1',
    'k3',
    'k3:1',
    'k4',
    'k4:1',
    'k5',
    'k5:1',
  ])
})

test('[CH-73] the newest of a long conversation are read from its end', async () => {
  const { runtime } = await aGateway({}, app())
  const session = runtime.session('main')
  for (let turn = 0; turn < 400; turn++) await (await session.send(`q${turn}`, { idempotencyKey: `k${turn}` })).result()
  const { partsOf } = await import('../../../src/runtime/index.ts')
  const { Transcripts } = await import('../../../src/machines/index.ts')
  const { journal } = partsOf(runtime).transport
  let read = 0
  const counting = Object.assign(Object.create(journal), {
    read: async (...given: Parameters<typeof journal.read>) => {
      const frames = await journal.read(...given)
      read += frames.length
      return frames
    },
  })

  const page = await new Transcripts(counting).newest(session.address, 20)

  expect(page.messages.map(({ role }) => role)).toEqual(Array.from({ length: 10 }, () => ['user', 'assistant']).flat())
  expect(page).toMatchObject({ more: true, waiting: [] })
  expect(read).toBeLessThanOrEqual(64)
})
