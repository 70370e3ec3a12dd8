import { expect, test } from 'vitest'
import { RuntimeError } from '../../src/contracts/errors.ts'
import { redact, redacted, redactedError } from '../../src/contracts/redact.ts'

// Put together here: whoever looks for keys in a repository would find them.
const letters = 'aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3z'
const secrets: [string, string, string?][] = [
  ['of GitHub', `ghp_${letters}`],
  ['of GitHub, for some repositories', `github_pat_${letters}_${letters}`],
  ['of GitLab', `glpat-${letters.slice(0, 20)}`],
  ['of Slack', `xoxb-${'1'.repeat(11)}-${letters.slice(0, 24)}`],
  ['of AWS', `AKIA${'Q3EXAMPLE7KEY5XY'}`],
  ['of npm', `npm_${letters}`],
  ['of Stripe', `sk_live_${letters}`],
  ['of a model', `sk-ant-api03-${letters}`],
  ['of Google', `AIza${letters}`],
  ['of a Telegram bot', `${'1'.repeat(9)}:${letters}Q`],
  ['that is signed', `eyJ${letters}.eyJ${letters}.${letters}`],
  ['that is private', `-----BEGIN RSA PRIVATE KEY-----\n${letters}\n${letters}==\n-----END RSA PRIVATE KEY-----`],
  ['that is private and encrypted', `-----BEGIN PRIVATE KEY-----\nDEK-Info: AES-128-CBC,AB\n\n${letters}\n-----END PRIVATE KEY-----`],
  ['that is private and cut off', `-----BEGIN OPENSSH PRIVATE KEY-----\n${letters}`],
  ['in an address', `hunter2horse`, 'postgres://admin:SECRET@db.local:5432/app'],
  ['with an @ in an address', `hunter2@horse`, 'redis://:SECRET@cache.local'],
  ['in a query', letters, 'https://api.local/v1?token=SECRET&x=1'],
  ['in a variable', letters, 'DB_PASSWORD=SECRET ./run'],
  ['in JSON', letters, '{"clientSecret":"SECRET","id":1}'],
  ['in JSON in a text', letters, '{\\"password\\": \\"SECRET\\"}'],
  ['in a header', letters, 'Authorization: Bearer SECRET'],
  ['in a cookie', letters, 'Set-Cookie: sid=SECRET; HttpOnly'],
  ['of NATS', `SU${'A2B3C4D5'.repeat(7)}`],
  ['of another model', `nvapi-${letters}`],
  ['with a slash in an address', 'hunter2/horse', 'Invalid URL: postgres://admin:SECRET@db.local/app'],
  ['in a header of another name', letters, 'X-Auth-Token: SECRET'],
]

test.each(secrets)('a key %s is not shown, and the words around it are', (_, secret, around = 'it said SECRET') => {
  const text = redact(`before, ${around.replace('SECRET', secret)}\nafter`)

  expect(text).toContain('[redacted]')
  expect(text).not.toContain(letters.slice(0, 12))
  expect(text).not.toContain(secret)
  expect(text).toMatch(/^before, /)
  const isCutOff = secret.startsWith('-----') && secret.endsWith(letters)
  if (!isCutOff) expect(text).toMatch(/\nafter$/)
})

test.each([
  'ask-me-anything about risk-taking',
  'npm-packages-of-mine are skipped, and so is the sketchbook',
  'Unexpected token } in JSON at position 5',
  'used 300 tokens: 200 in, 100 out',
  'the key "name" is missing: see https://docs.local/keys?page=2#tokens',
  'mail me@example.org',
  'https://registry.local:8080/@scope/name and http://[::1]:4111/a@b',
  '-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----',
])('%j is no secret', (text) => {
  expect(redact(text)).toBe(text)
})

test('data is redacted wherever a text stands in it; what has nothing to hide is the same object', () => {
  const plain = { a: [1, { b: 'c' }], at: new Date(0) }
  expect(redacted(plain)).toBe(plain)

  expect(redacted({ answer: { text: 'hi', providerMetadata: { parts: [] } } })).toEqual({ answer: { text: 'hi', providerMetadata: '[redacted]' } })
  expect(redacted({ deep: [{ url: 'amqp://u:p4ssword@host' }], n: 1 })).toEqual({ deep: [{ url: 'amqp://[redacted]@host' }], n: 1 })
})

test('what stands under the name of a secret is redacted, whatever it looks like; counts and other words are not', () => {
  const headers = { authorization: 'Basic YTpi', cookie: 'sid=1', 'x-api-key': 'abc' }
  expect(redacted({ config: { headers, password: 'hunter2', DB_PASSWORD: 'hunter2', token: 'abc' } })).toEqual({
    config: {
      headers: { authorization: '[redacted]', cookie: '[redacted]', 'x-api-key': '[redacted]' },
      password: '[redacted]',
      DB_PASSWORD: '[redacted]',
      token: '[redacted]',
    },
  })
  const harmless = { tokens: 12, token: 3, secretary: 'Ada', field: 'password', password: '', cookies: 'none' }
  expect(redacted(harmless)).toBe(harmless)
})

test('a private key of any length, that nothing ends, is redacted', () => {
  expect(redact(`-----BEGIN PRIVATE KEY-----${'a'.repeat(10_000_000)}`)).toBe('[redacted]')
})

test('an error keeps all but its secrets, and stays itself where it has none', () => {
  const harmless = new RuntimeError('bad_request', 'no', { hint: 'yes', data: { n: 1n } })
  expect(redactedError(harmless)).toBe(harmless)

  const telling = new RuntimeError('tool_failed', `ghp_${letters}`, { hint: `use ghp_${letters}`, retryable: true, data: { at: [`ghp_${letters}`] } })
  expect(redactedError(telling).toJSON()).toEqual({
    code: 'tool_failed',
    message: '[redacted]',
    hint: 'use [redacted]',
    retryable: true,
    data: { at: ['[redacted]'] },
  })
})
