/** Messages that are put into a conversation without a run. */
import { expect, test } from 'vitest'
import { z } from 'zod'
import type { Message } from '../../../src/contracts/message.ts'
import { agent, tool } from '../../../src/index.ts'
import { aGateway } from '../http/harness.ts'
import { aSocket } from './a-socket.ts'

/** A model that keeps what it was asked, and hangs when it is told to. */
const listening = () => {
  const asked: Message[][] = []
  const look = tool({ name: 'look', description: 'looks', input: z.object({}), execute: () => 'seen' })
  const app: Parameters<typeof aGateway>[1] = {
    agents: [agent({ name: 'main', model: 'test/ear', tools: [look], timeStamp: false })],
    models: {
      'test/ear': ({ messages }) => {
        asked.push(messages)
        const last = messages.at(-1)
        const text = last?.role === 'user' ? last.text : ''
        return text.endsWith('hang') ? { text: 'so far', hang: true } : { text: `heard ${text}` }
      },
    },
  }
  return { app, asked }
}

type Socket = Awaited<ReturnType<typeof aSocket>>
const say = async ({ request, event }: Socket, message: string, id: string) => {
  await request('chat.send', { sessionKey: 'main', message, idempotencyKey: id })
  await event('chat', ({ runId, state }) => runId === id && state === 'final')
}
const hang = async ({ request, event }: Socket) => {
  await request('chat.send', { sessionKey: 'main', message: 'hang', idempotencyKey: 'k1' })
  await event('chat', ({ message }) => message?.content.some((block) => block.type === 'text'))
}
const history = async ({ request }: Socket) => (await request('chat.history', { sessionKey: 'main' })).payload.messages
const news = { sessionKey: 'main', message: 'The backup is complete.', label: 'backup', idempotencyKey: 'b1' }

test('[CH-80] what is put in is a final to all who watch, stands in the history with no usage, and no model is asked', async () => {
  const { app, asked } = listening()
  const { gateway } = await aGateway({}, app)
  const [one, other] = [await aSocket(gateway.url), await aSocket(gateway.url)]
  await say(one, 'hello', 'k1')
  await other.request('chat.subscribe', { sessionKey: 'main' })

  const answer = await one.request('chat.inject', news)
  const heard = []
  for (const { event } of [one, other]) heard.push((await event('chat', ({ runId }) => runId === 'inject-b1')).payload)

  expect(answer).toMatchObject({ ok: true, payload: { runId: 'inject-b1', messageId: 'inject-b1:1', status: 'added' } })
  for (const payload of heard)
    expect(payload).toMatchObject({
      state: 'final',
      injected: true,
      label: 'backup',
      usage: { inputTokens: 0, outputTokens: 0 },
      message: { role: 'assistant', content: [{ type: 'text', id: 'inject-b1:1', text: news.message }] },
    })
  expect((await history(one)).at(-1)).toMatchObject({
    role: 'assistant',
    id: 'inject-b1:1',
    text: news.message,
    injected: true,
    label: 'backup',
    usage: { inputTokens: 0, outputTokens: 0 },
    at: expect.any(Number),
  })
  expect(asked).toHaveLength(1)
  expect((await one.request('sessions.get', { sessionKey: 'main' })).payload).toMatchObject({
    run: null,
    messages: 3,
    record: { spent: { turns: 1 } },
  })
})

test('[CH-80] the model reads it as its own words in the next turn, without the label', async () => {
  const { app, asked } = listening()
  const { gateway } = await aGateway({}, app)
  const socket = await aSocket(gateway.url)
  await say(socket, 'hello', 'k1')
  await socket.request('chat.inject', news)
  await say(socket, 'what is new?', 'k2')

  expect(asked[1]?.map((message) => [message.role, message.role === 'tool' ? '' : message.text])).toEqual([
    ['user', 'hello'],
    ['assistant', 'heard hello'],
    ['assistant', news.message],
    ['user', 'what is new?'],
  ])
})

