/** Tools of MCP servers at an address, in both eras of the protocol. */
import { createServer, type IncomingMessage, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createMcpHandler, WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/server'
import { describe, expect, onTestFinished, test } from 'vitest'
import { mcpTools } from '../../support/mcp-tools.ts'
import { aBench } from './fixtures.ts'

const listening = async (listener: (...given: Parameters<RequestListener>) => unknown): Promise<string> => {
  const server = createServer((...given) => void listener(...given))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void (server.closeAllConnections(), server.close()))
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`
}

const bodyOf = async (request: IncomingMessage): Promise<string> => {
  let text = ''
  for await (const chunk of request) text += chunk
  return text
}

/** @param handle what answers requests in the manner of `fetch` */
const serving = (handle: (request: Request) => Promise<Response>, seen: IncomingMessage[] = []) =>
  listening(async (incoming, outgoing) => {
    seen.push(incoming)
    const text = await bodyOf(incoming)
    const gone = new AbortController()
    outgoing.once('close', () => gone.abort())
    const { method = 'GET', headers } = incoming
    const response = await handle(
      new Request(`http://127.0.0.1${incoming.url}`, {
        method,
        headers: headers as Record<string, string>,
        signal: gone.signal,
        ...(text && { body: text }),
      }),
    )
    outgoing.writeHead(response.status, Object.fromEntries(response.headers))
    outgoing.flushHeaders()
    for await (const part of response.body ?? []) outgoing.write(part)
    outgoing.end()
  })

const old = async (): Promise<(request: Request) => Promise<Response>> => {
  const transport = new WebStandardStreamableHTTPServerTransport({ sessionIdGenerator: () => 's1' })
  await mcpTools().connect(transport)
  return (request) => transport.handleRequest(request)
}
const fresh = async (): Promise<(request: Request) => Promise<Response>> => {
  const handler = createMcpHandler(mcpTools, { legacy: 'reject' })
  return (request) => handler.fetch(request)
}

describe.each([
  ['new', fresh, '2026-07-28'],
  ['old', old, '2025-11-25'],
])('a server of the %s era', (_, made, protocol) => {
  test('its tools are found and answer, and each request has the headers of the app', async () => {
    const seen: IncomingMessage[] = []
    const url = await serving(await made(), seen)
    const { call, servers, lines } = aBench(
      { desk: { url, headers: { Authorization: `Bearer \${KEY}` } } },
      { env: { ...process.env, KEY: 'a-secret-of-ours-0123456789' } },
    )

    expect(await call('desk__add', { a: 40, b: 2 })).toEqual({ sum: 42 })
    await expect(call('desk__refuse')).rejects.toMatchObject({ code: 'tool_failed', message: 'no such row' })

    expect(servers.report()).toEqual([{ server: 'desk', state: 'ready', tools: 10, protocol }])
    expect(new Set(seen.map(({ headers }) => headers.authorization))).toEqual(new Set(['Bearer a-secret-of-ours-0123456789']))
    expect(JSON.stringify(lines)).not.toContain('a-secret-of-ours')
  })

  test('an answer that is too long fails its call alone', async () => {
    const { call } = aBench({ desk: { url: await serving(await made()) } })

    await expect(call('desk__long', { bytes: 9_000_000 })).rejects.toMatchObject({ code: 'tool_output', hint: expect.any(String) })
    expect(await call('desk__add', { a: 1, b: 1 })).toEqual({ sum: 2 })
  })

  test('progress is shown, and a call can be stopped', async () => {
    const { call } = aBench({ desk: { url: await serving(await made()) } })
    const stop = new AbortController()
    const progress: string[] = []

    const waiting = call('desk__wait', {}, { signal: stop.signal, progress: (message) => stop.abort(progress.push(message)) })

    await expect(waiting).rejects.toMatchObject({ code: 'cancelled' })
    expect(progress).toEqual(['waiting'])
  })
})

test('who is sent to another host does not go there, with or without the headers', async () => {
  const seen: IncomingMessage[] = []
  const elsewhere = (await serving(await fresh(), seen)).replace('127.0.0.1', 'localhost')
  const url = await listening((_, outgoing) => void outgoing.writeHead(307, { location: elsewhere }).end())
  const { servers, tools } = aBench({ desk: { url, headers: { Authorization: 'Bearer secret-of-ours' } } })

  await tools.discover?.()

  expect(servers.report()).toMatchObject([{ tools: 0, error: { hint: expect.any(String) } }])
  expect(seen).toEqual([])
})

test.each([
  ['refuses us', 401, 'unauthorised', 'failed'],
  ['is no such server', 404, 'log_unavailable', 'backing-off'],
  ['is out of order', 503, 'log_unavailable', 'backing-off'],
])('a server that %s is reported so', async (_, status, code, state) => {
  const url = await listening((__, outgoing) => void outgoing.writeHead(status).end('x'.repeat(1_000_000)))
  const { servers, tools } = aBench({ desk: { url } })

  await tools.discover?.()

  const [report] = servers.report()
  expect(report).toMatchObject({ state, error: { code, hint: expect.any(String) } })
  expect(JSON.stringify(report).length).toBeLessThan(4_000)
})

test('nobody at the address is tried again, and found when somebody is there', async () => {
  const url = await serving(await fresh())
  const { servers, tools, call } = aBench({ desk: { url: 'http://127.0.0.1:9/mcp' }, other: { url } })

  await tools.discover?.()

  expect(servers.report()).toMatchObject([{ state: 'backing-off', error: { code: 'log_unavailable' } }, { state: 'ready' }])
  expect(await call('other__add', { a: 1, b: 2 })).toEqual({ sum: 3 })
})

/** Answers as the old era does, and to calls with what is given. */
const byHand = (answer: (id: number, outgoing: Parameters<RequestListener>[1]) => void) =>
  listening(async (incoming, outgoing) => {
    const text = await bodyOf(incoming)
    if (text === '') return void outgoing.writeHead(405).end()
    const { id, method } = JSON.parse(text)
    const say = (message: object) =>
      outgoing.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ jsonrpc: '2.0', id, ...message }))
    if (id === undefined) outgoing.writeHead(202).end()
    else if (method === 'initialize')
      say({ result: { protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo: { name: 'h', version: '1' } } })
    else if (method === 'tools/list') say({ result: { tools: [{ name: 'do', inputSchema: { type: 'object' } }] } })
    else if (method === 'tools/call') answer(id, outgoing)
    else say({ error: { code: -32_601, message: 'Method not found' } })
  })
const eventStream = { 'content-type': 'text/event-stream' }

test.each<[string, string, Parameters<typeof byHand>[0]]>([
  ['breaks off in the middle', 'tool_lost', (_, outgoing) => void outgoing.writeHead(200, eventStream).write('data: {"js', () => outgoing.destroy())],
  ['ends without an answer', 'tool_lost', (_, outgoing) => void outgoing.writeHead(200, eventStream).end(': nothing\n\n')],
  ['is a page', 'tool_lost', (_, outgoing) => void outgoing.writeHead(200, { 'content-type': 'text/html' }).end('<p>hello')],
  [
    'is an event without an end',
    'tool_output',
    (_, outgoing) => {
      outgoing.writeHead(200, eventStream)
      const more = (): void => void (!outgoing.destroyed && outgoing.write(`data: ${'x'.repeat(1_000_000)}\n`, more))
      more()
    },
  ],
])('an answer that %s is a typed error', async (_, code, answer) => {
  const { call } = aBench({ hand: { url: await byHand(answer), timeoutMs: 5_000 } })

  await expect(call('hand__do')).rejects.toMatchObject({ code })
})
