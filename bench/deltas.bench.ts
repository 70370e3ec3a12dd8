/** How many deltas per second reach somebody who listens in the same process, each once and in order? */
import { EventEmitter } from 'node:events'
import type { Runtime } from '../src/index.ts'
import { amount, ask, type Table } from './measure.ts'
import { benchRuntime, delta, instantModel } from './workload.ts'

/** Fewer than a run keeps for a reader who is late (100,000), so that none may be missing. */
const count = amount(50_000)

/** Throws at once when a delta is missing, double or out of order. */
const inOrder = () => {
  let next = 0
  return {
    take(index: number): void {
      if (index !== next) throw new Error(`delta ${index} came where ${next} was due`)
      next++
    },
    end(): void {
      if (next !== count) throw new Error(`${next} of ${count} deltas came`)
    },
  }
}

const perSecond = (start: number): number => (count * 1000) / (performance.now() - start)

async function* generated(): AsyncGenerator<{ index: number; text: string }> {
  for (let index = 0; index < count; index++) yield { index, text: delta }
}

const generator = async (): Promise<number> => {
  const order = inOrder()
  const start = performance.now()
  for await (const { index } of generated()) order.take(index)
  order.end()
  return perSecond(start)
}

const emitter = async (): Promise<number> => {
  const order = inOrder()
  const events = new EventEmitter()
  events.on('delta', ({ index }: { index: number; text: string }) => order.take(index))
  const start = performance.now()
  for (let index = 0; index < count; index++) {
    await Promise.resolve()
    events.emit('delta', { index, text: delta })
  }
  order.end()
  return perSecond(start)
}

/** A whole turn: message, deltas, answer in the journal of a store in memory. */
const turnOf = (runtime: Runtime, name: string) => {
  let session = 0
  return async (): Promise<number> => {
    const order = inOrder()
    const start = performance.now()
    const run = await runtime.session(`${name}-${session++}`).send('plain')
    for await (const event of run.events()) if (event.type === 'delta') order.take(event.index)
    order.end()
    const rate = perSecond(start)
    const { text } = await run.result()
    if (text.length !== count * delta.length) throw new Error(`the answer has ${text.length} characters`)
    return rate
  }
}

export const run = async (): Promise<Table[]> => {
  const chunks = Array<string>(count).fill(delta)
  const single = await benchRuntime({ transport: 'memory:' }, instantModel(chunks))
  const socket = await benchRuntime({ transport: 'memory:' }, instantModel(chunks, 500))
  const ofSocket = 'statecast, 500 deltas a turn of the event loop'
  const ofSingle = 'statecast, an await a delta'
  const table = await ask({
    title: `deltas of one turn to a reader of run.events(), ${count.toLocaleString('en')} in all`,
    unit: 'deltas/s',
    contenders: [
      { name: 'floor: for await over a bare async generator', round: generator },
      { name: 'floor: a bare EventEmitter, an await a delta', round: emitter },
      { name: ofSingle, round: turnOf(single, 'single') },
      { name: ofSocket, round: turnOf(socket, 'socket') },
    ],
    goals: [ofSingle, ofSocket].map((row) => ({ row, of: 'median', bound: 'at least', limit: 1_000_000 })),
  })
  await single.close()
  await socket.close()
  return [table]
}

if (import.meta.main) await run()
