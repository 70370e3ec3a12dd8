/** What becomes of a model's stream, as clients of a gateway see it. */
import { expect, onTestFinished, test } from 'vitest'
import { WebSocket } from 'ws'
import { socketClient } from '../../../src/client/socket/index.ts'
import type { Model, ModelRequest } from '../../../src/contracts/model.ts'
import { agent, type RuntimeOptions } from '../../../src/index.ts'
import { virtualClock } from '../../../src/testing/index.ts'
import { aGateway, token } from '../http/harness.ts'
import { aSocket } from '../ws/a-socket.ts'

type Custom = NonNullable<RuntimeOptions['models']>[string]
const app = (model: Custom, more: RuntimeOptions = {}): RuntimeOptions => ({
  agents: [agent({ name: 'main', model: 'test/model' })],
  models: { 'test/model': model },
  ...more,
})
/** An AI SDK model that streams these pieces of text. */
const streaming = (...pieces: string[]) => ({
  specificationVersion: 'v3' as const,
  provider: 'test',
  modelId: 'm',
  doStream: async () => ({
    stream: new ReadableStream({
      start(controller) {
        controller.enqueue({ type: 'text-start', id: '1' })
        for (const delta of pieces) controller.enqueue({ type: 'text-delta', id: '1', delta })
        controller.enqueue({ type: 'text-end', id: '1' })
        controller.enqueue({ type: 'finish', finishReason: { unified: 'stop', raw: 'stop' }, usage: { inputTokens: {}, outputTokens: {} } })
        controller.close()
      },
    }),
  }),
})
const textIn = (message: { content: { type: string; text?: string }[] } | undefined): string =>
  (message?.content ?? []).map((block) => (block.type === 'text' ? block.text : '')).join('')

test.each([
  ['a line twice', ['1 2 3 4 5 6 7 8 9 ', '1 2 3 4 5 6 7 8 9 ']],
  ['a long line twice', Array<string>(2).fill('the quick brown fox jumps over the lazy dog\n')],
  ['all so far as its last piece', ['order-', '4711-', 'order-4711-']],
  ['more and more of the same', ['haha', 'haha', 'hahahaha']],
  ['its beginning, and more', ['Hello ', 'wor', 'Hello world.']],
  ['what it has said, before it goes on', ['Hello ', 'world.', 'Hello world.', ' Again.']],
])('[CH-33] a model that says %s has said it, and text never shrinks', async (_, pieces) => {
  const whole = pieces.join('')
  const { gateway } = await aGateway({}, app(streaming(...pieces)))
  const { request, event, events } = await aSocket(gateway.url)
  await request('chat.send', { sessionKey: 'main', message: 'hi', idempotencyKey: 'k1' })
  const { payload } = await event('chat', ({ state }) => state === 'final')

  expect(textIn(payload.message as never)).toBe(whole)
  const texts = events('chat').map(({ message }) => textIn(message as never))
  for (const [place, text] of texts.entries()) expect(text.startsWith(texts[place - 1] ?? '')).toBe(true)
  const { messages } = (await request('chat.history', { sessionKey: 'main' })).payload
  expect(messages.at(-1).text).toBe(whole)
})

test('[CH-34] the events of a run count from one on, and a client that misses the fifth is told so: expected 5, received 6', async () => {
  const clock = virtualClock()
  const { gateway } = await aGateway(
    { clock },
    app(() => ({ text: 'one two three four five six seven eight', deltaDelayMs: 200 }), { environment: { clock } }),
  )
  /** Loses one event on its way. */
  class Lossy extends WebSocket {
    override emit(name: string | symbol, ...args: any[]): boolean {
      const frame = name === 'message' ? JSON.parse(args[0].toString()) : undefined
      return frame?.event === 'chat' && frame.payload.seq === 5 ? true : super.emit(name, ...args)
    }
  }
  const client = socketClient({ url: gateway.url.replace('http', 'ws').concat('/ws'), token, client: { name: 'test' }, WebSocket: Lossy })
  onTestFinished(() => client.close())
  await client.ready()
  const seqs: number[] = []
  const gaps: unknown[] = []
  const ended = Promise.withResolvers<void>()
  client.on('chat', ({ seq, state }) => {
    seqs.push(seq)
    if (state === 'final') ended.resolve()
  })
  client.on('gap', (gap) => gaps.push(gap))
  await client.call('chat.send', { sessionKey: 'main', message: 'hi', idempotencyKey: 'k1' })
  await clock.until(ended.promise)

  expect(gaps).toEqual([{ sessionKey: 'main', runId: 'k1', expected: 5, received: 6 }])
  expect(seqs).toEqual(Array.from({ length: seqs.length + 1 }, (_, index) => index + 1).filter((seq) => seq !== 5))
})

