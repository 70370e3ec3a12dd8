import { APICallError, JSONParseError, LoadAPIKeyError, TypeValidationError } from '@ai-sdk/provider'
import { describe, expect, test } from 'vitest'
import { RuntimeError } from '../../src/contracts/errors.ts'
import { redact } from '../../src/contracts/redact.ts'
import { classify } from '../../src/models/classify.ts'

const now = Date.UTC(2026, 0, 31)
const http = (statusCode: number, responseBody = '', responseHeaders: Record<string, string> = {}) =>
  new APICallError({
    message: `HTTP ${statusCode}`,
    url: 'https://x.example/v1',
    requestBodyValues: { secret: 'prompt' },
    statusCode,
    responseBody,
    responseHeaders,
  })
const system = (code: string, message = code) => Object.assign(new Error(message), { code })
const fetchFailed = (cause: Error) =>
  new APICallError({
    message: 'Cannot connect to API',
    url: 'https://x.example',
    requestBodyValues: {},
    cause: new TypeError('fetch failed', { cause }),
  })

test.each<[string, unknown, string]>([
  ['401', http(401), 'provider_auth'],
  ['403', http(403), 'provider_auth'],
  ['a key that is not set', new LoadAPIKeyError({ message: 'missing' }), 'provider_auth'],
  ['402', http(402), 'provider_billing'],
  ['429 for want of money', http(429, '{"error":{"code":"insufficient_quota","message":"check your plan"}}'), 'provider_billing'],
  ['429', http(429), 'provider_rate_limit'],
  ['529', http(529), 'provider_rate_limit'],
  ['an overload in mid-stream', { type: 'overloaded_error', message: 'Overloaded' }, 'provider_rate_limit'],
  ['a numeric code in mid-stream', { code: 429, message: 'slow down' }, 'provider_rate_limit'],
  ['408', http(408), 'provider_timeout'],
  ['504', http(504), 'provider_timeout'],
  ['ETIMEDOUT', fetchFailed(system('ETIMEDOUT')), 'provider_timeout'],
  ['a timeout of undici', fetchFailed(system('UND_ERR_HEADERS_TIMEOUT')), 'provider_timeout'],
  ['a timeout signal', new DOMException('The operation was aborted due to timeout', 'TimeoutError'), 'provider_timeout'],
  ['413', http(413), 'provider_overflow'],
  ['too long at OpenAI', http(400, '{"error":{"code":"context_length_exceeded"}}'), 'provider_overflow'],
  ['too long at Anthropic', http(400, '{"error":{"message":"prompt is too long: 9 > 8"}}'), 'provider_overflow'],
  ['too long at others', http(400, '{"error":{"message":"This model\'s maximum context length is 8 tokens"}}'), 'provider_overflow'],
  ['broken JSON', new JSONParseError({ text: '{"a', cause: new SyntaxError('Unexpected end') }), 'provider_malformed'],
  ['an unexpected shape', new TypeValidationError({ value: {}, cause: new Error('no choices') }), 'provider_malformed'],
  [
    'a success that cannot be read',
    new APICallError({
      message: 'Invalid JSON response',
      url: '',
      requestBodyValues: {},
      statusCode: 200,
      cause: new JSONParseError({ text: 'x', cause: 1 }),
    }),
    'provider_malformed',
  ],
  ['500', http(500), 'provider_unavailable'],
  ['503 that talks about the context window', http(503, 'context window service down'), 'provider_unavailable'],
  ['ECONNREFUSED', fetchFailed(system('ECONNREFUSED')), 'provider_unavailable'],
  ['ECONNRESET', system('ECONNRESET'), 'provider_unavailable'],
  ['a socket closed in mid-stream', new TypeError('terminated', { cause: system('UND_ERR_SOCKET', 'other side closed') }), 'provider_unavailable'],
  ['a name that does not resolve', fetchFailed(system('ENOTFOUND')), 'provider_unavailable'],
  ['404 of a model', http(404, '{"error":{"type":"not_found_error","message":"model: claude-nine"}}'), 'provider_unknown_model'],
  ['400', http(400), 'provider_rejected'],
  ['404', http(404), 'provider_rejected'],
  ['422', http(422), 'provider_rejected'],
  ['text', 'boom', 'provider_unavailable'],
  ['nothing', undefined, 'provider_unavailable'],
  ['null', null, 'provider_unavailable'],
])('%s', (_, thrown, code) => {
  const error = classify(thrown, { now })

  expect(error).toMatchObject({ code, retryable: /rate_limit|timeout|unavailable|malformed/.test(code) })
  expect(error.message.length).toBeLessThan(400)
})

