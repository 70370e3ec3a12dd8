/** Stories told in memory and then on a NATS server: each has to come true there too, and to leave the same trace, but for ids and times. */

import { expect, test } from 'vitest'
import { partitionCount } from '../../../src/contracts/placement.ts'
import { formatAddress } from '../../../src/contracts/subjects.ts'
import { partsOf } from '../../../src/runtime/index.ts'
import { type TestRuntime, virtualClock } from '../../../src/testing/index.ts'
import { ownNats } from '../../support/nats.ts'
import { natsStore } from '../../support/nats-store.ts'
import type { Telling } from '../../support/telling.ts'
import { retell } from './retold.ts'

/** ms of virtual time after which a story is told by a lone process: a node says every second that it is there, and each time is a trip to the server. */
const longMs = 2 * 60_000
/**
 * Of a node: its word, looks at those of others, at what is due and at who may leave memory; and what comes a moment after the last commit: a wake-up for each actor, the mark of the
 * journal, and the line of the log about its partitions. How few there may be otherwise, the story says that is told in memory.
 */
const timersOfNode = 11

/** What one story came to: how long it took, and what its actors took in, one by one. */
type Told = { ms: number; trace: Record<string, string[]> }

const toldBy = async (kit: TestRuntime): Promise<Told> => {
  // Wherever the story stops, what it has set going comes to rest.
  await kit.clock.settle()
  const trace: Record<string, string[]> = {}
  const { journal } = partsOf(kit.runtime).transport
  for (const { address } of await journal.list())
    for await (const { actor, event } of kit.runtime.trace(address)) {
      if (/^(?:claimed|taken over) by /.test(event)) continue
      const name = `${formatAddress(address)} ${actor}`
      trace[name] = [...(trace[name] ?? []), event]
    }
  return { ms: kit.clock.now() - virtualClock().now(), trace }
}

/** Stories by the test that tells them, in the order in which they ended. */
type Memory = Map<string, Told[]>
const remember = async (record: Memory, name: string, kit: TestRuntime): Promise<void> => {
  const told = await toldBy(kit).catch(() => undefined)
  if (told) record.set(name, [...(record.get(name) ?? []), told])
}

/** What happens on such an afternoon is drawn by lot from what has happened so far. */
const apart = /random/

/** @param wanted which of the stories are told */
export const retellOnNats = (given: readonly string[], wanted: (test: string) => boolean = () => true): void => {
  const files = given.filter((file) => !apart.test(file))
  // What a machine loses when its power is cut is another test's matter.
  const server = ownNats({ jetStreamConfig: 'sync_interval: 2m' })
  const embedded: Memory = new Map()
  const onNats: Memory = new Map()
  let count = 0

  retell({ name: 'embedded', files, wanted, how: (name) => ({ end: (kit) => remember(embedded, name, kit) }) })
  retell({
    name: 'on NATS',
    files,
    wanted,
    how: (name): Telling => {
      const alone = (embedded.get(name) ?? []).some(({ ms }) => ms > longMs)
      const prefix = `story${++count}x`
      const store = natsStore(server.url, prefix, { alone })
      const seated = async (kit: TestRuntime) => {
        while (!alone && kit.runtime.nodes()[0]?.partitions !== partitionCount) await kit.clock.settle()
      }
      return {
        options: { store, prefix },
        outside: () => store.outside(),
        timersAtRest: alone ? 3 : timersOfNode,
        begin: async (kit) => {
          await seated(kit)
          const restart: TestRuntime['restart'] = async (changes) => {
            const next = await kit.restart(changes)
            await seated(kit)
            return next
          }
          return { restart }
        },
        end: (kit) => remember(onNats, name, kit),
        gone: () => store.wipe(),
      }
    },
  })

  test('the traces are the same', () => {
    const traces = (memory: Memory) => Object.fromEntries([...memory].map(([name, stories]) => [name, stories.map(({ trace }) => trace)]))
    expect(onNats.size).toBeGreaterThan(0)
    expect(traces(onNats)).toEqual(traces(embedded))
  })
}
