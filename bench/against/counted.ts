/** What turns ask of their store, counted and not timed, in a child process of `bench/against.ts`: the same figures on every run. */
import { writeSync } from 'node:fs'
import type { Transport } from '../../src/index.ts'
import { serve } from '../child.ts'
import type { Message } from '../script.ts'
import { marks, sessionPrefix } from './marks.ts'
import { commitMore, type Plant } from './plant.ts'
import { repeatable } from './repeatable.ts'
import { openTree } from './tree.ts'

export type CountedInput = { root: string; transport: string; message: Message; plant?: Plant | undefined }
/** For all turns together. */
export type Counted = { turns: number; commits: number; roundTrips: number }

const sessions = 4
const turnsEach = 10
/** Long past the last write of a turn: an idle store writes at once. */
const settleMs = 50

type Calls = { commits: number; roundTrips: number }

/** Counts what is called, on any part of it: what answers with a promise is a round trip to a store that is elsewhere. */
const withCounters = (transport: Transport, calls: Calls): Transport => {
  const part = <Part extends object>(of: Part): Part =>
    new Proxy(of, {
      get(target, name) {
        const value: unknown = Reflect.get(target, name)
        if (typeof value !== 'function') return value
        return (...parameters: unknown[]): unknown => {
          const result: unknown = Reflect.apply(value, target, parameters)
          if (result instanceof Promise) calls.roundTrips++
          if (name === 'append') calls.commits++
          return result
        }
      },
    })
  const { journal, bus, inbox, registry, blobs } = transport
  const parts = { journal: part(journal), bus: part(bus), inbox: part(inbox), registry: part(registry), blobs: part(blobs) }
  return new Proxy(transport, { get: (target, name) => Reflect.get(parts, name) ?? Reflect.get(target, name) })
}

serve<CountedInput>(async ({ root, transport: url, message, plant }): Promise<Counted> => {
  const { environment, stop, goOn } = repeatable()
  const tree = await openTree(root)
  const transport = await tree.openTransport(url, { environment })
  const calls: Calls = { commits: 0, roundTrips: 0 }
  const counted = withCounters(transport, calls)
  const started = await tree.start({ transport: counted, environment })
  const planted = plant?.kinds.includes('commit') ? commitMore(counted, `${sessionPrefix}plant`) : undefined
  // What only the first turn of a process needs is left out.
  await started.turn('before', message)
  stop()
  const before = { ...calls }
  writeSync(1, marks.begin)
  for (let session = 0; session < sessions; session++)
    for (let index = 0; index < turnsEach; index++) {
      await started.turn(`${sessionPrefix}${session}`, message)
      await planted?.()
    }
  // The store writes what the last turn left before the count ends.
  await new Promise((resolve) => setTimeout(resolve, settleMs))
  writeSync(1, marks.end)
  const after = { ...calls }
  goOn()
  await started.close()
  await transport.close()
  return { turns: sessions * turnsEach, commits: after.commits - before.commits, roundTrips: after.roundTrips - before.roundTrips }
})
