/** How turns end as users see it: time that is up, and failures in plain words. */
import { expect, test } from 'vitest'
import { story, work, worker } from '../runtime/harness.ts'
import { ann, askToEnd, eventsOf, listener, payloads, texts, tools } from './stage.ts'

test.each([undefined, 0, -5])('[OC-54] with a time of %s it is 600 seconds', async (timeoutMs) => {
  const patient = worker({ timeoutMs: 3_600_000 })
  await using told = await story([{ calls: [work('x', 3_600_000)] }, { text: 'never' }], { tools: (world) => [patient(world)] })
  const began = told.clock.now()
  await told.say('go', { ...ann('a'), timeoutMs })
  await told.clock.until(() => eventsOf(told, 'error').length > 0)

  expect(told.clock.now() - began).toBe(600_000)
})

test('[OC-54] what an agent is given as its time holds for whoever names none', async () => {
  await using told = await story([{ hang: true }], { runTimeoutMs: 5000 })
  const began = told.clock.now()
  await told.say('go', ann('a'))
  await told.clock.until(() => eventsOf(told, 'error').length > 0)

  expect(told.clock.now() - began).toBe(5000)
})

test('[OC-54] what was said before the time was up is kept', async () => {
  await using told = await story([{ text: 'so far', hang: true }])

  const { partial } = await askToEnd(told, 'go', { ...ann('a'), timeoutMs: 1000 })

  expect(partial).toBe(true)
  expect(await told.transcript()).toEqual(['user: go', 'assistant (partial): so far'])
})

const bodies: [string, object, RegExp][] = [
  ['a JSON body', { status: 400, message: '{"error":{"type":"invalid_request_error","message":"bad"}}' }, /^The model refused this request\.$/],
  [
    'overload',
    { status: 529, message: '{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}' },
    /^The model is overloaded at the moment\./,
  ],
  ['a rate limit', { status: 429, message: '{"error":"slow down"}', retryAfterMs: 3_600_000 }, /^The model is asked too often at the moment\./],
  ['a timeout', { code: 'provider_timeout', message: '{"timeout":true}' }, /^The model did not answer in time\. Please try again\.$/],
  [
    'an order of roles',
    { status: 400, message: 'messages: roles must alternate between "user" and "assistant"' },
    /^The model did not accept the order of the messages\./,
  ],
  [
    'a picture',
    { status: 400, message: '{"message":"image exceeds 5 MB maximum"}' },
    /^The image is too large for the model\. Please send a smaller one\.$/,
  ],
  ['a key', { status: 401, message: '{"error":"invalid x-api-key sk-secret"}' }, /^The model provider refused our key\./],
  [
    'a socket',
    { code: 'provider_unavailable', message: 'read ECONNRESET {"socket":1}' },
    /^The connection to the model broke off\. Its server may be down, or the conversation too long for it\.$/,
  ],
]

test.each(bodies)('[OC-55] of %s users read plain words, and the trace keeps what was said', async (_, error, words) => {
  await using told = await story([{ error }], { modelAttemptMax: 1 })

  const ended = await askToEnd(told, 'go', ann('a'))

  expect(payloads(ended)).toEqual([{ text: expect.stringMatching(words), error: true }])
  expect(texts(ended).join()).not.toMatch(/[{}]|sk-secret/)
  const trace = JSON.stringify(await told.trace('main'))
  expect(trace).toContain(JSON.stringify((error as { message: string }).message).slice(1, -1))
})

test('[OC-55] an overflow is told as a conversation that is too long', async () => {
  await using told = await story([{ error: { code: 'provider_overflow', message: '{"error":"context_length_exceeded"}' } }])

  expect(texts(await askToEnd(told, 'go', ann('a'))).join()).toMatch(/^The conversation (is too long|became too long).*A new session has begun/)
})

test('[OC-55] a text of unknown kind has at most 600 characters', async () => {
  const { script } = listener(() => ({ calls: Array.from({ length: 3 }, () => work('x')) }))
  await using told = await story(script, { tools, toolCallMax: 1 })

  const [text = ''] = texts(await askToEnd(told, 'go', ann('a')))

  expect(text.length).toBeGreaterThan(10)
  expect(text.length).toBeLessThanOrEqual(600)
  expect(text).toMatch(/used all its tool calls/i)
})
