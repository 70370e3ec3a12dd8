/**
 * A sentence that speaks of a path or a command reaches the model whole, by each door that reads directives.
 * Sources: openclaw/openclaw#137197, openclaw/openclaw#98481 (FC-01).
 */
import { describe, expect, test } from 'vitest'
import { agent } from '../../src/index.ts'
import { aGateway } from '../api/http/harness.ts'
import { aSocket } from '../api/ws/a-socket.ts'
import { aFolder, statecast, testApp } from '../cli/run.ts'
import { ann, ask, listener } from '../reply/stage.ts'
import { story } from '../runtime/harness.ts'

const sentences = [
  'Add a route GET /status to the server and document it.',
  'Our API has /help and /model endpoints, describe both.',
  'mv /t off /v on',
  'What does /think do? And /verbose on?',
  'curl -X POST http://localhost:3000/model /queue collect',
  'Which of /status, /help /whoami and /skills should need a login?',
  'Send it:\n```http\nGET /status HTTP/1.1\nHost: x\n```\nWhat comes back?',
  'Run `/think:high` in the terminal, then /reasoning on',
  'the folders /exec and /elevated ask for root',
]

/** A page's socket to an agent. `asked`: the requests to its model. */
const aWebChat = async () => {
  const { asked, script } = listener(() => ({ text: 'yes' }), 0)
  const { gateway } = await aGateway({}, { agents: [agent({ name: 'main', model: 'test/model' })], models: { 'test/model': script } })
  return { asked, ...(await aSocket(gateway.url)) }
}

describe('a sentence is not cut', () => {
  test.each(sentences)('on a channel: %j', async (sentence) => {
    const { asked, script } = listener()
    await using told = await story(script)
    await ask(told, sentence, ann('a'))

    expect(asked.map(({ messages }) => messages.at(-1))).toMatchObject([{ role: 'user', text: sentence }])
  })

  test('in the web chat, whose messages are of its page', async () => {
    const { asked, request, event } = await aWebChat()
    for (const [place, message] of sentences.entries()) {
      await request('chat.send', { sessionKey: 'main', message, idempotencyKey: `k${place}` })
      await event('chat', ({ state, runId }) => state === 'final' && runId === `k${place}`)
    }

    expect(asked.map(({ messages }) => messages.at(-1))).toMatchObject(sentences.map((text) => ({ role: 'user', text })))
    const { messages } = (await request('chat.history', { sessionKey: 'main' })).payload
    expect(messages.flatMap(({ role, text }: { role: string; text: string }) => (role === 'user' ? [text] : []))).toEqual(sentences)
  })

  test('in the terminal', async () => {
    const folder = aFolder()
    const { stdout } = await statecast({ folder, input: `${sentences[0]}\n` }, 'chat', '--app', testApp)

    expect(stdout).toContain(`echo ${sentences[0]}`)
  })
})

test.each([
  ['fix it /think:high now', 'fix it now'],
  ['/think high tell me', 'tell me'],
  ['/verbose on\n\ntell me', 'tell me'],
  ['/new tell me', 'tell me'],
  ['/new /model test/model tell me', 'tell me'],
  ['/status tell me', 'tell me'],
])('[CH-15] of %j the model gets %j; history, event and message keep the words as typed', async (message, told) => {
  const { asked, request, event } = await aWebChat()
  await request('chat.send', { sessionKey: 'main', message, idempotencyKey: 'k1' })
  await event('chat', ({ state, ids }) => state === 'final' && ids?.includes('k1') !== false)
  await event('session.message')

  expect(asked.at(-1)?.messages.at(-1)).toMatchObject({ role: 'user', text: told })
  expect((await event('session.message')).payload).toMatchObject({ id: 'k1', text: message })
  const { messages } = (await request('chat.history', { sessionKey: 'main' })).payload
  const mine = messages.filter(({ role }: { role: string }) => role === 'user')
  expect(mine).toEqual([expect.objectContaining({ id: 'k1', text: message })])
  expect(mine[0]).not.toHaveProperty('typed')
  expect((await request('chat.message', { sessionKey: 'main', messageId: 'k1' })).payload.text).toBe(message)
})
