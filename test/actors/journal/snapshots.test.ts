/** A snapshot is believed where it is of this very journal; and where the journal does not have its commit any more, it says that something was lost. */
import { expect, test } from 'vitest'
import { assign, setup } from 'xstate'
import type { Host } from '../../../src/actors/host/host.ts'
import { encode } from '../../../src/actors/journal/codec.ts'
import { contentOf } from '../../../src/actors/journal/snapshots.ts'
import { registerMachine } from '../../../src/actors/registration.ts'
import type { Address } from '../../../src/contracts/subjects.ts'
import { cutMemory, forgetMemory } from '../../transport/shorten.ts'
import { aWorld, outcome, type World } from '../support.ts'

const address = { kind: 'counter', id: 'one' }
const other = { kind: 'counter', id: 'two' }
const counting = registerMachine(
  'counter',
  setup({ types: {} as { context: any; events: any } }).createMachine({
    context: { n: 0 },
    on: { add: { actions: assign({ n: ({ context, event }: any) => context.n + (event.by ?? 1) }) } },
  }),
)
const add = (world: World, host: Host, to: Address = address, by = 1) => outcome(world, host.send(to, { type: 'add', by }))
const nOf = async (host: Host, of: Address = address) => (await host.get(of)).replica?.actor.getSnapshot().context.n

/** A journal of so many commits, with a snapshot at one of them, and nobody who has it in memory. */
const aStory = async ({ commits = 5, at = 4 } = {}): Promise<World> => {
  const world = await aWorld()
  const host = await world.host([counting], { limits: { snapshotEvery: at } })
  for (let n = 0; n < commits; n++) await add(world, host)
  host.abandon()
  expect((await world.journal.snapshot(address))?.seq).toBe(at)
  return world
}

/** As another process finds it, which has not seen what was there before. */
const afterRestart = (world: World): Promise<Host> => {
  forgetMemory(world.store)
  return world.host([counting])
}

const lost = (known: number, found: number) => ({
  code: 'corrupt_at',
  error: { retryable: false, hint: expect.stringContaining('backup'), data: { seq: found + 1, found, known } },
})

test('a snapshot that was copied from another actor is not adopted: there is no such conversation [INV-13]', async () => {
  const world = await aStory()
  const host = await world.host([counting])
  for (let n = 0; n < 4; n++) await add(world, host, other, 10)
  host.abandon()
  const foreign = await world.journal.snapshot(address)
  await world.journal.saveSnapshot(other, 4, foreign?.bytes as Uint8Array)

  const heir = await world.host([counting])

  expect(await nOf(heir, other)).toBe(40)
  expect(await add(world, heir, other)).toMatchObject({ value: { seq: 5 } })
})

test('a snapshot of another actor at the same commit is not used, also where the journal before it was truncated [INV-13]', async () => {
  const world = await aStory({ commits: 4, at: 4 })
  const host = await world.host([counting], { limits: { snapshotEvery: 4 } })
  for (let n = 0; n < 5; n++) await add(world, host, other, 10)
  host.abandon()
  const [own, foreign] = [await world.journal.snapshot(other), await world.journal.snapshot(address)]
  expect([own?.seq, foreign?.seq]).toEqual([4, 4])
  expect(contentOf(other, own!)).toBeDefined()
  expect(contentOf(other, foreign!)).toBeUndefined()
  expect(contentOf(other, { ...own!, seq: 3 })).toBeUndefined()

  // Nothing of the journal is left that would contradict it.
  await world.journal.truncate(other, 5)
  await world.journal.saveSnapshot(other, 4, foreign?.bytes as Uint8Array)
  const heir = await afterRestart(world)

  expect(await add(world, heir, other)).toMatchObject({ code: 'corrupt_at' })
})

test.each([
  ['ends before its snapshot', 2],
  ['is gone, and its snapshot is there', 0],
])('[INV-20] a journal that %s is damaged for a process that knows nothing else, and takes nothing', async (_, to) => {
  const world = await aStory()
  const saved = (await world.journal.snapshot(address))?.bytes as Uint8Array
  cutMemory(world.store, address, to)
  forgetMemory(world.store)
  const host = await world.host([counting], { journal: (journal) => ({ ...journal, snapshot: async () => ({ seq: 4, bytes: saved }) }) })

  const answer = await add(world, host)

  expect(answer).toMatchObject(lost(4, to))
  expect(await add(world, host)).toMatchObject(lost(4, to))
  expect((await world.journal.read(address, 1, { limit: to })).length).toBe(to)
})

test('[INV-20] a journal that went on another way after it had lost its end is damaged where the snapshot stands', async () => {
  const world = await aStory({ commits: 4, at: 4 })
  const snapshot = (await world.journal.snapshot(address))?.bytes as Uint8Array
  cutMemory(world.store, address, 2)
  forgetMemory(world.store)
  const careless = await world.host([counting], {
    journal: (journal) => ({ ...journal, snapshot: async () => undefined, saveSnapshot: async () => {} }),
  })
  for (let n = 0; n < 3; n++) await add(world, careless)
  careless.abandon()
  await world.journal.saveSnapshot(address, 4, snapshot)

  const answer = await add(world, await afterRestart(world))

  expect(answer).toMatchObject({ code: 'corrupt_at', error: { data: { seq: 4 } } })
})

