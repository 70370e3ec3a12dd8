/**
 * What does it cost that actors can be looked at where nobody does, and where one viewer does? And how long is it from a commit
 * to those who look? A viewer has the journal's growth over the socket of a gateway, and the tree as a receiver of the Stately inspector is told it.
 */
import { join } from 'node:path'
import { WebSocket } from 'ws'
import { serveGateway } from '../src/api/http/index.ts'
import type { Transport } from '../src/contracts/transport.ts'
import { openTransport } from '../src/index.ts'
import { amount, ask, goal, median, percentile, plainTable, quick, show, type Table } from './measure.ts'
import { startServer } from './nats/server.ts'
import { benchRuntime, instantModel, turn, withFolder } from './workload.ts'

const sessions = quick ? 5 : 50
const turns = amount(1000)
const token = 'a-token-of-the-benchmarks-alone'
const words = ['one ', 'two ', 'three']
const length = words.join('').length

type Options = { prefix: string; isOff?: boolean }

/** A node on a transport; `isOff` says nobody whenever the stream of inspection asks whether anybody listens. */
const aNode = async (url: string, { prefix, isOff = false }: Options) => {
  const opened = await openTransport(url, { prefix })
  /** By session and commit, when it stood. */
  const stood = new Map<string, number>()
  const transport: Transport = {
    ...opened,
    bus: { ...opened.bus, wanted: (subject) => !(isOff && subject?.includes('.inspect.')) && opened.bus.wanted(subject) },
    journal: {
      ...opened.journal,
      append: async (address, expected, ...rest) => {
        const answer = await opened.journal.append(address, expected, ...rest)
        stood.set(`${address.id} ${expected + 1}`, performance.now())
        return answer
      },
    },
  }
  const runtime = await benchRuntime({ transport, prefix }, instantModel(words))
  const gateway = await serveGateway({ runtime: () => runtime, log: runtime.log, host: '127.0.0.1', port: 0, tokens: [token] })
  const close = async () => {
    await gateway.close()
    await runtime.close()
    await opened.close()
  }
  return { runtime, url: gateway.url.replace('http', 'ws'), stood, close }
}
type Node = Awaited<ReturnType<typeof aNode>>

const opened = async (url: string, hear: (frame: any) => void): Promise<WebSocket> => {
  const socket = new WebSocket(url)
  socket.on('message', (data: Buffer) => hear(JSON.parse(data.toString())))
  await new Promise((resolve) => socket.once('open', resolve))
  return socket
}

/** Looks at a session that is there. `late` are ms after each commit, by who heard of it. */
const aViewer = async ({ runtime, url, stood }: Node, id: string) => {
  const late = { grown: [] as number[], told: [] as number[] }
  const first = Promise.withResolvers<void>()
  let told = 0
  const since = (seq: number): number | undefined => {
    const at = stood.get(`${id} ${seq}`)
    return at === undefined ? undefined : performance.now() - at
  }
  const note = (into: number[], seq: number): void => {
    const ms = since(seq)
    if (ms !== undefined) into.push(ms)
  }
  const { path } = await runtime.command<{ path: string }>('trace.relay', { id })
  const receiver = await opened(`${url}${path}`, ({ type, seq }) => {
    first.resolve()
    if (type !== '@xstate.snapshot' || seq <= told) return
    told = seq
    note(late.told, seq)
  })
  const ready = Promise.withResolvers<void>()
  const socket = await opened(`${url}/ws`, (frame) => {
    if (frame.id === 'subscribe') ready.resolve()
    if (frame.event === 'trace.grown') note(late.grown, frame.payload.seq)
  })
  const say = (method: string, params: object) => socket.send(JSON.stringify({ type: 'req', id: method.split('.').at(-1), method, params }))
  say('connect', { minProtocol: 1, maxProtocol: 1, client: { name: 'bench' }, auth: { token } })
  await new Promise((resolve) => setTimeout(resolve, 50))
  say('trace.subscribe', { id })
  await Promise.all([first.promise, ready.promise])
  return {
    late,
    close: () => {
      receiver.terminate()
      socket.terminate()
    },
  }
}

