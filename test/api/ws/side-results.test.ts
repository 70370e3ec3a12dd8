/** What is said beside a conversation: answers to side questions, and what a tool comes upon. */
import { expect, test } from 'vitest'
import { z } from 'zod'
import type { Message } from '../../../src/contracts/message.ts'
import { agent, tool } from '../../../src/index.ts'
import { aGateway } from '../http/harness.ts'
import { aSocket } from './a-socket.ts'

const lastText = (messages: readonly Message[]): string => {
  const last = messages.at(-1)
  return last?.role === 'user' ? last.text : ''
}
const isAside = (messages: readonly Message[]): boolean => lastText(messages).includes('The side question:\n')

/** A model that keeps what it was asked; the tool `wait` holds its turn until it is let go. */
const listening = () => {
  const asked: { messages: Message[]; tools: number; maxOutputTokens: number | undefined }[] = []
  const held = Promise.withResolvers<string>()
  const aside = { waits: false }
  const wait = tool({ name: 'wait', description: 'waits', input: z.object({}), execute: () => held.promise })
  const look = tool({
    name: 'look',
    description: 'looks',
    input: z.object({}),
    execute: (_, context) => {
      context.sideResult?.({ question: 'Is the disk healthy?', text: 'One sector is failing.' })
      context.sideResult?.({ text: 'The fan is loud.' })
      return 'looked'
    },
  })
  const chatty = tool({
    name: 'chatty',
    description: 'tells too much',
    input: z.object({ chars: z.number(), times: z.number() }),
    execute: ({ chars, times }, context) => {
      for (let count = 0; count < times; count++) context.sideResult?.({ text: 'x'.repeat(chars) })
      return 'told'
    },
  })
  const app: Parameters<typeof aGateway>[1] = {
    agents: [agent({ name: 'main', model: 'test/ear', tools: [wait, look, chatty], timeStamp: false })],
    models: {
      'test/ear': ({ messages, tools, settings }: any) => {
        asked.push({ messages, tools: tools?.length ?? 0, maxOutputTokens: settings?.maxOutputTokens })
        if (isAside(messages)) {
          if (lastText(messages).endsWith('fail')) throw new Error('no such answer')
          if (aside.waits) return { text: '', hang: true }
          return { text: 'It was 42.', usage: { inputTokens: 10, outputTokens: 5 } }
        }
        const last = messages.at(-1)
        if (last?.role === 'tool') return { text: `then ${last.output}` }
        if (lastText(messages) === 'go') return { text: 'I wait.', calls: [{ name: 'wait' }] }
        if (lastText(messages) === 'look') return { calls: [{ name: 'look' }] }
        if (lastText(messages).startsWith('chatty')) return { calls: [{ name: 'chatty', input: JSON.parse(lastText(messages).slice(7)) }] }
        return { text: `heard ${lastText(messages)}` }
      },
    },
  }
  return { app, asked, aside, goOn: () => held.resolve('done') }
}

type Socket = Awaited<ReturnType<typeof aSocket>>
const send = ({ request }: Socket, message: string, idempotencyKey: string) => request('chat.send', { sessionKey: 'main', message, idempotencyKey })
const say = async (socket: Socket, message: string, id: string) => {
  await send(socket, message, id)
  await socket.event('chat', ({ runId, state }) => runId === id && state === 'final')
}
const history = async ({ request }: Socket) => (await request('chat.history', { sessionKey: 'main', details: true })).payload

