/** What does a root add to an event of a plain XState machine, when nothing is stored? */
import { Host } from '../src/actors/host/host.ts'
import { registerMachine } from '../src/actors/registration.ts'
import type { Journal } from '../src/contracts/transport.ts'
import { systemEnvironment } from '../src/runtime/system-environment.ts'
import { amount, ask, type Table } from './measure.ts'
import { light, plainEvents } from './workload.ts'

/** A journal that says ok and keeps nothing. */
const nowhere = {
  append: () => Promise.resolve({ outcome: 'ok' }),
  read: () => Promise.resolve([]),
  snapshot: () => Promise.resolve(undefined),
  head: () => Promise.resolve(undefined),
  saveSnapshot: () => Promise.resolve(),
  due: () => Promise.resolve([]),
} as unknown as Journal

const events = amount(100_000)
const text = 'a short message'

const rooted = (inFlight: number) => async (): Promise<number> => {
  const host = new Host({ journal: nowhere, environment: systemEnvironment(), registrations: [registerMachine('light', light)] })
  const root = await host.get({ kind: 'light', id: 'x' })
  const start = performance.now()
  for (let sent = 0; sent < events; sent += inFlight) await Promise.all(Array.from({ length: inFlight }, () => root.send({ type: 'next', text })))
  const result = ((performance.now() - start) * 1000) / events
  await host.close()
  return result
}

export const run = async (): Promise<Table[]> => [
  await ask({
    title: 'an event of a root against plain XState, without I/O',
    unit: 'µs per event',
    contenders: [
      { name: 'plain XState, actor.send', round: () => plainEvents(events) },
      { name: 'root, 1,000 in flight', round: rooted(1000) },
      { name: 'root, 100 in flight', round: rooted(100) },
      { name: 'root, one at a time (a commit each)', round: rooted(1) },
    ],
    goals: [{ row: 'root, 1,000 in flight', of: 'ratio', bound: 'at most', limit: 1.6 }],
  }),
]

if (import.meta.main) await run()
