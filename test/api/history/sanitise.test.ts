/** What is for the machine alone stays in the store: one message for each rule, read over a socket. */
import { expect, test } from 'vitest'
import { z } from 'zod'
import { sanitised } from '../../../src/api/history/sanitise.rules.ts'
import { agent, tool } from '../../../src/index.ts'
import { aGateway } from '../http/harness.ts'
import { aSocket } from '../ws/a-socket.ts'

const picture = 'iVBORw0KGgo'.repeat(20)

test('[CH-74] tags, pictures, details, signatures and long parts do not go out, and what is stored stays whole', async () => {
  const output = {
    content: [{ type: 'image', mimeType: 'image/png', data: picture }],
    details: { exitCode: 0 },
    steps: [{ type: 'thinking', thinking: 'hm', signature: 'secret' }],
  }
  const snap = tool({ name: 'snap', description: 'a picture', input: z.object({ note: z.string() }), execute: () => output })
  const { gateway, runtime } = await aGateway(
    {},
    {
      agents: [agent({ name: 'main', model: 'test/snap', tools: [snap] })],
      models: {
        'test/snap': ({ messages }) =>
          messages.some(({ role }) => role === 'tool')
            ? { text: '[[reply_to_current]] there it is' }
            : { reasoning: 'r'.repeat(13_000), text: '', calls: [{ name: 'snap', input: { note: 'n'.repeat(13_000) } }] },
      },
    },
  )
  const { request, event } = await aSocket(gateway.url)
  await request('chat.send', { sessionKey: 'main', message: `look data:image/png;base64,${picture}`, idempotencyKey: 'k1' })
  await event('chat', ({ state }) => state === 'final')

  const { messages } = (await request('chat.history', { sessionKey: 'main' })).payload
  const stored = await runtime.session('main').history()

  expect(messages[0].text).toBe('look [image/png, 165 bytes]')
  expect(messages[1].reasoning).toHaveLength(12_000 + '\n… (cut here)'.length)
  expect(messages[1].calls[0].input).toHaveLength(12_000 + '\n… (cut here)'.length)
  expect(messages[1].cut).toMatchObject({ reasoning: 13_000, [messages[1].calls[0].callId]: 13_011 })
  expect(messages[2].output).toEqual({
    content: [{ type: 'image', mimeType: 'image/png', omitted: true, bytes: 165 }],
    steps: [{ type: 'thinking', thinking: 'hm' }],
  })
  expect(messages[3].text).toBe('there it is')
  expect(stored).toMatchObject([
    { text: `look data:image/png;base64,${picture}` },
    { reasoning: 'r'.repeat(13_000), calls: [{ input: { note: 'n'.repeat(13_000) } }] },
    { output },
    { text: '[[reply_to_current]] there it is' },
  ])
})

const user = (id: string, text: string) => ({ role: 'user' as const, id, text })
const answer = { role: 'assistant' as const, id: 'a', text: 'yes', calls: [] }

test('what is said again because it had failed stands there once; what is said twice stands there twice', () => {
  const messages = [user('1', 'go'), user('2', 'go'), answer, user('3', 'go'), user('4', 'go')]

  expect(sanitised(messages, { failed: new Set(['1']) }).map((message) => 'id' in message && message.id)).toEqual(['2', 'a', '3', '4'])
})

test('only answers have used anything, and only what is a number', () => {
  const usage = { inputTokens: 3, outputTokens: Number.NaN, secret: 4 }
  const [said, answered] = sanitised([{ ...user('1', 'go'), usage } as never, { ...answer, usage, costUsd: Number.POSITIVE_INFINITY } as never])

  expect(said).toEqual(user('1', 'go'))
  expect(answered).toEqual({ ...answer, usage: { inputTokens: 3 } })
})

test('what the model is told ahead of a message its writer has not said', () => {
  expect(sanitised([{ ...user('1', 'go'), before: 'System: [message_id: 7]' }])).toEqual([user('1', 'go')])
})
