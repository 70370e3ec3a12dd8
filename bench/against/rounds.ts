/** One round: a process for each side, both alive, slices in turn. */
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { memoryWithRoom } from '../../test/support/scratch.ts'
import { type Child, openChild } from '../child.ts'
import type { Plant } from './plant.ts'
import { leastOfSlices, type Round, type Side, sides } from './rules.ts'
import type { TimedInput } from './timed.ts'
import { everyWork, type Timed, type Work } from './works.ts'

const program = new URL('./timed.ts', import.meta.url)
/**
 * Room for all that a slice allocates, and no collection but the ones that a slice asks for. Compiler and collector work on the main thread: what they
 * do then depends on the code, and not on how busy the machine is.
 */
const flags = [
  '--expose-gc',
  '--min-semi-space-size=64',
  '--max-semi-space-size=64',
  '--initial-old-space-size=1024',
  '--single-threaded-gc',
  '--no-concurrent-recompilation',
]
/** Questions of each work. The first half warms the compiler up. */
const questions = 40

/** The stores of one round fit into it; containers often have 64 MiB. */
const roomMin = 512 * 1024 ** 2

/** A disk in memory where there is one with room: the speed of a disk is not ours, and what is written and synced is counted. */
export const storesParent = (): string => memoryWithRoom(roomMin) ?? tmpdir()

export type RoundOptions = { roots: Record<Side, string>; folder: string; channel: boolean; plant: Plant | undefined; isOdd: boolean }

export const takeRound = async ({ roots, folder, channel, plant, isOdd }: RoundOptions): Promise<Record<Side, Round>> => {
  const order = isOdd ? sides.toReversed() : sides
  const children = {} as Record<Side, Child>
  const ask = <Out>(side: Side, input: TimedInput): Promise<Out> => children[side].ask<Out>(input)
  const taken = { baseline: new Map<Work, Timed[]>(), now: new Map<Work, Timed[]>() }
  try {
    for (const side of order) {
      children[side] = openChild(program, { flags })
      const extra = side === 'now' ? { channel, plant } : { channel: false }
      await ask(side, { open: { root: roots[side], store: join(folder, side), ...extra } })
    }
    for (let index = 0; index < questions; index++)
      // A B B A: neither is always the first, and both meet the same machine.
      for (const work of everyWork)
        for (const side of index % 2 === 0 ? order : order.toReversed()) {
          const timed = await ask<Timed[]>(side, { slice: work })
          taken[side].set(work, [...(taken[side].get(work) ?? []), ...timed])
        }
    for (const side of sides) await ask(side, { close: true })
  } finally {
    await Promise.all(Object.values(children).map((child) => child.end()))
  }
  const roundOf = (side: Side): Round => Object.fromEntries([...taken[side]].map(([work, all]) => [work, leastOfSlices(all)]))
  return { baseline: roundOf('baseline'), now: roundOf('now') }
}