test('[CH-80] while a turn runs it waits, and joins behind what the turn has said; also where another message waits', async () => {
  const { app, asked } = listening()
  const { gateway } = await aGateway({}, app)
  const socket = await aSocket(gateway.url)
  await hang(socket)
  await socket.request('chat.send', { sessionKey: 'main', message: 'and then?', idempotencyKey: 'k2', queueMode: 'followup' })

  const { payload } = await socket.request('chat.inject', news)
  const during = await history(socket)
  await socket.request('chat.abort', { sessionKey: 'main', runId: 'k1' })
  await socket.event('chat', ({ runId, state }) => runId === 'k2' && state === 'final')

  expect(payload).toMatchObject({ status: 'waiting' })
  expect(during.map(({ id }: { id: string }) => id)).not.toContain('inject-b1:1')
  expect((await history(socket)).map(({ text }: { text: string }) => text)).toEqual([
    'hang',
    'so far',
    news.message,
    'and then?',
    expect.stringContaining('heard'),
  ])
  expect(asked.at(-1)?.map(({ role }) => role)).toEqual(['user', 'assistant', 'assistant', 'user'])
  const ended = socket.events('chat').filter(({ state }) => state !== 'delta')
  expect(ended.map(({ runId }) => runId)).toEqual(['k1', 'inject-b1', 'k2'])
  expect(await socket.request('agent.wait', { sessionKey: 'main', runId: 'k1' })).toMatchObject({ payload: { text: 'so far' } })
})

test('[CH-80] a repeat adds nothing; a session that is not there, a long label and a token that only reads are refused', async () => {
  const { gateway } = await aGateway({}, listening().app)
  const socket = await aSocket(gateway.url)
  const reader = await aSocket(gateway.url, { scopes: ['read'] })
  expect(await socket.request('chat.inject', news)).toMatchObject({ ok: false, error: { code: 'not_found' } })
  expect(await socket.request('sessions.list')).toMatchObject({ payload: { sessions: [] } })
  await say(socket, 'hello', 'k1')

  await socket.request('chat.inject', news)
  expect(await socket.request('chat.inject', news)).toMatchObject({ payload: { runId: 'inject-b1', duplicate: true } })
  expect(await socket.request('chat.inject', { ...news, label: 'x'.repeat(101) })).toMatchObject({ error: { code: 'too_large', field: 'label' } })
  expect(await socket.request('chat.inject', { ...news, message: ' ' })).toMatchObject({ error: { code: 'bad_request', field: 'message' } })
  expect(await reader.request('chat.inject', news)).toMatchObject({ error: { code: 'forbidden' } })
  expect(await history(socket)).toHaveLength(3)
})

test('[CH-80] what is put in at the beginning of a conversation is told with the first words of the user; a reset forgets what waits', async () => {
  const { app, asked } = listening()
  const { gateway } = await aGateway({}, app)
  const socket = await aSocket(gateway.url)
  await hang(socket)
  await socket.request('chat.inject', news)
  await socket.request('sessions.reset', { sessionKey: 'main' })
  await socket.event('session.restart')
  expect(await history(socket)).toEqual([])

  await socket.request('chat.inject', { ...news, message: 'Good morning.', idempotencyKey: 'b2' })
  await say(socket, 'hello', 'k2')

  expect(asked.at(-1)).toMatchObject([{ role: 'user', text: expect.stringMatching(/Good morning\.\s+hello$/) }])
  expect((await history(socket)).map(({ id }: { id: string }) => id)).toEqual(['inject-b2:1', 'k2', 'k2:1'])
})

test('[CH-80] the same conversation is read from the journal alone, in a store that knew nothing', async () => {
  const { app } = listening()
  const [{ gateway: from }, { gateway: to }] = [await aGateway({}, app), await aGateway({}, app)]
  const [here, there] = [await aSocket(from.url), await aSocket(to.url)]
  await hang(here)
  await here.request('chat.inject', news)
  await here.request('chat.abort', { sessionKey: 'main' })
  await here.event('chat', ({ runId }) => runId === 'inject-b1')
  await say(here, 'hello', 'k2')

  const { frames } = (await here.request('trace.frames', { id: 'main' })).payload
  await there.request('trace.import', { id: 'main', frames: frames.map(({ seq, bytes }: any) => ({ seq, bytes })), wakeAt: null })

  expect(await history(there)).toEqual(await history(here))
  expect((await history(there)).map(({ id }: { id: string }) => id)).toEqual(['k1', 'k1:1', 'inject-b1:1', 'k2', 'k2:1'])
  expect(await there.request('trace.replay', { id: 'main' })).toMatchObject({ ok: true })
})