let round = 0
/** Turns a second of sessions that are new, each with one turn behind it. */
const work = async (node: Node, viewers: number, each = turns / sessions) => {
  const keys = Array.from({ length: sessions }, (_, index) => `r${round}-${index}`)
  round++
  await Promise.all(keys.map((key) => turn(node.runtime, key, 'tool', length)))
  const watching = await Promise.all(keys.slice(0, viewers).map((key) => aViewer(node, key)))
  const start = performance.now()
  await Promise.all(
    keys.map(async (key) => {
      for (let count = 0; count < each; count++) await turn(node.runtime, key, 'tool', length)
    }),
  )
  const rate = (sessions * each * 1000) / (performance.now() - start)
  for (const { close } of watching) close()
  node.stood.clear()
  return { rate, late: watching.map(({ late }) => late) }
}

/** One session with a person behind it, beside others that are busy. */
const lags = async (node: Node) => {
  await turn(node.runtime, `lag-${round}`, 'tool', length)
  const viewer = await aViewer(node, `lag-${round}`)
  let ends = false
  const busy = Array.from({ length: 4 }, async (_, index) => {
    while (!ends) await turn(node.runtime, `lag-${round}-${index}`, 'tool', length)
  })
  for (let count = 0; count < amount(200); count++) await turn(node.runtime, `lag-${round}`, 'tool', length)
  ends = true
  await Promise.all(busy)
  await new Promise((resolve) => setTimeout(resolve, 200))
  viewer.close()
  round++
  return viewer.late
}

/** A node for each: what a store has grown by in one contender's rounds is no burden of another's. */
const throughput = (name: string, { off, alone, seen }: Record<'off' | 'alone' | 'seen', Node>): Promise<Table> =>
  ask({
    title: `tool turns of ${sessions} sessions at once, ${name}`,
    unit: 'turns/s',
    rounds: 7,
    contenders: [
      { name: 'floor: the stream of inspection switched off', round: async () => (await work(off, 0)).rate },
      { name: 'nobody looks', round: async () => (await work(alone, 0)).rate },
      { name: 'one viewer, of one session', round: async () => (await work(seen, 1)).rate },
    ],
    goals: [
      { row: 'nobody looks', of: 'ratio', bound: 'at least', limit: 0.97 },
      { row: 'one viewer, of one session', of: 'ratio', bound: 'at least', limit: 0.9 },
    ],
  })

const lag = async (name: string, node: Node): Promise<Table> => {
  const { grown, told } = await lags(node)
  const figures = [
    ['trace.grown on the socket, p50', median(grown)],
    ['trace.grown on the socket, p99', percentile(grown, 0.99)],
    ['a state of it at the receiver, p50', median(told)],
    ['a state of it at the receiver, p99', percentile(told, 0.99)],
  ] as const
  const table = plainTable(`from a commit that stands to who looks at it, beside four busy sessions, ${name}`, 'ms', figures, [
    goal(figures[1][0], figures[1][1], 'at most', 150, 'ms'),
    goal(figures[3][0], figures[3][1], 'at most', 150, 'ms'),
  ])
  show(table)
  return table
}

export const run = (): Promise<Table[]> =>
  withFolder(async (folder) => {
    const server = await startServer(folder)
    const tables: Table[] = []
    try {
      const places = [
        ['on disk and synced', (part: string) => `embedded:${join(folder, part)}`],
        ['on NATS', () => server.url],
      ] as const
      for (const [name, url] of places) {
        const node = (prefix: string, isOff = false) => aNode(url(prefix), { prefix, isOff })
        const nodes = { off: await node('off', true), alone: await node('alone'), seen: await node('seen') }
        tables.push(await throughput(name, nodes), await lag(name, nodes.seen))
        await Promise.all(Object.values(nodes).map(({ close }) => close()))
      }
      return tables
    } finally {
      await server.stop()
    }
  })

if (import.meta.main) {
  await run()
  if (!quick) process.exit()
}
