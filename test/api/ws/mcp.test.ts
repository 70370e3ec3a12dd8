/** A chat whose agent has tools of MCP servers, over the socket. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { execPath } from 'node:process'
import { fileURLToPath } from 'node:url'
import { createMcpHandler } from '@modelcontextprotocol/server'
import { expect, onTestFinished, test } from 'vitest'
import type { ModelRequest } from '../../../src/contracts/model.ts'
import { type AgentDefinition, agent, type RuntimeOptions } from '../../../src/index.ts'
import { mcpTools } from '../../support/mcp-tools.ts'
import { aGateway } from '../http/harness.ts'
import { aSocket } from './a-socket.ts'

const program = fileURLToPath(new URL('../../support/mcp-program.ts', import.meta.url))
const desk = { command: execPath, args: [program, 'old'] }

const atAddress = async (): Promise<{ url: string }> => {
  const handler = createMcpHandler(mcpTools, { legacy: 'reject' })
  const answer = async (incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> => {
    let body = ''
    for await (const chunk of incoming) body += chunk
    const request = new Request(`http://127.0.0.1${incoming.url}`, {
      method: incoming.method ?? 'POST',
      headers: incoming.headers as never,
      ...(body && { body }),
    })
    const response = await handler.fetch(request)
    outgoing.writeHead(response.status, Object.fromEntries(response.headers)).flushHeaders()
    for await (const part of response.body ?? []) outgoing.write(part)
    outgoing.end()
  }
  const server = createServer((...given) => void answer(...given))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void (server.closeAllConnections(), server.close()))
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp` }
}

/** A model that calls the tool that it is told, `desk__add {"a":1}`, and repeats what comes back. */
const aChat = async (mcp: RuntimeOptions['mcp'], settings: Partial<AgentDefinition> = {}) => {
  const asked: ModelRequest[] = []
  const { gateway, rpc, call } = await aGateway(
    {},
    {
      agents: [agent({ name: 'main', model: 'test/caller', ...settings })],
      ...(mcp && { mcp }),
      models: {
        'test/caller': (request: ModelRequest) => {
          asked.push(request)
          const last = request.messages.at(-1)
          if (last?.role === 'tool') return { text: `got ${JSON.stringify(last.output)}` }
          const [, name = '', input = '{}'] = /^(\w+__\w+) ?(.*)$/.exec(last?.role === 'user' ? last.text : '') ?? []
          return name === '' ? { text: 'nothing to do' } : { calls: [{ name, input: JSON.parse(input) }] }
        },
      },
    },
  )
  const socket = await aSocket(gateway.url)
  let count = 0
  return {
    asked,
    rpc,
    call,
    ...socket,
    say: async (message: string) => {
      const idempotencyKey = `k${++count}`
      await socket.request('chat.send', { sessionKey: 'main', message, idempotencyKey })
      return socket.event('chat', ({ state, runId }) => state === 'final' && runId === idempotencyKey)
    },
    toolsOf: async () => (await rpc('tools.list')).json,
  }
}

const textOf = ({ payload }: any): string => payload.message.content.map(({ text }: { text: string }) => text).join('')

test.each([
  ['a program, as in 2025', async () => desk, '2025-11-25'],
  ['an address, as in 2026', atAddress, '2026-07-28'],
])('[CH-35] the tools of an MCP server that is %s are offered to the model, called and told of', async (_, server, protocol) => {
  const chat = await aChat({ servers: { desk: await server() } }, { mcp: ['desk'] })

  const answer = await chat.say('desk__add {"a":40,"b":2}')

  expect(textOf(answer)).toBe('got {"sum":42}')
  expect(chat.asked[0]?.tools).toContainEqual({
    name: 'desk__add',
    description: 'adds two numbers',
    inputSchema: expect.objectContaining({ type: 'object', required: ['a', 'b'] }),
  })
  expect(chat.events('session.tool')).toMatchObject([
    { state: 'running', toolName: 'desk__add', input: { a: 40, b: 2 } },
    { state: 'done', output: { sum: 42 } },
  ])
  expect((await chat.toolsOf()).mcp).toEqual([{ server: 'desk', state: 'ready', tools: 10, protocol }])
})

