/** Who is let in. */

import { randomBytes } from 'node:crypto'
import { chmodSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { hostname, tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { checkExposure } from '../../../src/api/http/serve.ts'
import { checkStrength, ensureToken } from '../../../src/api/http/token.ts'
import type { RuntimeError } from '../../../src/contracts/errors.ts'
import { partsOf } from '../../../src/runtime/index.ts'
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

test('a node that cannot write is not ready but up', async () => {
  const { call, runtime, gateway } = await aGateway()
  const { transport } = partsOf(runtime)
  const health = transport.health.bind(transport)

  transport.health = async () => ({ ...(await health()), writable: false, detail: 'disk full' })
  const full = await call('GET', '/readyz')
  transport.health = health

  expect(full).toMatchObject({ status: 503, json: { ready: false, detail: 'disk full' } })
  expect((await call('GET', '/healthz')).status).toBe(200)
  expect(gateway.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/)
})

test('a node that drains tells new clients, too, that it is not ready, and what became of the work that it has', async () => {
  const { call, rpc, gateway } = await aGateway()
  const { json: run } = await rpc('chat.send', { sessionKey: 'main', message: 'hang' })

  gateway.drain()

  expect(await call('GET', '/readyz')).toMatchObject({ status: 503, json: { ready: false, detail: 'shutting down' } })
  expect(await call('GET', '/healthz')).toMatchObject({ status: 200 })
  expect(await rpc('sessions.get', { sessionKey: 'main' })).toMatchObject({ status: 200, json: { run: { runId: run.runId } } })
  expect(await rpc('chat.send', { sessionKey: 'other', message: 'hi' })).toMatchObject({ status: 503, json: { error: { code: 'closed' } } })
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
  const from = (origin: string) => call('GET', '/healthz', { headers: { origin, authorization: '' } })

  expect(await from('https://evil.example')).toMatchObject({ status: 403, json: { error: { code: 'forbidden', field: 'Origin' } } })
  expect((await from('null')).status).toBe(403)
  expect((await from(gateway.url)).status).toBe(200)
})

test('a token in the Authorization header passes the check of the origin, as a proxy for development sends it', async () => {
  const { call } = await aGateway()
  const from = (headers: Record<string, string>) =>
    call('POST', '/rpc/health', { body: '{}', headers: { origin: 'http://localhost:5173', ...headers } })

  expect((await from({})).status).toBe(200)
  expect(await from({ host: 'rebound.example' })).toMatchObject({ status: 403, json: { error: { field: 'Host' } } })
  expect((await from({ authorization: 'Bearer wrong-token-of-a-guesser' })).status).toBe(401)
  for (const authorization of ['', 'Basic YTpi', 'Bearer'])
    expect(await from({ authorization })).toMatchObject({ status: 403, json: { error: { field: 'Origin' } } })
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
  expect(() => checkExposure('0.0.0.0', ensureToken(folder))).not.toThrow()
  expect(() => checkExposure('127.0.0.1', undefined)).not.toThrow()
})

test.each([
  'changeme',
  'short',
  'changemechangeme',
  'passwordpassword',
  'aaaaaaaaaaaaaaaaaaaa',
  '1234567890123456',
  'abcdefghijklmnopqrst',
  'with spaces in between',
])('a token that could be guessed or not be sent, %s, is refused wherever the node listens, and not repeated', (weak) => {
  for (const host of ['127.0.0.1', '0.0.0.0']) {
    const refusal = caught(() => checkExposure(host, weak))
    expect(refusal).toMatchObject({ code: 'bad_request', field: 'STATECAST_TOKEN', hint: expect.stringContaining('openssl rand -hex 32') })
    expect(refusal?.message).not.toContain(weak)
  }
})

test('a random one is taken, however it is written', () => {
  for (let n = 0; n < 200; n++)
    for (const encoding of ['hex', 'base64url'] as const) expect(caught(() => checkStrength(randomBytes(16).toString(encoding)))).toBeUndefined()
})

const caught = (work: () => unknown): RuntimeError | undefined => {
  try {
    work()
    return undefined
  } catch (error) {
    return error as RuntimeError
  }
}

test.each([
  ['the name goes on behind the port', (url: string) => `${url}.evil.example`],
  ['the name stands in the path', (url: string) => `http://evil.example/${url}`],
  ['the name stands where a user would', (url: string) => `${url}@evil.example`],
  ['the name stands in front of a port of another', (url: string) => `${url.replace(/:\d+$/, '')}.evil.example:80`],
  ['another port of this machine', (url: string) => url.replace(/\d+$/, '1')],
  ['no port', (url: string) => url.replace(/:\d+$/, '')],
  ['two of them', (url: string) => `${url} ${url}`],
])('a page of another site is refused also where it looks like ours: %s', async (_, origin) => {
  const { call, gateway } = await aGateway()

  const reply = await call('POST', '/rpc/health', { body: '{}', headers: { origin: origin(gateway.url), authorization: '' } })

  expect(reply).toMatchObject({ status: 403, json: { error: { code: 'forbidden', field: 'Origin' } } })
})

test('on all interfaces addresses in figures and the name of this machine are served, other names are not', async () => {
  const { call } = await aGateway({ host: '0.0.0.0' })
  const status = async (host: string) => (await call('GET', '/healthz', { headers: { host } })).status

  for (const host of ['127.0.0.1:4111', '10.1.2.3', '[fe80::1]:80', 'localhost', hostname()]) expect([host, await status(host)]).toEqual([host, 200])
  for (const host of ['evil.example', '10.1.2.3.evil.example', `${hostname()}.evil.example`, '0.0.0.0.evil.example:80', 'evil.example:4111'])
    expect([host, await status(host)]).toEqual([host, 403])
})
