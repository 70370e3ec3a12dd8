/** States kept on the way through a journal: how near one is to any moment, and how much all of them may hold. */
import { expect, test } from 'vitest'
import { assign, setup } from 'xstate'
import { Fold } from '../../../src/actors/index.ts'
import { KeptStates } from '../../../src/actors/inspection/kept-states.ts'
import type { Replica } from '../../../src/actors/replica/replica.ts'
import type { Commit } from '../../../src/contracts/journal.ts'
import { formatAddress } from '../../../src/contracts/subjects.ts'
import { partsOf } from '../../../src/runtime/index.ts'
import { testRuntime } from '../../../src/testing/index.ts'

const types = {} as { context: { count: number }; events: { type: 'more' } }

/** A tree of which nothing is known but how much it holds. */
const aTree = (size: number) => ({ persisted: () => ({ tree: 'x'.repeat(size), timers: [], effects: [] }) }) as unknown as Replica
const aCommit = (seq: number) => ({ seq, at: 1000 + seq, epoch: 1 }) as Commit
/** @returns the commits between two neighbours, from the beginning on */
const gone = (kept: KeptStates, head: number, sizeOf: (seq: number) => number): number[] => {
  for (let seq = 1; seq <= head; seq++) kept.pass(aCommit(seq), aTree(sizeOf(seq)))
  const there = Array.from({ length: head }, (_, index) => index + 1).filter((seq) => kept.below(seq) === seq)
  return there.map((seq, index) => seq - (there[index - 1] ?? 0))
}

test('to go to any moment, few commits are applied again', async () => {
  let applied = 0
  const counter = setup({
    types,
    actions: {
      count: assign(({ context }) => {
        applied++
        return { count: context.count + 1 }
      }),
    },
  }).createMachine({ id: 'counter', context: { count: 0 }, on: { more: { actions: 'count' } } })
  await using kit = await testRuntime({ machines: { counter } })
  const actor = kit.runtime.actor('counter', 'c-1')
  for (let count = 0; count < 300; count++) await kit.clock.until(actor.send({ type: 'more' }))
  const { journal } = partsOf(kit.runtime).transport
  const fold = new Fold({
    address: formatAddress(actor.address),
    registration: kit.runtime.registration('counter'),
    frames: (from, limit) => journal.read(actor.address, from, { limit }),
  })
  const last = await fold.moment(300)

  for (const seq of [249, 7, 131, 299]) {
    applied = 0
    const { actors } = await fold.moment(seq)
    expect(actors[0]?.context).toEqual({ count: seq })
    expect(applied).toBeLessThan(10)
  }
  expect(await fold.moment(300)).toEqual(last)
})

test('large states are kept further apart, and small ones are near each other again after them', () => {
  expect(new Set(gone(new KeptStates(), 1024, () => 100))).toEqual(new Set([8]))
  expect(gone(new KeptStates(), 1024, () => 1_000_000)).toEqual([8, 248, 256, 256, 256])
  expect(gone(new KeptStates(), 1024, (seq) => (seq <= 256 ? 1_000_000 : 100))).toEqual([8, 248, 256, 128, 64, 32, 16, ...Array(34).fill(8)])
})

test('where they are too many together, they become fewer all over the journal, and the small ones stay', () => {
  const kept = new KeptStates(200_000)
  const gaps = gone(kept, 4096, (seq) => (seq < 2048 ? 100 : 20_000))

  const held = Array.from({ length: 4096 }, (_, index) => kept.get(index + 1)).filter((one) => one !== undefined)
  expect(held.reduce((sum, { snapshot }) => sum + String(snapshot.tree).length, 0)).toBeLessThan(200_000)
  expect(Math.max(...gaps)).toBeLessThanOrEqual(512)
  expect(kept.below(2047)).toBe(2040)
})

test('a state that would take the room of all others is not kept, nor one that cannot be kept', () => {
  const kept = new KeptStates(10_000)
  gone(kept, 8, () => 100)
  kept.pass(aCommit(16), aTree(9_000))
  kept.pass(aCommit(256), { persisted: () => ({ tree: new Map(), timers: [], effects: [] }) } as unknown as Replica)

  expect([kept.below(300), kept.get(16), kept.get(8)]).toEqual([8, undefined, expect.objectContaining({ at: 1008, epoch: 1 })])
})
