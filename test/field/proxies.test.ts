/**
 * Proxies from the environment: calls of models and MCP servers go through them, this machine and `NO_PROXY` excepted; links of strangers never do.
 * Sources: openclaw/openclaw#20549, fastagent-sh/fastagent#474 (FC-25).
 */
import { createServer } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { createMcpHandler } from '@modelcontextprotocol/server'
import { expect, test, vi } from 'vitest'
import { guardedFetch } from '../../src/chat/understanding/guarded-fetch.ts'
import { createModels } from '../../src/models/models.ts'
import { proxyFor } from '../../src/models/proxy.ts'
import { aRequest, start } from '../models/fixtures.ts'
import { afterThisTest } from '../support/cleanup.ts'
import { mcpTools } from '../support/mcp-tools.ts'
import { startOpenAiServer, textOf } from '../support/openai-server.ts'
import { aBench } from '../tools/mcp/fixtures.ts'
import { anEnvironment } from '../transport/harness.ts'

/** A proxy that finds all hosts at one port of this machine. @property asked what it was asked to connect to */
const aProxy = async (port: number, { password }: { password?: string } = {}) => {
  const asked: string[] = []
  const server = createServer((_, response) => response.writeHead(501).end())
  server.on('connect', ({ url = '', headers }, socket) => {
    asked.push(url)
    if (password !== undefined && headers['proxy-authorization'] !== `Basic ${Buffer.from(`me:${password}`).toString('base64')}`)
      return void socket.end('HTTP/1.1 407 Proxy Authentication Required\r\n\r\n')
    const upstream = connect(port, '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 Connection Established\r\n\r\n')
      upstream.pipe(socket).pipe(upstream)
    })
    for (const one of [socket, upstream]) one.on('error', () => undefined)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  afterThisTest(() => {
    server.closeAllConnections()
    server.close()
  })
  return { asked, place: `127.0.0.1:${(server.address() as AddressInfo).port}` }
}

const aServer = async () => {
  const server = await startOpenAiServer({ script: () => ({ text: 'hello' }) })
  afterThisTest(() => server.close())
  return { server, port: Number(new URL(server.url).port) }
}

const modelCall = async (env: Record<string, string>) => {
  const model = await createModels({ environment: { ...anEnvironment(), random: { next: () => 0.5 } }, env: { OPENAI_API_KEY: 'k', ...env } }).get(
    'openai-compatible/m',
  )
  return start(model, aRequest())
}

test.each(['HTTP_PROXY', 'http_proxy', 'ALL_PROXY', 'all_proxy'])('a model is asked through the proxy of %s', async (variable) => {
  const { port } = await aServer()
  const proxy = await aProxy(port)
  const call = await modelCall({ OPENAI_BASE_URL: 'http://provider.test/v1', [variable]: `http://${proxy.place}` })
  expect(await call.response).toMatchObject({ text: 'hello' })
  expect(proxy.asked).toEqual(['provider.test:80'])
})

test('a proxy may be named without a scheme, and with a user', async () => {
  const { port } = await aServer()
  const proxy = await aProxy(port, { password: 's3cret!pass' })
  const call = await modelCall({ OPENAI_BASE_URL: 'http://provider.test/v1', HTTP_PROXY: `me:s3cret!pass@${proxy.place}` })
  expect(await call.response).toMatchObject({ text: 'hello' })
})

test('HTTPS_PROXY holds for https, and its password is in no error', async () => {
  const { port } = await aServer()
  const proxy = await aProxy(port, { password: 'another-one' })
  const call = await modelCall({ OPENAI_BASE_URL: 'https://provider.test/v1', HTTPS_PROXY: `http://me:s3cret!pass@${proxy.place}` })
  const error = await call.error
  expect(proxy.asked).toEqual(['provider.test:443'])
  expect(error.code).toBe('provider_unavailable')
  expect(JSON.stringify(error.toJSON())).not.toContain('s3cret')
})

test.each(['provider.test', '.test', 'other.test, provider.test', '*'])('NO_PROXY=%s is obeyed', async (value) => {
  const { port } = await aServer()
  const proxy = await aProxy(port)
  const call = await modelCall({ OPENAI_BASE_URL: 'http://provider.test/v1', HTTP_PROXY: `http://${proxy.place}`, NO_PROXY: value })
  expect((await call.error).code).toBe('provider_unavailable')
  expect(proxy.asked).toEqual([])
})

test('a server on this machine is asked without a proxy', async () => {
  const { server } = await aServer()
  const call = await modelCall({ OPENAI_BASE_URL: server.url, HTTP_PROXY: 'http://127.0.0.1:1', ALL_PROXY: 'http://127.0.0.1:1' })
  expect(await call.response).toMatchObject({ text: 'hello' })
})

