/**
 * What a cluster is for, in processes of their own: a turn begun through one node, its session on another one, its tool in Python without a library,
 * and somebody who has nothing but a socket to the server.
 */
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { connect as connectSocket, type Socket } from 'node:net'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { connect, type NatsConnection } from '@nats-io/transport-node'
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest'
import { goExample } from '../../scripts/go-example.ts'
import { partitionOf, rendezvous } from '../../src/contracts/placement.ts'
import { natsForAll } from '../support/nats.ts'
import { type Program, startProgram } from '../support/processes.ts'
import { aNodeProcess } from './processes.ts'
import { aFolder, aNode, type Node, statecast, stopNode } from './run.ts'

const file = (path: string): string => fileURLToPath(new URL(path, import.meta.url))
const app = file('fixtures/shared.ts')

const server = natsForAll()
let nc: NatsConnection
const programs: Program[] = []
const sockets: Socket[] = []
beforeAll(async () => void (nc = await connect({ servers: server.url })))
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy()
  await Promise.all(programs.splice(0).map((program) => program.kill()))
})
afterAll(() => nc.close())

const up = async <Started extends Node>(begin: (how: { folder: string }, ...args: string[]) => Promise<Started>): Promise<Started> => {
  const folder = aFolder()
  const node = await begin({ folder }, '--url', server.url, '--app', app)
  return { ...node, token: join(folder, node.token) }
}

/** Asks one node, whichever has what it is asked for. */
const rpc = async ({ url, token }: Node, command: string, body: object = {}): Promise<any> => {
  const headers = { authorization: `Bearer ${readFileSync(token, 'utf8').trim()}` }
  const response = await fetch(`${url}/rpc/${command}`, { method: 'POST', headers, body: JSON.stringify(body) })
  if (!response.ok) throw new Error(await response.text())
  return response.json()
}
const nameOf = async (node: Node): Promise<string> => (await rpc(node, 'health')).node
const liveOn = async (node: Node): Promise<number> => (await rpc(node, 'health')).liveActors

/** Until every partition has a node, and each node its share. */
const shared = async (...nodes: Node[]): Promise<string[]> => {
  const names = await Promise.all(nodes.map(nameOf))
  await vi.waitFor(async () => {
    for (const node of nodes) {
      const { nodes: rows } = await rpc(node, 'nodes.list')
      const wanted = names.map((name) => ({
        id: name,
        partitions: Array.from({ length: 64 }, (_, n) => n).filter((n) => rendezvous(n, names) === name).length,
      }))
      expect(rows.map(({ id, partitions }: { id: string; partitions: number }) => ({ id, partitions }))).toEqual(expect.arrayContaining(wanted))
      expect(rows).toHaveLength(names.length)
    }
  })
  return names
}
const keyOn = (name: string, names: string[], hint = 's'): string =>
  Array.from({ length: 100 }, (_, n) => `${hint}${n}`).find((id) => rendezvous(partitionOf({ kind: 'session', id }), names) === name)!

const knows = async (tool: string, ...nodes: Node[]): Promise<void> => {
  for (const node of nodes) await vi.waitFor(async () => expect(JSON.stringify(await rpc(node, 'tools.list'))).toContain(tool))
}
const startPython = async (...nodes: Node[]): Promise<Program> => {
  const python = startProgram('python3', file('../../examples/services/weather.py'), server.url)
  programs.push(python)
  await python.said('serves statecast.tools.weather.forecast')
  await knows('weather_forecast', ...nodes)
  return python
}

type Heard = { type: string; [field: string]: any }
/** The events on a subject as anybody hears them who can open a socket. */
const listenRaw = async (pattern: string): Promise<() => Heard[]> => {
  const socket = connectSocket({ host: '127.0.0.1', port: server.port })
  sockets.push(socket)
  let text = ''
  socket.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk
    if (chunk.includes('PING\r\n')) socket.write('PONG\r\n')
  })
  await once(socket, 'connect')
  socket.write(`CONNECT {"verbose":false}\r\nSUB ${pattern} 1\r\nPING\r\n`)
  await vi.waitFor(() => expect(text).toContain('PONG\r\n'))
  return () => [...text.matchAll(/MSG \S+ 1 \d+\r\n(\{.*\})\r\n/g)].map(([, json = '']) => JSON.parse(json))
}