test.each<[string, RuntimeOptions['mcp'], Partial<AgentDefinition>]>([
  ['the app has switched it off', { enabled: false, servers: { desk } }, { mcp: true }],
  ['the server is switched off', { servers: { desk: { ...desk, enabled: false } } }, { mcp: ['desk'] }],
  ['the agent has not asked for it', { servers: { desk } }, {}],
  ['the agent has it off', { servers: { desk } }, { mcp: false }],
])('[CH-35] with MCP off, because %s, no MCP tool is in the request and no server is started', async (_, mcp, settings) => {
  const chat = await aChat(mcp, settings)

  await chat.say('hello')

  expect(chat.asked.map(({ tools }) => tools)).toEqual([[]])
  const { mcp: servers = [] } = await chat.toolsOf()
  expect(servers.every(({ state }: { state: string }) => state === 'idle')).toBe(true)
})

test('[CH-54] tools of MCP are listed with name, description, parameters and source', async () => {
  const chat = await aChat({ servers: { desk } }, { mcp: ['desk/add', 'desk/note'] })
  const before = await chat.toolsOf()
  await chat.say('hello')

  const { agents } = await chat.toolsOf()

  expect(before).toEqual({ agents: [{ agent: 'main', tools: [], removed: [] }], mcp: [{ server: 'desk', state: 'idle', tools: 0 }] })
  expect(agents[0].tools).toMatchObject([
    { name: 'desk__add', description: 'adds two numbers', inputSchema: { type: 'object' }, source: 'mcp:desk', onCrash: 'retry', approval: 'never' },
    { name: 'desk__note', description: 'writes a note', source: 'mcp:desk', onCrash: 'idempotent', approval: 'always' },
  ])
})

test('[CH-35] a tool that is not said to be read-only waits for a person', async () => {
  const chat = await aChat({ servers: { desk } }, { mcp: true })

  const answered = chat.say('desk__note {"text":"x"}')
  const { payload: asked } = await chat.event('approval.requested')
  await chat.request('approvals.resolve', {
    sessionKey: 'main',
    callId: asked.approval.callId,
    decision: 'approve',
    inputHash: asked.approval.inputHash,
  })

  expect(textOf(await answered)).toBe('got "written"')
})

test('[CH-35] a server that cannot be started costs its tools and no turn; health and metrics tell of it', async () => {
  const chat = await aChat({ servers: { gone: { command: 'no-such-program-here' }, desk } }, { mcp: true })

  expect(textOf(await chat.say('desk__add {"a":1,"b":2}'))).toBe('got {"sum":3}')

  const { json: health } = await chat.rpc('health')
  expect(health.mcp).toMatchObject([
    { server: 'gone', state: 'failed', tools: 0, error: { code: 'not_found', hint: expect.any(String) } },
    { server: 'desk', state: 'ready', tools: 10 },
  ])
  const { text } = await chat.call('GET', '/metrics')
  expect(text).toContain('statecast_mcp_server{server="gone",state="failed"} 1')
  expect(text).toContain('statecast_mcp_tools{server="desk"} 10')
})

test('a node without MCP servers says nothing of them', async () => {
  const chat = await aChat(undefined)
  await chat.say('hello')

  expect((await chat.rpc('health')).json).not.toHaveProperty('mcp')
  expect(await chat.toolsOf()).toEqual({ agents: [{ agent: 'main', tools: [], removed: [] }] })
  expect((await chat.call('GET', '/metrics')).text).not.toContain('mcp_tools{')
})

test('[CH-36] rules for groups hold for tools of MCP servers: what is denied is neither offered nor run, a profile for code has them', async () => {
  const denied = await aChat({ servers: { desk } }, { mcp: true, toolPolicy: { deny: ['group:mcp'] } })
  const disabled = await aChat({ servers: { desk } }, { mcp: true, bench: { disable: ['mcp', 'skills'] } })
  const coding = await aChat({ servers: { desk } }, { mcp: true, toolPolicy: { profile: 'coding' } })

  for (const { asked, say, toolsOf } of [denied, disabled]) {
    await say('hello')
    await say('desk__add {"a":1,"b":2}')
    expect(asked.flatMap(({ tools }) => tools.map(({ name }) => name)).filter((name) => name.startsWith('desk__'))).toEqual([])
    expect(JSON.stringify(asked.at(-1)?.messages)).toContain('there is no tool')
    expect((await toolsOf()).agents[0].removed).toContainEqual(expect.objectContaining({ name: 'desk__add', category: 'mcp' }))
  }
  await coding.say('hello')
  await coding.say('hello again')
  expect(coding.asked.at(-1)?.tools.map(({ name }) => name)).toContain('desk__add')
})
