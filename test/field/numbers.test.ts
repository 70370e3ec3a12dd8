/**
 * A number beyond 2^53 keeps its digits or is refused, by each door: it never becomes another number.
 * Sources: anthropics/claude-code#37707, dylanneve1/talon#204, dylanneve1/talon#366, openclaw/openclaw#22397 (FC-08).
 */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import OpenAI from 'openai'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { tool } from '../../src/index.ts'
import { agent as ladderAgent } from '../../src/ladder/index.ts'
import { token } from '../api/http/harness.ts'
import { aToolGateway } from '../api/ws/a-tool-gateway.ts'
import { aFolder, statecast, testApp } from '../cli/run.ts'
import { aLadderOf } from '../ladder/a-ladder.ts'
import { story } from '../runtime/harness.ts'
import { afterThisTest } from '../support/cleanup.ts'
import { aBench, hostile } from '../tools/mcp/fixtures.ts'
import { aService, aWorld } from '../tools/services/fixtures.ts'

const big = '1497549923779084388'
/** What `JSON.parse` makes of them. */
const others = /1497549923779084(?!388)|9007199254740992|18446744073709552000|Infinity/
const literals = [big, `-${big}`, '9007199254740993', '18446744073709551615', '12345678901234567890.5', '1e400']

describe('a tool call of a model', () => {
  test.each(literals)('with %s does not run: the model is told why', async (literal) => {
    const ran: unknown[] = []
    const read = tool({
      name: 'read',
      description: 'reads a message',
      input: z.object({ message: z.number(), deep: z.any() }),
      approval: true,
      execute: (input) => ran.push(input),
    })
    const rawCalls = [{ name: 'read', input: `{"message":1,"deep":{"list":[0,${literal}]}}` }]
    await using told = await story([{ rawCalls }, { text: 'sorry' }], { tools: () => [read] })

    expect(await told.clock.until((await told.say('read it')).result())).toMatchObject({ text: 'sorry' })
    expect(ran).toEqual([])
    const journal = JSON.stringify(await told.main.history())
    expect(journal).toContain(`the number ${literal} at deep.list.1 of the input would become`)
    expect(journal).toContain('in quotes')
  })

  test('of a function that an OpenAI client runs gives it no other number', async () => {
    const calls = [{ rawCalls: [{ name: 'find', input: `{"message":${big}}` }] }, { text: 'sorry' }]
    const { gateway } = await aToolGateway({ script: calls })
    const client = new OpenAI({ apiKey: token, baseURL: `${gateway.url}/v1`, maxRetries: 0 })
    const tools = [{ type: 'function' as const, function: { name: 'find', parameters: { type: 'object' } } }]
    const { choices } = await client.chat.completions.create({ model: 'main', messages: [{ role: 'user', content: 'find' }], tools })

    expect(choices[0]?.message).toMatchObject({ content: 'sorry' })
    expect(JSON.stringify(choices)).not.toMatch(others)
  })

  test('that a person types keeps its digits, as text', async () => {
    const folder = aFolder()
    const { stdout } = await statecast({ folder, input: `danger {"id":${big}}\n` }, 'chat', '--app', testApp)

    expect(stdout).not.toMatch(others)
  })
})

