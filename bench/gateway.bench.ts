/** How long is it from `chat.send` on a WebSocket to the first word on the same socket, with a model that answers at once? */
import { join } from 'node:path'
import { WebSocket, WebSocketServer } from 'ws'
import { serveGateway } from '../src/api/http/index.ts'
import type { Runtime } from '../src/index.ts'
import { amount, ask, median, percentile, type Table } from './measure.ts'
import { benchRuntime, instantModel, withFolder } from './workload.ts'

const turns = amount(200)
const token = 'a-token-of-the-benchmarks-alone'

type Frame = { type: string; id?: string; event?: string; payload?: { runId?: string; state?: string; message?: object } }

/** A client with nothing of ours in it. */
const connect = async (url: string) => {
  const socket = new WebSocket(url)
  await new Promise((resolve) => socket.once('open', resolve))
  let hear: (frame: Frame) => void = () => undefined
  socket.on('message', (data: Buffer) => hear(JSON.parse(data.toString()) as Frame))
  const until = (fits: (frame: Frame) => boolean): Promise<void> =>
    new Promise((resolve) => {
      hear = (frame) => fits(frame) && resolve()
    })
  const say = (frame: object): void => socket.send(JSON.stringify(frame))
  return { say, until, close: () => socket.terminate() }
}

/** µs of each turn of one warm session until its first word is there. */
const firstWords = async (url: string): Promise<number[]> => {
  const { say, until, close } = await connect(`${url.replace('http', 'ws')}/ws`)
  const params = { minProtocol: 1, maxProtocol: 1, client: { name: 'bench' }, caps: ['chat.patch'], auth: { token } }
  say({ type: 'req', id: 'connect', method: 'connect', params })
  await until(({ id }) => id === 'connect')
  const took: number[] = []
  for (let turn = 0; turn < turns; turn++) {
    const runId = `${performance.now()}`
    const start = performance.now()
    say({ type: 'req', id: runId, method: 'chat.send', params: { sessionKey: 'main', message: 'plain', idempotencyKey: runId } })
    await until(({ event, payload }) => event === 'chat' && payload?.runId === runId && payload.message !== undefined)
    took.push((performance.now() - start) * 1000)
    await until(({ event, payload }) => event === 'session.state' && payload?.state === 'awaiting-input')
  }
  close()
  return took
}

/** A frame there and back, parsed on both sides: what any server with a WebSocket needs. */
const echo = async () => {
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1', perMessageDeflate: false })
  server.on('connection', (socket) => socket.on('message', (data: Buffer) => socket.send(JSON.stringify(JSON.parse(data.toString())))))
  await new Promise((resolve) => server.once('listening', resolve))
  const { port } = server.address() as { port: number }
  const round = async (): Promise<number[]> => {
    const { say, until, close } = await connect(`ws://127.0.0.1:${port}`)
    const took: number[] = []
    for (let turn = 0; turn < turns; turn++) {
      const id = `${turn}`
      const start = performance.now()
      say({ type: 'req', id, method: 'echo', params: { message: 'plain' } })
      await until((frame) => frame.id === id)
      took.push((performance.now() - start) * 1000)
    }
    close()
    return took
  }
  return { round, close: () => server.close() }
}

export const run = (): Promise<Table[]> =>
  withFolder(async (folder) => {
    const floor = await echo()
    const open = async (transport: string) => {
      const runtime: Runtime = await benchRuntime({ transport }, instantModel(['one ', 'two ', 'three']))
      const gateway = await serveGateway({ runtime: () => runtime, log: runtime.log, host: '127.0.0.1', port: 0, tokens: [token] })
      return { round: () => firstWords(gateway.url), close: () => gateway.close().then(() => runtime.close()) }
    }
    const [memory, disk] = ['statecast, in memory', 'statecast, on disk and synced'] as const
    const [inMemory, onDisk] = [await open('memory:'), await open(`embedded:${join(folder, 'store')}`)]
    const asked = (title: string, unit: string, of: (took: number[]) => number, limit: number): Promise<Table> =>
      ask({
        title,
        unit,
        rounds: 3,
        contenders: [
          { name: 'floor: a frame there and back', round: async () => of(await floor.round()) },
          { name: memory, round: async () => of(await inMemory.round()) },
          { name: disk, round: async () => of(await onDisk.round()) },
        ],
        goals: [memory, disk].map((row) => ({ row, of: 'median', bound: 'at most', limit })),
      })
    const title = 'from chat.send to the first word on the same WebSocket, a model that answers at once, a warm session'
    const tables = [
      await asked(title, 'µs, p50', median, 5_000),
      await asked(`${title}, the slowest of twenty`, 'µs, p95', (took) => percentile(took, 0.95), 20_000),
    ]
    floor.close()
    await Promise.all([inMemory.close(), onDisk.close()])
    return tables
  })

if (import.meta.main) await run()