test('a proxy of another kind does no harm where NO_PROXY names the host, nor to the other protocol', () => {
  const url = new URL('https://provider.test/v1')
  expect(proxyFor({ ALL_PROXY: 'socks5://p:1', NO_PROXY: '*' }, url)).toBeUndefined()
  expect(proxyFor({ HTTPS_PROXY: 'http://p:1', HTTP_PROXY: 'socks5://p:1' }, url)).toBe('http://p:1')
})

test.each<[string, string, boolean]>([
  ['provider.test', 'https://api.provider.test/', true],
  ['.provider.test', 'https://api.provider.test/', true],
  ['*.provider.test', 'https://api.provider.test/', true],
  ['provider.test', 'https://notprovider.test/', false],
  ['provider.test:8443', 'https://provider.test/', false],
  ['provider.test:443', 'https://provider.test/', true],
  ['PROVIDER.test', 'https://provider.test/', true],
  ['10.0.0.7', 'https://10.0.0.7/', true],
  [' , a.test  b.test', 'http://b.test/', true],
  ['', 'http://b.test/', false],
])('NO_PROXY=%s for %s: %s', (list, url, isExcepted) => {
  expect(proxyFor({ ALL_PROXY: 'http://p:1', NO_PROXY: list }, new URL(url))).toBe(isExcepted ? undefined : 'http://p:1')
})

test.each(['socks5://127.0.0.1:1080', 'ftp://x', 'http://'])('%s is refused as a proxy', async (value) => {
  const call = await modelCall({ OPENAI_BASE_URL: 'https://provider.test/v1', HTTPS_PROXY: value })
  const error = await call.error
  expect(error).toMatchObject({ code: 'bad_request', field: 'HTTPS_PROXY', hint: expect.stringContaining('NO_PROXY') })
})

test.each<[string, Record<string, string>, string | undefined]>([
  ['https://a.test/', { HTTPS_PROXY: 'http://p:1', https_proxy: 'http://q:2' }, 'http://q:2'],
  ['https://a.test/', { HTTP_PROXY: 'http://p:1' }, undefined],
  ['http://a.test/', { HTTPS_PROXY: 'http://p:1' }, undefined],
  ['http://a.test/', { HTTP_PROXY: '  ' }, undefined],
  ['http://[::1]:9/', { HTTP_PROXY: 'http://p:1' }, undefined],
  ['http://127.8.8.8:9/', { ALL_PROXY: 'http://p:1' }, undefined],
  ['http://localhost/', { ALL_PROXY: 'http://p:1' }, undefined],
  ['ws://a.test/', { ALL_PROXY: 'http://p:1' }, undefined],
])('%s with %j goes through %s', (url, env, proxy) => {
  expect(proxyFor(env, new URL(url))).toBe(proxy)
})

test('an MCP server is reached through the proxy', async () => {
  const handler = createMcpHandler(mcpTools, { legacy: 'reject' })
  const server = createServer((incoming, outgoing) => {
    void (async () => {
      const body = await textOf(incoming)
      const { method = 'GET', headers } = incoming
      const init = { method, headers: headers as Record<string, string>, ...(body && { body }) }
      const response = await handler.fetch(new Request(`http://mcp.test${incoming.url}`, init))
      outgoing.writeHead(response.status, Object.fromEntries(response.headers))
      outgoing.flushHeaders()
      for await (const part of response.body ?? []) outgoing.write(part)
      outgoing.end()
    })()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  afterThisTest(() => {
    server.closeAllConnections()
    server.close()
  })
  const proxy = await aProxy((server.address() as AddressInfo).port)
  const { call } = aBench({ desk: { url: 'http://mcp.test/mcp' } }, { env: { HTTP_PROXY: `http://${proxy.place}` } })
  expect(await call('desk__add', { a: 1, b: 2 })).toEqual({ sum: 3 })
  expect(new Set(proxy.asked)).toEqual(new Set(['mcp.test:80']))
})

test('[CH-21] a link of a stranger is never fetched through a proxy', async () => {
  const { server, port } = await aServer()
  const proxy = await aProxy(port)
  for (const name of ['HTTP_PROXY', 'http_proxy', 'ALL_PROXY', 'NODE_USE_ENV_PROXY'])
    vi.stubEnv(name, name.startsWith('NODE') ? '1' : `http://${proxy.place}`)
  afterThisTest(() => void vi.unstubAllEnvs())
  const lookup = ((_: string, __: unknown, done: (error: null, found: unknown) => void) => done(null, [{ address: '127.0.0.1', family: 4 }])) as never
  const read = await guardedFetch(
    `http://page.test:${port}/v1/models`,
    { allow: new Set([`page.test:${port}`]), lookup },
    AbortSignal.timeout(10_000),
  )
  expect(read.text).toContain('offline')
  expect(proxy.asked).toEqual([])
  void server
})
