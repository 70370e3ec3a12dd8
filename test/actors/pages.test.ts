/** Journals that are longer than a page: the past is read in pages, and all of them count. */
import { expect, test } from 'vitest'
import { assign, setup } from 'xstate'
import { replay } from '../../src/actors/journal/replay.ts'
import { registerMachine } from '../../src/actors/registration.ts'
import { aWorld } from './support.ts'

const address = { kind: 'counter', id: 'one' }
const counter = registerMachine(
  'counter',
  setup({
    types: { context: {} as { total: number }, events: {} as { type: 'add'; amount: number } },
    actions: { add: assign({ total: ({ context, event }) => context.total + event.amount }) },
  }).createMachine({ id: 'counter', context: { total: 0 }, on: { add: { actions: 'add' } } }),
)

/** A page is 1,000 commits: less than one, exactly as many, and more than two. */
test.each([999, 1000, 1001, 2000, 2345])(
  '[INV-13, INV-20] %i commits are recovered and replayed to the last one, and the next one continues them',
  async (count) => {
    const world = await aWorld()
    // Without a snapshot, so that every commit is read.
    const first = await world.host([counter], { limits: { snapshotEvery: Number.POSITIVE_INFINITY } })
    for (let amount = 1; amount <= count; amount++) await world.clock.until(first.send(address, { type: 'add', amount }))
    first.abandon()
    const total = (count * (count + 1)) / 2

    const second = await world.host([counter])

    expect(await world.clock.until(second.read(address))).toMatchObject({ seq: count, snapshot: { context: { total } } })
    expect(await replay(world.journal, address, counter)).toMatchObject({ verdict: 'identical', commits: count, inputs: count, context: { total } })
    expect((await world.clock.until(second.send(address, { type: 'add', amount: 1 }))).seq).toBe(count + 1)
    expect(await replay(world.journal, address, counter)).toMatchObject({ verdict: 'identical', commits: count + 1, context: { total: total + 1 } })
  },
)

test.each([999, 1000, 2345])('[INV-13] a snapshot and %i commits behind it: all of them count', async (count) => {
  const world = await aWorld()
  const send = async (host: Awaited<ReturnType<typeof world.host>>, times: number): Promise<void> => {
    for (let one = 0; one < times; one++) await world.clock.until(host.send(address, { type: 'add', amount: 1 }))
  }
  const early = await world.host([counter], { limits: { snapshotEvery: 50 } })
  await send(early, 60)
  early.abandon()
  const { seq = 0 } = (await world.journal.snapshot(address)) ?? {}
  expect(seq).toBeGreaterThan(0)
  const late = await world.host([counter], { limits: { snapshotEvery: Number.POSITIVE_INFINITY } })
  await send(late, seq + count - 60)
  late.abandon()
  expect((await world.journal.snapshot(address))?.seq).toBe(seq)

  const next = await world.host([counter])

  expect(await world.clock.until(next.read(address))).toMatchObject({ seq: seq + count, snapshot: { context: { total: seq + count } } })
})