describe('a request is refused', () => {
  test.each(literals)('over HTTP with %s', async (literal) => {
    const { call } = await aToolGateway({ script: [{ text: 'hi' }] })
    const body = `{"kind":"session","id":"a","event":{"type":"message","text":"hi","thread":{"id":${literal}}}}`
    const refused = await call('POST', '/rpc/actors.send', { body })

    expect([refused.status, refused.json.error]).toMatchObject([
      400,
      { code: 'bad_request', field: 'event.thread.id', hint: expect.stringContaining('in quotes') },
    ])
    expect(refused.json.error.message).toContain(literal)
  })

  test('over the socket', async () => {
    const { until, send } = await aToolGateway({ script: [{ text: 'hi' }] })
    send(`{"type":"req","id":"r1","method":"chat.send","params":{"sessionKey":"a","message":"hi","idempotencyKey":"k","timeoutMs":${big}}}`)

    const frame = await until((one) => one.error ?? one.payload?.error)
    expect(JSON.stringify(frame)).toContain(`the number ${big} at params.timeoutMs`)
  })

  test.each(['tools', 'response'])('but not for what only tunes a model or bounds a schema (%s)', async (where) => {
    const { gateway, call } = await aToolGateway({ script: [{ text: 'hi' }] })
    const schema = `{"type":"object","properties":{"id":{"type":"integer","maximum":18446744073709551615}}}`
    const openai = `{"model":"main","seed":${big},"messages":[{"role":"user","content":"hi"}],"tools":[{"type":"function","function":{"name":"f","parameters":${schema}}}]}`
    const ours = `{"sessionKey":"s","message":"hi","idempotencyKey":"k","clientTools":[{"name":"f","description":"d","inputSchema":${schema}}]}`
    const answered =
      where === 'tools'
        ? await call('POST', '/rpc/chat.send', { body: ours })
        : await fetch(`${gateway.url}/v1/chat/completions`, { method: 'POST', headers: { authorization: `Bearer ${token}` }, body: openai })

    expect(answered.status).toBe(200)
  })
})

describe('a result keeps its digits, as text', () => {
  test('of a service', async () => {
    const world = await aWorld()
    const metadata = { schema: '{"type":"object"}', description: 'finds' }
    aService(world.bus, { metadata, onRequest: ({ reply }) => world.bus.publish(reply, Buffer.from(`{"id":${big},"small":7}`)) })
    await world.open()

    expect(await world.call({})).toEqual({ id: big, small: 7 })
  })

  test('of an MCP server that is a program, whose schemas may have such bounds', async () => {
    const { call, tools } = aBench({ desk: hostile('digits') })

    expect(await call('desk__find', { id: 5 })).toEqual({ id: big, small: 7 })
    expect(JSON.stringify(tools.bench(undefined, 'test/model'))).toBeDefined()
  })

  test.each(['application/json', 'text/event-stream'])('of an MCP server at an address, as %s', async (type) => {
    const server = createServer((request, response) => {
      let text = ''
      request.on('data', (chunk) => (text += chunk))
      request.on('end', () => {
        const { id, method } = JSON.parse(text || '{}') as { id?: number; method?: string }
        if (id === undefined) return response.writeHead(202).end()
        const results: Record<string, string> = {
          initialize: '{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"h","version":"1"}}',
          'tools/list': '{"tools":[{"name":"find","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":true}}]}',
          'tools/call': `{"content":[{"type":"text","text":"{\\"id\\":${big}}"}],"structuredContent":{"id":${big}}}`,
        }
        const result = results[method ?? '']
        const body = `{"jsonrpc":"2.0","id":${JSON.stringify(id)},${result ? `"result":${result}` : '"error":{"code":-32601,"message":"no"}'}}`
        response.writeHead(200, { 'content-type': type }).end(type === 'application/json' ? body : `data: ${body}\n\n`)
      })
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    afterThisTest(() => void server.close())
    const { call, servers } = aBench({ desk: { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp` } })

    expect(await call('desk__find').catch(() => servers.report())).toEqual({ id: big })
  })
})

test.each(literals)('an answer that has to be data is asked for again where it holds %s', async (literal) => {
  const clerk = ladderAgent({ name: 'clerk', model: 'test/a', output: z.object({ id: z.any() }), repair: 1 })
  const answers = [{ text: `{"id":${literal}}` }, { text: `{"id":"${literal}"}` }]
  await using kit = await aLadderOf({ 'test/a': answers }, clerk)

  const { data } = await kit.clock.until(clerk.execute('which?', { runId: 'r' }))
  expect(data).toEqual({ id: literal })
})
