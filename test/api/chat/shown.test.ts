/** What those who watch are not shown: words for the machine, and that an agent has looked and found nothing. */
import { expect, test } from 'vitest'
import { z } from 'zod'
import { chat } from '../../../src/chat.ts'
import { agent, type RuntimeOptions, tool } from '../../../src/index.ts'
import { aGateway } from '../http/harness.ts'
import { aSocket } from '../ws/a-socket.ts'

const app = (answer: string): RuntimeOptions => ({
  agents: [agent({ name: 'main', model: 'test/echo', tools: [] })],
  models: {
    'test/echo': ({ messages }) => {
      const last = messages.at(-1)
      return { text: last?.role === 'user' && last.text === 'plain' ? 'plain answer' : answer }
    },
  },
})

test.each([
  ['a silent answer', 'NO_REPLY', undefined],
  ['an answer with directive tags', '[[reply_to_current]] Here you are', 'Here you are'],
  ['an answer with its reasoning in tags', '<think>hm, what now</think>Done.', 'Done.'],
])('[CH-68] %s never shows what is for the machine, neither in deltas nor in the history', async (_, answer, shown) => {
  const { gateway } = await aGateway({}, app(answer))
  const socket = await aSocket(gateway.url)
  await socket.request('chat.send', { sessionKey: 'main', message: 'hi', idempotencyKey: 'k1' })
  await socket.event('chat', ({ state }) => state === 'final')

  const texts = socket.events('chat').flatMap(({ message }) => message?.content.flatMap((block) => (block.type === 'text' ? [block.text] : [])) ?? [])
  const { messages } = (await socket.request('chat.history', { sessionKey: 'main' })).payload

  for (const text of texts) expect(shown?.startsWith(text.trim())).toBe(true)
  expect(messages.map(({ text }: { text: string }) => text)).toEqual(shown === undefined ? ['hi'] : ['hi', shown])
  expect((await socket.request('chat.message', { sessionKey: 'main', messageId: 'k1:1' })).payload.text).toBe(answer)
})

/** Source: openclaw/openclaw#23761. A run that is stopped when this much of its answer has come. @returns its texts on the wire, and those of the history */
const stopped = async (text: string) => {
  const { gateway } = await aGateway({}, { ...app(''), models: { 'test/echo': [{ text, hang: true }, { text: 'yes' }] } })
  const socket = await aSocket(gateway.url)
  await socket.request('chat.send', { sessionKey: 'main', message: 'hi', idempotencyKey: 'k1' })
  await socket.event('chat')
  await socket.request('chat.abort', { sessionKey: 'main' })
  const { payload } = await socket.event('chat', ({ state }) => state === 'aborted')
  const texts = socket.events('chat').flatMap(({ message }) => message?.content.flatMap((block) => (block.type === 'text' ? [block.text] : [])) ?? [])
  const { messages } = (await socket.request('chat.history', { sessionKey: 'main' })).payload
  return { texts, payload, messages }
}

test.each(['NO_REPL', 'N', 'HEARTBEAT_O', '**NO_', 'NO_REPLY', '<think>hm', '[[reply_to:', '<think>hm</think>NO_REP'])(
  '[CH-68, CH-79] of an answer that is stopped at %s nothing is shown, in no frame and not in the history',
  async (text) => {
    const { texts, payload, messages } = await stopped(text)

    expect(texts.join('')).toBe('')
    expect(payload.message).toBeUndefined()
    expect(messages.map((message: { text: string }) => message.text)).toEqual(['hi'])
  },
)

test.each([
  ['Well then', 'Well then'],
  ['Well then NO_RE', 'Well then'],
  ['NOT now', 'NOT now'],
  ['Here [[reply_to:', 'Here'],
])('[CH-79] an answer that is stopped at %j is stored once, as stopped, with what was visible: %j', async (text, visible) => {
  const { payload, messages } = await stopped(text)

  expect(payload).toMatchObject({ runId: 'k1', stopReason: 'rpc', message: { content: [{ type: 'text', text: visible }] } })
  expect(messages.slice(1)).toMatchObject([{ role: 'assistant', id: 'k1:1', text: visible, partial: true }])
})

