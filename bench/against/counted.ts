/** What turns ask of their store, counted and not timed, in a child process of `bench/against.ts`: the same figures on every run. */
import { writeSync } from 'node:fs'
import type { Transport } from '../../src/index.ts'
import { serve } from '../child.ts'
import type { Message } from '../script.ts'
import { commitMore, type Plant } from './plant.ts'
import { repeatable } from './repeatable.ts'
import { openTree } from './tree.ts'

/** @property monitor of the nats-server behind `transport`, if it is one */
export type CountedInput = { root: string; transport: string; monitor?: string; message: Message; plant?: Plant | undefined }
/** For all turns together. `sent` and `sentBytes` are messages that a nats-server received. */
export type Counted = { turns: number; commits: number; roundTrips: number; sent?: number; sentBytes?: number }
/** Printed before and after the turns: with them the trace of the disk is cut (`test/crash/disk.c` records what is printed as well). */
export const marks = { begin: 'begin\n', end: 'end\n' }

const sessions = 4
const turnsEach = 10

type Calls = { commits: number; roundTrips: number }

/** Counts what is called, on any part of it: what answers with a promise is a round trip to a store that is elsewhere. */
const counting = (transport: Transport, calls: Calls): Transport => {
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

type Connections = { connections: { in_msgs: number; in_bytes: number }[] }
const received = async (monitor: string): Promise<{ sent: number; sentBytes: number }> => {
  const { connections } = (await (await fetch(`${monitor}/connz`)).json()) as Connections
  const sum = (of: (connection: Connections['connections'][number]) => number) => connections.reduce((all, connection) => all + of(connection), 0)
  return { sent: sum(({ in_msgs }) => in_msgs), sentBytes: sum(({ in_bytes }) => in_bytes) }
}

serve<CountedInput>(async ({ root, transport: url, monitor, message, plant }): Promise<Counted> => {
  const { environment, stop, goOn } = repeatable()
  const tree = await openTree(root)
  const transport = await tree.openTransport(url, { environment })
  const calls: Calls = { commits: 0, roundTrips: 0 }
  const counted = counting(transport, calls)
  const started = await tree.start({ transport: counted, environment })
  const planted = plant?.kinds.includes('commit') ? commitMore(counted) : undefined
  // What only the first turns of a process need is left out.
  await started.turn('before', message)
  stop()
  // Behind everything that was sent before it.
  const settled = async () => {
    await transport.journal.head({ kind: 'session', id: 'before' })
    return monitor === undefined ? undefined : received(monitor)
  }
  const before = { ...calls, ...(await settled()) }
  writeSync(1, marks.begin)
  for (let session = 0; session < sessions; session++)
    for (let index = 0; index < turnsEach; index++) {
      await started.turn(`session-${session}`, message)
      await planted?.()
    }
  writeSync(1, marks.end)
  const after = { ...calls, ...(await settled()) }
  goOn()
  await started.close()
  await transport.close()
  const rise = (name: keyof typeof after): number => (after[name] ?? 0) - (before[name] ?? 0)
  const onNats = monitor === undefined ? {} : { sent: rise('sent'), sentBytes: rise('sentBytes') }
  return { turns: sessions * turnsEach, commits: rise('commits'), roundTrips: rise('roundTrips'), ...onNats }
})