test('[CH-81] a side question in mid-run is answered before the final; the answer is as without it, and neither stands in the history', async () => {
  const { app, asked, goOn } = listening()
  const { gateway } = await aGateway({}, app)
  const [one, other] = [await aSocket(gateway.url), await aSocket(gateway.url)]
  await say(one, 'hello', 'k1')
  await other.request('chat.subscribe', { sessionKey: 'main' })
  await send(one, 'go', 'k2')
  await one.event('session.tool', ({ toolName, state }) => toolName === 'wait' && state === 'running')

  const taken = await send(one, '/btw what did I say first?', 'b1')
  const results = []
  for (const { event } of [one, other]) results.push((await event('chat.side_result')).payload)
  const runsOn = one.events('chat').filter(({ runId, state }) => runId === 'k2' && state !== 'delta')
  goOn()
  const final = await one.event('chat', ({ runId, state }) => runId === 'k2' && state === 'final')

  expect(taken).toMatchObject({ ok: true, payload: { runId: 'b1', status: 'side' } })
  for (const payload of results)
    expect(payload).toEqual({
      kind: 'btw',
      runId: 'b1',
      sessionKey: 'main',
      seq: 1,
      question: 'what did I say first?',
      text: 'It was 42.',
      isError: false,
      ts: expect.any(Number),
    })
  expect(runsOn).toEqual([])
  expect(final.payload.message?.content.flatMap((block: any) => (block.type === 'text' ? [block.text] : []))).toEqual(['I wait.', 'then done'])
  const { messages, waiting, runs } = await history(one)
  expect(messages.map(({ id, text }: any) => text ?? id)).toEqual(['hello', 'heard hello', 'go', 'I wait.', undefined, 'then done'])
  expect(waiting).toEqual([])
  expect(runs.map(({ runId }: any) => runId)).toEqual(['k1', 'k2'])
  // Nobody is told of it as a message or a run.
  expect(one.events('session.message').map(({ id }) => id)).toEqual(['k1', 'k2'])
  expect(one.events('chat').filter(({ runId }) => runId === 'b1')).toEqual([])
  // It was asked with no tools, on what had been said by then, with a bound; and the turn never read it.
  const [aside] = asked.filter(({ messages }) => isAside(messages))
  expect(aside).toMatchObject({ tools: 0, maxOutputTokens: 2_000 })
  expect(lastText(aside?.messages ?? [])).toMatch(/User: hello[\s\S]*Assistant: heard hello[\s\S]*User: go[\s\S]*what did I say first\?$/)
  const others = asked.filter(({ messages }) => !isAside(messages))
  expect(JSON.stringify(others)).not.toMatch(/btw|first\?|It was 42/)
})

test('[CH-81] where no run goes on it is answered too; what it used counts; a repeat gets its outcome and asks nobody', async () => {
  const { app, asked } = listening()
  const { gateway } = await aGateway({}, app)
  const socket = await aSocket(gateway.url)
  await say(socket, 'hello', 'k1')
  const { spent: before } = (await socket.request('sessions.get', { sessionKey: 'main' })).payload.record

  await send(socket, '/btw: how much?', 'b1')
  await socket.event('chat.side_result', ({ runId }) => runId === 'b1')
  expect(await socket.request('agent.wait', { sessionKey: 'main', runId: 'b1' })).toMatchObject({
    payload: { status: 'completed', side: true, text: 'It was 42.' },
  })
  expect(await send(socket, '/btw: how much?', 'b1')).toMatchObject({ payload: { duplicate: true, status: 'side', outcome: { text: 'It was 42.' } } })
  await say(socket, 'bye', 'k2')

  const { record, messages } = (await socket.request('sessions.get', { sessionKey: 'main' })).payload
  expect(messages).toBe(4)
  expect(record.spent.turns).toBe(2)
  expect(record.spent.usage.inputTokens).toBeGreaterThan(before.usage.inputTokens + 9)
  expect(asked.filter(({ messages: read }) => isAside(read))).toHaveLength(1)
  expect(asked.at(-1)?.messages.map((message) => (message.role === 'tool' ? '' : message.text))).toEqual(['hello', 'heard hello', 'bye'])
})

test('[CH-81] over HTTP, without a channel, it is the same; an empty one says how it is used', async () => {
  const { app } = listening()
  const { gateway, rpc } = (await aGateway({}, app)) as any
  const socket = await aSocket(gateway.url)
  await say(socket, 'hello', 'k1')
  const post = (message: string, idempotencyKey: string) => rpc('chat.send', { sessionKey: 'main', message, idempotencyKey })

  expect((await post('/btw why?', 'b1')).json).toMatchObject({ runId: 'b1', status: 'side' })
  expect((await socket.event('chat.side_result')).payload).toMatchObject({ runId: 'b1', question: 'why?', text: 'It was 42.' })
  expect((await post('/btw', 'b2')).json).toMatchObject({ error: { code: 'bad_request', hint: expect.stringContaining('/btw what') } })
  expect((await post('/btwo is a robot', 'k2')).json).toMatchObject({ status: 'started' })
  expect((await post(`/btw ${'x'.repeat(8_001)}`, 'b3')).json).toMatchObject({ error: { code: 'too_large' } })
  expect((await history(socket)).messages.map(({ text }: any) => text).slice(0, 3)).toEqual(['hello', 'heard hello', '/btwo is a robot'])
})