const looks = async (options: RuntimeOptions) => {
  const { gateway, runtime } = await aGateway({}, options)
  const socket = await aSocket(gateway.url)
  await socket.request('chat.subscribe', { sessionKey: 'main' })
  await (await runtime.session('main').send('look around', { idempotencyKey: 'look', heartbeat: true })).result()
  await socket.request('chat.send', { sessionKey: 'main', message: 'plain', idempotencyKey: 'k2' })
  await socket.event('chat', ({ state, runId }) => state === 'final' && runId === 'k2')
  const { messages } = (await socket.request('chat.history', { sessionKey: 'main' })).payload
  return { socket, ids: messages.map(({ id }: { id: string }) => id) }
}

test('[CH-68] a heartbeat that finds nothing is not to be seen by those who watch', async () => {
  const { socket, ids } = await looks(app('HEARTBEAT_OK'))

  expect(socket.events('chat').filter(({ runId }) => runId === 'look')).toEqual([])
  expect(socket.events('session.message').filter(({ id }) => id === 'look')).toEqual([])
  expect(ids).toEqual(['k2', 'k2:1'])
})

test('[CH-68] the calls of tools of a heartbeat are not to be seen by those who watch, nor is that it works', async () => {
  const look = tool({ name: 'look', description: 'looks', input: z.object({}), execute: () => 'nothing new' })
  const { socket } = await looks({
    agents: [agent({ name: 'main', model: 'test/echo', tools: [look] })],
    models: {
      'test/echo': ({ messages }) => {
        const last = messages.at(-1)
        if (last?.role === 'user' && last.text === 'plain') return { text: 'plain answer' }
        return last?.role === 'tool' ? { text: 'HEARTBEAT_OK' } : { calls: [{ name: 'look' }] }
      },
    },
  })

  expect(socket.events('session.tool')).toEqual([])
  expect(socket.events('session.state').filter(({ runId }) => runId === 'look')).toEqual([])
})

test.each(['where another one watches already', 'where none watches yet'])(
  '[CH-68] a watcher that comes while a heartbeat calls a tool is not shown it, %s',
  async (where) => {
    const [gate, begun] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const look = tool({
      name: 'look',
      description: 'looks',
      input: z.object({}),
      execute: async () => {
        begun.resolve()
        await gate.promise
        return 'nothing new'
      },
    })
    const agents = [agent({ name: 'main', model: 'test/echo', tools: [look] })]
    const answer: NonNullable<RuntimeOptions['models']>[string] = ({ messages }) =>
      messages.at(-1)?.role === 'tool' ? { text: 'HEARTBEAT_OK' } : { calls: [{ name: 'look' }] }
    const { gateway, runtime } = await aGateway({}, { agents, models: { 'test/echo': answer } })
    const [first, late] = [await aSocket(gateway.url), await aSocket(gateway.url)]
    if (where === 'where another one watches already') await first.request('chat.subscribe', { sessionKey: 'main' })
    const run = await runtime.session('main').send('look around', { idempotencyKey: 'look', heartbeat: true })
    await begun.promise

    const { payload } = await late.request('chat.subscribe', { sessionKey: 'main' })
    gate.resolve()
    await run.result()
    await late.request('health')

    expect(payload).toMatchObject({ run: null, tools: [] })
    expect(late.events('session.tool')).toEqual([])
    expect(late.events('chat')).toEqual([])
  },
)

test('[CH-68] of a heartbeat that has something to say the end is shown', async () => {
  const { socket, ids } = await looks(app('The build is red.'))

  expect(socket.events('chat').filter(({ runId }) => runId === 'look')).toMatchObject([
    { state: 'final', message: { content: [{ type: 'text', text: 'The build is red.' }] } },
  ])
  expect(ids).toEqual(['look:1', 'k2', 'k2:1'])
})

test('[CH-68] with showOk a heartbeat is shown as any run', async () => {
  const { socket, ids } = await looks({
    ...app('The build is red.'),
    extensions: [chat({ agents: { main: { heartbeat: { everyMs: 86_400_000, visibility: { showOk: true } } } } })],
  })

  expect(socket.events('session.message').map(({ id }) => id)).toEqual(['look', 'k2'])
  expect(ids).toEqual(['look', 'look:1', 'k2', 'k2:1'])
})