test.each([3, 0])(
  '[INV-20] the owner of a journal that has lost its end (%i of 5 left) acknowledges nothing more, and was not taken over',
  async (to) => {
    const world = await aWorld()
    const host = await world.host([counting], { limits: { snapshotEvery: 2 } })
    for (let n = 0; n < 5; n++) await add(world, host)
    await add(world, host, other)
    cutMemory(world.store, address, to)

    const live = await add(world, host)
    const again = await add(world, host)

    expect([live, again]).toMatchObject([lost(5, to), lost(5, to)])
    expect(await add(world, host, other)).toMatchObject({ value: { seq: 2 } })
  },
)

test('[INV-20] who makes sure that it is still the owner is told of the loss, before anything is let out', async () => {
  const world = await aWorld()
  const unsure = { has: () => true, admit: async () => {}, sure: () => false }
  const host = await world.host([counting], {
    placement: unsure,
    // The commit is acknowledged, and gone when it is asked for.
    journal: (journal) => ({ ...journal, last: async (of) => (await journal.read(of, 1, { limit: 2 })).at(-1) }),
  })
  for (let n = 0; n < 2; n++) await add(world, host)

  expect(await add(world, host)).toMatchObject(lost(3, 2))
})

test('a snapshot of a root that was removed says nothing about the one that began anew', async () => {
  const world = await aStory()
  const late = (await world.journal.snapshot(address))?.bytes as Uint8Array
  const host = await world.host([counting])
  await host.forget(address)
  await add(world, host)
  host.abandon()
  await world.journal.saveSnapshot(address, 4, late)

  const heir = await afterRestart(world)

  expect(await add(world, heir)).toMatchObject({ value: { seq: expect.any(Number) } })
  expect(await nOf(heir)).toBe(2)
})

test('a journal that is damaged can be forgotten, and then begins anew', async () => {
  const world = await aWorld()
  const host = await world.host([counting], { limits: { snapshotEvery: 2 } })
  for (let n = 0; n < 5; n++) await add(world, host)
  cutMemory(world.store, address, 2)
  await add(world, host)

  await host.forget(address)

  expect(await add(world, host)).toMatchObject({ value: { seq: 1 } })
})

test('a snapshot of which a byte has changed is as good as none, wherever that is', async () => {
  const world = await aStory({ commits: 4, at: 4 })
  const { seq, bytes } = (await world.journal.snapshot(address)) as { seq: number; bytes: Uint8Array }

  const read = Array.from(bytes, (byte, place) => contentOf(address, { seq, bytes: bytes.with(place, byte ^ 1) }))

  expect(contentOf(address, { seq, bytes })).toBeDefined()
  expect(read.filter((content) => content !== undefined)).toEqual([])
})

test('a snapshot of the version before is ignored, also where it stands alone', async () => {
  const world = await aWorld()
  const alone = { seq: 3, bytes: encode({ v: 1, signature: counting.signature, ledger: { seq: 3, recent: [] }, replica: {}, digest: 1 }) }
  const host = await world.host([counting], { journal: (journal) => ({ ...journal, snapshot: async () => alone }) })

  expect(await add(world, host)).toMatchObject({ value: { seq: 1 } })
})

test('a journal that was truncated up to its snapshot goes on from it', async () => {
  const world = await aStory({ commits: 4, at: 4 })
  await world.journal.truncate(address, 4)

  const host = await afterRestart(world)

  expect(await add(world, host)).toMatchObject({ value: { seq: expect.any(Number) } })
  expect(await nOf(host)).toBe(5)
})

test('a large snapshot is written less often than a small one', async () => {
  const world = await aWorld()
  const saved: Record<string, number[]> = {}
  const growing = (kind: string, part: string) =>
    registerMachine(
      kind,
      setup({ types: {} as { context: any; events: any } }).createMachine({
        context: { parts: [] },
        on: { add: { actions: assign({ parts: ({ context }: any) => [...context.parts, part] }) } },
      }),
    )
  const kinds = [growing('small', 'x'), growing('large', 'x'.repeat(2048))]
  const host = await world.host(kinds, {
    limits: { snapshotEvery: 2 },
    journal: (journal) => ({
      ...journal,
      saveSnapshot: (of, seq, bytes) => {
        saved[of.kind] = [...(saved[of.kind] ?? []), seq]
        return journal.saveSnapshot(of, seq, bytes)
      },
    }),
  })

  for (const { kind } of kinds) for (let n = 0; n < 12; n++) await add(world, host, { kind, id: 'one' })

  expect(saved).toEqual({ small: [2, 4, 6, 8, 10, 12], large: [2, 7] })
})

test('a tree that no snapshot can hold is not gone through for one with every commit', async () => {
  const world = await aWorld()
  let looks = 0
  const part = Object.defineProperty({}, 'seen', { enumerable: true, get: () => ++looks })
  const odd = registerMachine(
    'odd',
    setup({ types: {} as { context: any; events: any } }).createMachine({
      context: () => ({ n: 0, part, unstorable: new Set() }),
      on: { add: { actions: assign({ n: ({ context }: any) => context.n + 1 }) } },
    }),
  )
  const host = await world.host([odd], { limits: { snapshotEvery: 4 } })
  const looksOf: number[] = []

  for (let n = 0; n < 12; n++) {
    const before = looks
    await add(world, host, { kind: 'odd', id: 'one' })
    looksOf.push(looks - before)
  }

  const least = Math.min(...looksOf)
  expect(looksOf.flatMap((count, index) => (count > least && index > 0 ? [index + 1] : []))).toEqual([4, 8, 12])
})