test('[CH-81] one that cannot be answered is an error that people can read, and /help and /btw say how to ask', async () => {
  const { gateway } = await aGateway({}, listening().app)
  const socket = await aSocket(gateway.url)
  await send(socket, '/btw please fail', 'b1')
  expect((await socket.event('chat.side_result')).payload).toMatchObject({
    runId: 'b1',
    isError: true,
    text: expect.stringMatching(/^It was not answered: |^The model /),
  })

  await send(socket, '/btw', 'b2')
  expect((await socket.event('chat', ({ runId, state }) => runId === 'b2' && state === 'final')).payload.message?.content).toMatchObject([
    { type: 'text', text: expect.stringContaining('/btw what') },
  ])
  await send(socket, '/help', 'h1')
  expect((await socket.event('chat', ({ runId, state }) => runId === 'h1' && state === 'final')).payload.message?.content).toMatchObject([
    { text: expect.stringContaining('/btw QUESTION') },
  ])
  // What the commands themselves have answered, and no question.
  expect((await history(socket)).messages.map(({ id }: { id: string }) => id)).toEqual(['b2:reply', 'h1:reply'])
})

test('[CH-81] three at once are answered, a fourth is refused; stopping all or one of them, and a reset, end them and say so', async () => {
  const { app, aside } = listening()
  const { gateway } = await aGateway({}, app)
  const socket = await aSocket(gateway.url)
  aside.waits = true
  await say(socket, 'hello', 'k1')
  for (const id of ['b1', 'b2', 'b3']) await send(socket, '/btw what?', id)
  // They are no messages that wait.
  expect(await history(socket)).toMatchObject({ messages: [{ text: 'hello' }, { text: 'heard hello' }], waiting: [] })
  expect((await socket.request('sessions.get', { sessionKey: 'main' })).payload).toMatchObject({ queued: [], asides: ['b1', 'b2', 'b3'] })

  expect(await send(socket, '/btw what?', 'b4')).toMatchObject({ ok: false, error: { code: 'overloaded', hint: expect.any(String) } })
  expect(await socket.request('chat.abort', { sessionKey: 'main', runId: 'b2' })).toMatchObject({ payload: { aborted: true, runIds: ['b2'] } })
  expect((await socket.event('chat.side_result')).payload).toMatchObject({ runId: 'b2', isError: true, text: expect.stringContaining('stopped') })
  expect(await send(socket, '/btw what?', 'b4')).toMatchObject({ payload: { status: 'side' } })
  expect(await socket.request('chat.abort', { sessionKey: 'main' })).toMatchObject({ payload: { aborted: true, runIds: ['b1', 'b3', 'b4'] } })
  await socket.event('chat.side_result', ({ runId }) => runId === 'b4')

  await send(socket, '/btw what?', 'b5')
  expect(await send(socket, '/stop', 's1')).toMatchObject({ payload: { aborted: true, runIds: ['b5'] } })
  await send(socket, '/btw what?', 'b6')
  await socket.request('sessions.reset', { sessionKey: 'main' })
  await socket.event('chat.side_result', ({ runId }) => runId === 'b6')
  expect(socket.events('chat.side_result').map(({ runId, isError }) => [runId, isError])).toEqual(
    ['b2', 'b1', 'b3', 'b4', 'b5', 'b6'].map((id) => [id, true]),
  )
  expect(await socket.request('chat.abort', { sessionKey: 'main' })).toMatchObject({ payload: { aborted: false } })
})

test('[CH-81] a tool tells what it comes upon, apart from its answer; no model and no history ever has it', async () => {
  const { app, asked } = listening()
  const { gateway } = await aGateway({}, app)
  const socket = await aSocket(gateway.url)
  await say(socket, 'look', 'k1')

  expect(socket.events('chat.side_result')).toMatchObject([
    { kind: 'btw', runId: 'k1', seq: 1, question: 'Is the disk healthy?', text: 'One sector is failing.', isError: false },
    { kind: 'btw', runId: 'k1', seq: 2, text: 'The fan is loud.' },
  ])
  await say(socket, 'and?', 'k2')
  expect(JSON.stringify([asked, await history(socket)])).not.toMatch(/sector|fan/)
  expect(JSON.stringify((await socket.request('trace.read', { id: 'main' })).payload)).not.toMatch(/sector|fan/)
})

test.each([
  { what: 'too long', input: { chars: 8_001, times: 1 }, told: 0 },
  { what: 'too many', input: { chars: 10, times: 21 }, told: 20 },
  { what: 'empty', input: { chars: 0, times: 1 }, told: 0 },
])('[CH-81] a tool that tells $what is told so', async ({ input, told }) => {
  const { app, asked } = listening()
  const { gateway } = await aGateway({}, app)
  const socket = await aSocket(gateway.url)
  await say(socket, `chatty ${JSON.stringify(input)}`, 'k1')
  expect(socket.events('chat.side_result')).toHaveLength(told)
  expect(asked.at(-1)?.messages.at(-1)).toMatchObject({ role: 'tool', isError: true })
})