test('a turn through node A, its session on node B, its tool in Python: a bare socket sees text, tool and answer', async () => {
  const [a, b] = [await up(aNode), await up(aNode)]
  const names = await shared(a, b)
  await startPython(a, b)
  const key = keyOn(names[1]!, names)
  const heard = await listenRaw(`statecast.out.session.${key}.>`)

  await rpc(a, 'chat.send', { sessionKey: key, message: 'weather_forecast {"city":"Bonn","days":2}', idempotencyKey: 'm1' })
  await vi.waitFor(() => expect(heard().some(({ type }) => type === 'final')).toBe(true))

  const final = heard().find(({ type }) => type === 'final')!
  expect(final).toMatchObject({ ids: ['m1'], status: 'completed', toolCalls: 1, text: expect.stringContaining('day 2: ') })
  expect(heard().flatMap(({ type, phase }) => (type === 'tool' ? [phase] : []))).toEqual(['requested', 'progress', 'progress', 'completed'])
  const { attempt } = heard().findLast(({ type }) => type === 'delta')!
  expect(
    heard()
      .flatMap((event) => (event.type === 'delta' && event.attempt === attempt ? [event.text] : []))
      .join(''),
  ).toBe(final.text)
  expect(await Promise.all([a, b].map(liveOn))).toEqual([0, 1])
  expect((await rpc(a, 'agent.wait', { sessionKey: key, runId: 'm1' })).text).toBe(final.text)
  expect((await rpc(b, 'trace.replay', { id: key })).verdict).toBe('identical')
  const where = await statecast({ folder: aFolder() }, 'nodes', key, '--url', server.url)
  expect(where).toMatchObject({ code: 0, stdout: expect.stringMatching(new RegExp(`^session/${key} is on ${names[1]}, process ${b.pid} on `)) })
  await Promise.all([stopNode(a), stopNode(b)])
})

test('when the node that has the session is killed in the middle of the tool, the other one finishes the turn', async () => {
  const [a, b] = [await up(aNode), await up(aNodeProcess)]
  const names = await shared(a, b)
  await startPython(a, b)
  const key = keyOn(names[1]!, names, 'k')
  const heard = await listenRaw(`statecast.out.session.${key}.>`)
  await rpc(a, 'chat.send', { sessionKey: key, message: 'weather_forecast {"city":"Bonn","days":40}', idempotencyKey: 'm1' })
  await vi.waitFor(() => expect(heard().some(({ phase }) => phase === 'progress')).toBe(true))

  b.kill()

  expect(await rpc(a, 'agent.wait', { sessionKey: key, runId: 'm1' })).toMatchObject({
    status: 'completed',
    toolCalls: 1,
    text: expect.stringContaining('day 40: '),
  })
  await vi.waitFor(() => expect(heard().filter(({ type }) => type === 'final')).toHaveLength(1))
  await vi.waitFor(async () => {
    const { lines } = await statecast({ folder: aFolder() }, 'nodes', '--url', server.url, '--json')
    expect(lines.map((line) => JSON.parse(line).id)).toEqual([names[0]])
  })
})

test('clients of the agent protocol find both nodes, and whoever of them is asked answers, also for a session on the other one', async () => {
  const beats: string[] = []
  const listening = nc.subscribe('agents.hb.main.alice.main', {
    callback: (_, message) => void beats.push(message.json<{ instance_id: string }>().instance_id),
  })
  await nc.flush()
  const [a, b] = [await up(aNode), await up(aNode)]
  const names = await shared(a, b)
  await startPython(a, b)
  const found: string[] = []
  for await (const message of await nc.requestMany('$SRV.INFO.agents', '', { strategy: 'count', maxMessages: 2, maxWait: 10_000 } as never))
    found.push(message.json<{ id: string }>().id)
  const name = keyOn(names[1]!, names, 'agent:main:alice:p').slice('agent:main:alice:'.length)

  // More prompts than nodes, so that each of them answers some.
  for (let turn = 0; turn < 6; turn++) {
    const chunks: { type?: string; data?: any }[] = []
    for await (const message of await nc.requestMany(`agents.prompt.main.alice.${name}`, 'weather_forecast {"city":"Bonn","days":1}', {
      strategy: 'timer',
      maxWait: 60_000,
    } as never)) {
      if (message.data.length === 0) break
      chunks.push(message.json())
    }
    expect(chunks[0]).toEqual({ type: 'status', data: 'ack' })
    expect(chunks.flatMap(({ type, data }) => (type === 'response' ? [data] : [])).join('')).toContain('day 1: ')
  }
  listening.unsubscribe()

  expect(new Set(beats)).toEqual(new Set(found))
  expect(found).toHaveLength(2)
  expect(
    (await rpc(a, 'chat.history', { sessionKey: `agent:main:alice:${name}` })).messages.filter(({ role }: { role: string }) => role === 'user'),
  ).toHaveLength(6)
})

test.runIf(process.env.STATECAST_GO)(
  'a tool in Go answers as one in Python does (with STATECAST_GO=1, since a Go is fetched first)',
  { timeout: 600_000 },
  async () => {
    const go = startProgram(await goExample(), server.url)
    programs.push(go)
    await go.said('serves statecast.tools.roman.numeral')
    const [a, b] = [await up(aNode), await up(aNode)]
    const names = await shared(a, b)
    await knows('roman_numeral', a, b)
    const key = keyOn(names[1]!, names, 'go')
    const heard = await listenRaw(`statecast.out.session.${key}.>`)

    await rpc(a, 'chat.send', { sessionKey: key, message: 'roman_numeral {"number":1987}' })
    await vi.waitFor(() => expect(heard().some(({ type }) => type === 'final')).toBe(true))

    expect(heard().find(({ type }) => type === 'final')).toMatchObject({ toolCalls: 1, text: expect.stringContaining('MCMLXXXVII') })
    expect(heard().flatMap(({ type, phase }) => (type === 'tool' ? [phase] : []))).toEqual(['requested', 'completed'])
  },
)