test('one of our own errors stays as it is', () => {
  const error = new RuntimeError('provider_overflow', 'mine')

  expect(classify(error, { now })).toBe(error)
})

test('a message of megabytes is classified by its beginning, however it repeats itself', () => {
  const long = 'model '.repeat(200_000)

  expect(classify(Object.assign(new Error(long), { statusCode: 400 }), { now: 0 }).code).toBe('provider_rejected')
  expect(classify(Object.assign(new Error(`${long}not found`), { statusCode: 400 }), { now: 0 }).code).toBe('provider_rejected')
  expect(classify(Object.assign(new Error('the model x is not found'), { statusCode: 400 }), { now: 0 }).code).toBe('provider_unknown_model')
})

test('a circle of causes ends', () => {
  const error: Error & { cause?: unknown } = new Error('round')
  error.cause = error

  expect(classify(error, { now }).code).toBe('provider_unavailable')
})

test.each([
  [{ 'retry-after': '7' }, 7000],
  [{ 'Retry-After': '1.5' }, 1500],
  [{ 'retry-after-ms': '120', 'retry-after': '7' }, 120],
  [{ 'retry-after': new Date(now + 5000).toUTCString() }, 5000],
  [{ 'retry-after': new Date(now - 5000).toUTCString() }, 0],
  [{ 'retry-after': '999999999' }, 3_600_000],
  [{ 'retry-after': 'soon' }, undefined],
  [{ 'retry-after': '-3' }, undefined],
  [{}, undefined],
])('%j asks to wait %s ms', (headers: Record<string, string>, expected) => {
  const { data } = classify(http(429, '', headers), { now })

  // Date.parse reads "-3" as a year long gone: no wait, rather than none named.
  expect(data?.retryAfterMs || undefined).toBe(expected || undefined)
})

describe('secrets', () => {
  const key = 'my-own-secret-value'

  test('are taken out of the message and the body, in the spellings providers use', () => {
    const body = `{"error":{"message":"bad key ${key}, sk-ant-api03-abcdefghijk, Authorization: Bearer abc.def.ghi-jkl"}}`

    const error = classify(http(401, body), { now, secrets: [key] })

    const shown = JSON.stringify([error, error.message, String(error.stack)])
    for (const secret of [key, 'abcdefghijk', 'abc.def.ghi-jkl']) expect(shown).not.toContain(secret)
    expect(error.cause).toBeUndefined()
  })

  test('do not come out of a body that is cut', () => {
    const error = classify(http(400, `${'x'.repeat(19_990)}${key} and more`), { now, secrets: [key] })

    expect(JSON.stringify(error)).not.toContain('my-own')
    expect(String(error.data?.body).length).toBeLessThanOrEqual(2000)
  })

  test.each([
    ['x-api-key: abcdef123456', 'x-api-key: [redacted]'],
    ['{"api_key":"abcdef"}', '{"api_key":"[redacted]"}'],
    ['Basic dXNlcjpwYXNzd29yZA==', 'Basic [redacted]'],
    ['https://user:pass@host/v1?key=abc&x=1', 'https://[redacted]@host/v1?key=[redacted]&x=1'],
    ['gsk_abcdefghijklmnop failed', '[redacted] failed'],
    ['ask-me-anything about risk-taking', 'ask-me-anything about risk-taking'],
  ])('%s', (text, expected) => {
    expect(redact(text)).toBe(expected)
  })
})

test('every code comes with something to do, and a better hint wins', () => {
  const statuses = [400, 401, 402, 404, 408, 413, 429, 500]

  for (const status of statuses) expect(classify(http(status), { now }).hint).toMatch(/\S/)
  expect(classify(http(404), { now, hints: (code, status) => `${code} ${status}` }).hint).toBe('provider_rejected 404')
})
