/** Who is let in. */
import { chmodSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { checkExposure } from '../../src/gateway/serve.ts'
import { ensureToken } from '../../src/gateway/token.ts'
import { aGateway, token } from './harness.ts'

const folder = mkdtempSync(join(tmpdir(), 'statecast-token-'))
afterAll(() => rmSync(folder, { recursive: true }))

test.each([
  ['none', {}],
  ['a wrong one', { authorization: 'Bearer wrong' }],
  ['one that begins right', { authorization: `Bearer ${token}x` }],
  ['another scheme', { authorization: `Basic ${token}` }],
])('a request with %s for a token is answered 401, with what to send', async (_, headers) => {
  const { call } = await aGateway()

  const reply = await call('POST', '/rpc/health', { headers: { authorization: '', ...headers } })

  expect(reply).toMatchObject({ status: 401, json: { error: { code: 'unauthorised', hint: expect.stringContaining('Bearer') } } })
  expect(reply.headers['www-authenticate']).toBe('Bearer')
})

test('a token in the address opens nothing', async () => {
  const { call } = await aGateway()

  expect((await call('GET', `/events?sessionKey=main&token=${token}`, { headers: { authorization: '' } })).status).toBe(401)
})

test('probes need no token, and tell whether the process is up and whether it can work', async () => {
  const { call } = await aGateway()
  const headers = { authorization: '' }

  expect(await call('GET', '/healthz', { headers })).toMatchObject({ status: 200, json: { status: 'ok' } })
  expect(await call('GET', '/readyz', { headers })).toMatchObject({ status: 200, json: { ready: true, writable: true } })
})

test('a node that cannot write, or drains, is not ready but up', async () => {
  const { call, runtime, gateway } = await aGateway()
  const { transport } = runtime.services
  const health = transport.health.bind(transport)

  transport.health = async () => ({ ...(await health()), writable: false, detail: 'disk full' })
  const full = await call('GET', '/readyz')
  transport.health = health

  expect(full).toMatchObject({ status: 503, json: { ready: false, detail: 'disk full' } })
  expect((await call('GET', '/healthz')).status).toBe(200)
  expect(gateway.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/)
})

test.each(['evil.example', 'localhost.evil.example', '127.0.0.1.evil.example:80', '10.0.0.1'])('the host name %s is not served', async (host) => {
  const { call } = await aGateway()

  expect((await call('GET', '/healthz', { headers: { host } })).status).toBe(403)
})

test.each(['localhost', 'localhost:4111', '127.0.0.1', '[::1]:80'])('the host name %s is', async (host) => {
  const { call } = await aGateway()

  expect((await call('GET', '/healthz', { headers: { host } })).status).toBe(200)
})

test('pages of other sites are refused, those of the same host are not', async () => {
  const { call, gateway } = await aGateway()
  const from = (origin: string) => call('POST', '/rpc/health', { body: '{}', headers: { origin } })

  expect(await from('https://evil.example')).toMatchObject({ status: 403, json: { error: { code: 'forbidden', field: 'Origin' } } })
  expect((await from('null')).status).toBe(403)
  expect((await from(gateway.url)).status).toBe(200)
})

test('the token is made once, readable by its owner only, and narrowed again when it was widened', () => {
  const made = ensureToken(folder)
  chmodSync(join(folder, 'token'), 0o644)

  expect(ensureToken(folder)).toBe(made)
  expect(made).toMatch(/^[\w-]{43}$/)
  expect(statSync(join(folder, 'token')).mode & 0o777).toBe(0o600)
})

test('a token file that holds nothing of use is replaced', () => {
  writeFileSync(join(folder, 'token'), 'short\n')

  const made = ensureToken(folder)

  expect(made).toMatch(/^[\w-]{43}$/)
  expect(readFileSync(join(folder, 'token'), 'utf8')).toBe(`${made}\n`)
})

test('beyond this machine a node listens only with a token that somebody chose', () => {
  expect(() => checkExposure('0.0.0.0', undefined)).toThrow(/other machines/)
  expect(() => checkExposure('0.0.0.0', 'short')).toThrow(/other machines/)
  expect(() => checkExposure('0.0.0.0', 'long enough to be one')).not.toThrow()
  expect(() => checkExposure('127.0.0.1', undefined)).not.toThrow()
})
