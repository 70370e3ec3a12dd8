/** How many deltas per second reach somebody who holds nothing but a NATS connection, each once and in order? And how late is one? */
import { setTimeout as pause } from 'node:timers/promises'
import { jetstream, jetstreamManager } from '@nats-io/jetstream'
import { connect, type NatsConnection } from '@nats-io/transport-node'
import type { Model } from '../src/index.ts'
import { amount, ask, median, percentile, plainTable, show, type Table } from './measure.ts'
import { startServer } from './nats/server.ts'
import { benchRuntime, delta, instantModel, usage, withFolder } from './workload.ts'

const perTurn = 1_000
const turns = amount(100)

const encoder = new TextEncoder()
const decoder = new TextDecoder()

type Piece = { type: 'delta'; runId: string; index: number; text: string }
const floorStream = 'FLOOR'

type Parts = { node: NatsConnection; watcher: NatsConnection; url: string }

/** A turn's two appends with its deltas between them. @param together one message for what comes in one turn of the event loop, else one each */
const floor =
  ({ node, watcher }: Parts, together: boolean) =>
  async (): Promise<number> => {
    const js = jetstream(node)
    let place = 0
    const append = async (entry: object): Promise<void> => {
      place = (await js.publish('floor.log', encoder.encode(JSON.stringify(entry)), { expect: { lastSubjectSequence: place } })).seq
    }
    await (await jetstreamManager(node)).streams.purge(floorStream)
    let heard = 0
    let all = Promise.withResolvers<void>()
    const subscription = watcher.subscribe('floor.deltas', {
      callback: (_, { data }) => {
        for (const { index } of JSON.parse(decoder.decode(data)) as Piece[]) if (index !== heard++) throw new Error(`delta ${index} came too early`)
        if (heard === perTurn) all.resolve()
      },
    })
    await watcher.flush()
    const start = performance.now()
    for (let turn = 0; turn < turns; turn++) {
      heard = 0
      all = Promise.withResolvers()
      await append({ message: 'plain' })
      const waiting: Piece[] = []
      const send = () => node.publish('floor.deltas', encoder.encode(JSON.stringify(waiting.splice(0))))
      let text = ''
      for (let index = 0; index < perTurn; index++) {
        await Promise.resolve()
        text += delta
        if (waiting.push({ type: 'delta', runId: 'r', index, text: delta }) === 1 && together) setImmediate(send)
        else if (!together) send()
      }
      await append({ text })
      await all.promise
    }
    subscription.unsubscribe()
    return (turns * perTurn * 1000) / (performance.now() - start)
  }

const ours = ({ watcher, url }: Parts) => {
  const opening = benchRuntime({ transport: url }, instantModel(Array<string>(perTurn).fill(delta)))
  let session = 0
  const round = async (): Promise<number> => {
    const runtime = await opening
    const name = `deltas-${session++}`
    let next = 0
    let ended = Promise.withResolvers<void>()
    const subscription = watcher.subscribe(`statecast.out.session.${name}.>`, {
      callback: (_, message) => {
        if (message.subject.endsWith('.final')) return ended.resolve()
        if (!message.subject.endsWith('.delta')) return
        const { index, count = 1 } = message.json<{ index: number; count?: number }>()
        if (index !== next) throw new Error(`delta ${index} came where ${next} was due`)
        next += count
      },
    })
    await watcher.flush()
    const start = performance.now()
    for (let turn = 0; turn < turns; turn++) {
      next = 0
      ended = Promise.withResolvers()
      await runtime.session(name).command({ type: 'message', text: 'plain' })
      await ended.promise
      if (next !== perTurn) throw new Error(`${next} of ${perTurn} deltas came`)
    }
    subscription.unsubscribe()
    return (turns * perTurn * 1000) / (performance.now() - start)
  }
  return { round, close: async () => (await opening).close() }
}

const paced = amount(500)
const paceMs = 4

/** From the model's word to the watcher's ear, for deltas with pauses between them. */
const lateness = async ({ watcher, url }: Parts): Promise<number[]> => {
  const said: number[] = []
  const took: number[] = []
  const model: Model = {
    ref: 'bench/instant',
    call: async (_, { onDelta }) => {
      for (let index = 0; index < paced; index++) {
        said.push(performance.now())
        onDelta({ kind: 'text', text: delta })
        await pause(paceMs)
      }
      return { reasoning: '', usage, model: 'bench/instant', partial: false, text: delta.repeat(paced), calls: [], finish: 'stop' }
    },
  }
  const runtime = await benchRuntime({ transport: url }, model)
  const ended = Promise.withResolvers<void>()
  watcher.subscribe('statecast.out.session.paced.>', {
    callback: (_, message) => {
      if (message.subject.endsWith('.final')) ended.resolve()
      else if (message.subject.endsWith('.delta')) took.push(performance.now() - (said[message.json<{ index: number }>().index] as number))
    },
  })
  await watcher.flush()
  await runtime.session('paced').command({ type: 'message', text: 'plain' })
  await ended.promise
  await runtime.close()
  return took
}

export const run = async (): Promise<Table[]> =>
  withFolder(async (folder) => {
    const server = await startServer(folder)
    const [node, watcher] = await Promise.all([connect({ servers: server.url }), connect({ servers: server.url })])
    const parts = { node, watcher, url: server.url }
    await (await jetstreamManager(node)).streams.add({ name: floorStream, subjects: ['floor.log'] })
    const own = ours(parts)
    const name = 'statecast, whole turns with their commits'
    const rates = await ask({
      title: `turns of ${perTurn.toLocaleString('en')} deltas to a subscriber with nothing but a connection`,
      unit: 'deltas/s',
      contenders: [
        { name: 'floor: two appends, a message for each turn of the event loop', round: floor(parts, true) },
        { name: 'floor: two appends, a message for each delta', round: floor(parts, false) },
        { name, round: own.round },
      ],
      goals: [{ row: name, of: 'ratio', bound: 'at least', limit: 0.5 }],
    })
    await own.close()
    const late = await lateness(parts)
    const table = plainTable(`from the model's word to a watcher over NATS, a word every ${paceMs} ms`, 'ms', [
      ['p50', median(late)],
      ['p99', percentile(late, 0.99)],
    ])
    show(table)
    await Promise.all([node.close(), watcher.close()])
    await server.stop()
    return [rates, table]
  })

if (import.meta.main) await run()
