/** A runtime of other extensions than chat, or of none, over the socket. */
import { expect, test } from 'vitest'
import { agent } from '../../../src/index.ts'
import { aGateway } from '../http/harness.ts'
import { aSocket } from './a-socket.ts'

test('[CH-11] without chat a session is talked to over the socket all the same, and its answer is read there', async () => {
  const { gateway } = await aGateway(
    {},
    {
      extensions: [{ name: 'audit' }],
      agents: [agent({ name: 'main', model: 'test/echo' })],
      models: { 'test/echo': ({ messages }) => ({ text: `echo ${(messages.at(-1) as { text: string }).text}` }) },
    },
  )
  const { request, event } = await aSocket(gateway.url)

  const sent = await request('chat.send', { sessionKey: 'main', message: '/status', idempotencyKey: 'k' })

  expect(sent).toMatchObject({ ok: true, payload: { runId: 'k', status: 'started' } })
  // Orders are for chat: without it all text is for the model.
  expect((await event('chat', ({ state }) => state === 'final')).payload).toMatchObject({ message: { content: [{ text: 'echo /status' }] } })
})

test('[CH-11] without chat a message of a channel has nowhere to be answered: it is refused, and the error says what to add', async () => {
  const { gateway } = await aGateway({}, { extensions: [] })
  const { request } = await aSocket(gateway.url)

  const sent = await request('chat.send', { sessionKey: 'main', message: 'hi', idempotencyKey: 'k', origin: { channel: 'phone', to: 'ann' } })

  expect(sent).toMatchObject({ ok: false, error: { code: 'unsupported', field: 'origin', hint: expect.stringContaining('add chat(') } })
})