test('[CH-67] reasoning is a block of its own, within 200 ms of its first word, and stays in the final and in the history', async () => {
  const clock = virtualClock()
  const model = () => ({ reasoning: 'let me see now', deltaDelayMs: 1_000, text: 'yes' })
  const { gateway } = await aGateway({ clock }, app(model, { environment: { clock } }))
  const { request, event } = await aSocket(gateway.url)
  await request('chat.send', { sessionKey: 'main', message: 'hi', idempotencyKey: 'k1' })
  const begun = clock.now()
  const first = await event('chat', ({ message }) => message !== undefined)

  expect(first.payload.message?.content).toMatchObject([{ type: 'thinking' }])
  expect(first.payload.message?.timestamp).toBeLessThanOrEqual(begun + 200)
  const final = await clock.until(event('chat', ({ state }) => state === 'final'))
  expect(final.payload.message?.content).toMatchObject([
    { type: 'thinking', thinking: 'let me see now' },
    { type: 'text', text: 'yes' },
  ])
  const { messages } = (await request('chat.history', { sessionKey: 'main' })).payload
  expect(messages.at(-1)).toMatchObject({ reasoning: 'let me see now', text: 'yes' })
})

test('[CH-94] an answer without anything in it is asked for once more, and then an error of the kind unknown', async () => {
  const asked: (string | undefined)[] = []
  const model = (request: ModelRequest) => {
    asked.push(request.settings.reasoning)
    return { text: '' }
  }
  const { gateway } = await aGateway({}, app(model, { agents: [agent({ name: 'main', model: 'test/model', thinking: 'adaptive' })] }))
  const { request, event, events } = await aSocket(gateway.url)
  await request('chat.send', { sessionKey: 'main', message: 'hi', idempotencyKey: 'k1' })
  const { payload } = await event('chat', ({ state }) => state !== 'delta')

  expect(payload).toMatchObject({ state: 'error', errorKind: 'unknown', error: { code: 'provider_malformed' } })
  expect(asked).toEqual([undefined, 'none'])
  expect(events('chat').filter(({ state }) => state === 'final')).toEqual([])
})

test('[CH-13] how hard to think is said for one message, and not for a command', async () => {
  const asked: (string | undefined)[] = []
  const model: Custom = {
    info: { reasoning: true },
    call: async ({ settings }) => {
      asked.push(settings.reasoning)
      return { text: 'yes', reasoning: '', calls: [], usage: noUsage, finish: 'stop', model: 'test/model', partial: false }
    },
  } satisfies Pick<Model, 'call' | 'info'> as never
  const { gateway } = await aGateway({}, app(model))
  const { request, event } = await aSocket(gateway.url)
  const say = async (message: string, more: object = {}) => {
    await request('chat.send', { sessionKey: 'main', message, idempotencyKey: message, ...more })
    await event('chat', ({ runId, state }) => runId === message && state !== 'delta')
  }
  await request('sessions.list')
  await say('/think medium')
  await say('first', { thinking: 'high' })
  await say('second')
  await say('/think: low then third', { thinking: 'high' })
  await say('fourth')

  expect(asked).toEqual(['high', 'medium', 'low', 'medium'])
  expect((await request('sessions.get', { sessionKey: 'main' })).payload.record.toggles).toEqual({ thinking: 'medium' })
})

const noUsage = { inputTokens: 0, outputTokens: 0, cachedInputTokens: 0, reasoningTokens: 0, cacheWriteTokens: 0 }
