/**
 * MCP servers as they are: one tool that cannot be read leaves the others, and a session that the server forgot is begun again.
 * Sources: opentokenz/mcpx#28, brave/brave-search-mcp-server#235 (FC-06); punkpeye/mcp-remote#106, modelcontextprotocol/python-sdk#3556 (FC-14).
 */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, test } from 'vitest'
import { checkableSchema } from '../../src/tools/mcp/schema.rules.ts'
import { checkerOf } from '../../src/tools/schema.ts'
import { afterThisTest } from '../support/cleanup.ts'
import { aBench, hostile } from '../tools/mcp/fixtures.ts'

test('of the tools that a server lists, those that cannot be read are left out with a warning, and no other', async () => {
  const { call, tools, servers, lines } = aBench({ desk: hostile('odd') })

  expect(await call('desk__good')).toContain('done')
  for (const name of ['untyped-output', 'open', 'silent', 'undescribed', 'numbered']) expect(await call(`desk__${name}`)).toContain('done')
  await expect(call('desk__arrayed')).rejects.toMatchObject({ code: 'tool_unknown' })
  expect(servers.report()).toMatchObject([{ state: 'ready', tools: 6 }])
  expect(tools.bench(undefined, 'test/model').names).toHaveLength(6)
  const left = lines.flatMap(({ message, fields }) => (message?.includes('left out') ? [fields] : []))
  expect(left).toHaveLength(5)
})

/** A server with sessions, of which it forgets all when it is told to. */
const aForgetfulServer = async () => {
  const known = new Set<string>()
  const seen: string[] = []
  let begun = 0
  const server = createServer((request, response) => {
    let text = ''
    request.on('data', (chunk) => (text += chunk))
    request.on('end', () => {
      const { id, method, params } = JSON.parse(text || '{}') as { id?: number | string; method?: string; params?: { arguments?: unknown } }
      const session = request.headers['mcp-session-id'] as string | undefined
      const answer = (result: object, headers = {}) =>
        response.writeHead(200, { 'content-type': 'application/json', ...headers }).end(JSON.stringify({ jsonrpc: '2.0', id, ...result }))
      if (method === 'server/discover') return answer({ error: { code: -32601, message: 'no' } })
      if (method === 'initialize') {
        known.add(`s${++begun}`)
        return answer(
          { result: { protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo: { name: 'h', version: '1' } } },
          { 'mcp-session-id': `s${begun}` },
        )
      }
      if (session === undefined || !known.has(session)) return response.writeHead(404).end('session not found')
      if (request.method === 'GET') return response.writeHead(405).end()
      if (id === undefined) return response.writeHead(202).end()
      if (method === 'tools/list') return answer({ result: { tools: [{ name: 'pay', inputSchema: { type: 'object' } }] } })
      seen.push(JSON.stringify(params?.arguments))
      return answer({ result: { content: [{ type: 'text', text: `paid in ${session}` }] } })
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  afterThisTest(() => {
    server.closeAllConnections()
    server.close()
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`, seen, forget: () => known.clear(), begun: () => begun }
}

test('a call into a session that the server forgot is made again in a new one, also one that may run once only', async () => {
  const server = await aForgetfulServer()
  const { call } = aBench({ desk: { url: server.url } })
  expect(await call('desk__pay', { euros: 1 })).toBe('paid in s1')

  server.forget()
  expect(await call('desk__pay', { euros: 2 })).toBe('paid in s2')

  expect(server.seen).toEqual(['{"euros":1}', '{"euros":2}'])
})

describe('a keyword is enforced, or left to the server altogether (FC-18: gsd-build/gsd-2#1354)', () => {
  const fits = (schema: object, input: unknown): boolean =>
    checkerOf(checkableSchema({ type: 'object', properties: {}, ...schema }) ?? {}).safeParse(input).success

  test.each<[string, object, unknown]>([
    ['a name that a pattern allows', { patternProperties: { '^x-': { type: 'string' } }, additionalProperties: false }, { 'x-trace': '1' }],
    [
      'one within a field',
      { properties: { headers: { type: 'object', patternProperties: { '^x-': {} }, additionalProperties: false } } },
      { headers: { 'x-a': 1 } },
    ],
    ['others by a schema', { patternProperties: { '^x-': {} }, additionalProperties: { type: 'number' } }, { 'x-a': 'text' }],
    [
      'a format',
      { properties: { at: { type: 'string', format: 'date-time' }, to: { type: 'string', format: 'uri' } } },
      { at: 'tomorrow', to: '/here' },
    ],
    ['a pattern', { properties: { a: { type: 'string', pattern: '^b' } } }, { a: 'c' }],
    ['rules of names', { propertyNames: { pattern: '^a' } }, { b: 1 }],
  ])('%s is left to it', (_, schema, input) => {
    expect(fits(schema, input)).toBe(true)
  })

  test.each<[string, object, unknown]>([
    ['an unknown name', { properties: { a: {} }, additionalProperties: false }, { b: 1 }],
    ['a type', { properties: { a: { type: 'number' } } }, { a: 'x' }],
    ['a name that is needed', { properties: { a: { type: 'string' } }, required: ['a'] }, {}],
    [
      'fields that are called as keywords',
      { properties: { pattern: { type: 'number' }, format: { type: 'number' }, patternProperties: { type: 'number' } } },
      { patternProperties: 'x' },
    ],
  ])('%s is enforced', (_, schema, input) => {
    expect(fits(schema, input)).toBe(false)
  })
})
