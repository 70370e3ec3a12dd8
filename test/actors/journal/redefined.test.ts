/** Actors that another version of their machine has begun, and that are taken over by this one. */
import { expect, test } from 'vitest'
import { assign, setup } from 'xstate'
import type { Host } from '../../../src/actors/host/host.ts'
import { Coverage } from '../../../src/actors/inspection/coverage.ts'
import { commitOf } from '../../../src/actors/journal/codec.ts'
import { recover } from '../../../src/actors/journal/recovery.ts'
import { replay } from '../../../src/actors/journal/replay.ts'
import { rewrite, underOwnName } from '../../../src/actors/journal/rewrite.ts'
import { type Registration, registerMachine } from '../../../src/actors/registration.ts'
import { type Address, formatAddress } from '../../../src/contracts/subjects.ts'
import type { Journal } from '../../../src/contracts/transport.ts'
import { uuid } from '../../../src/runtime/moment.ts'
import { aWorld, codeOf, outcome, Puppets, type World } from '../support.ts'

const types = {} as { context: any; events: any; input: any }
const address = { kind: 'm', id: 'one' }

/** It works its way through these states, one effect each. */
const walk = (puppets: Puppets, states: string[], more: { step?: (n: number) => unknown; version?: string } = {}): Registration =>
  registerMachine(
    'm',
    setup({
      types,
      actors: { work: puppets.promise('work') },
      actions: { count: assign({ n: ({ context }: any) => (more.step ?? ((n) => n + 1))(context.n) }) },
    }).createMachine({
      id: 'm',
      context: { n: 0 },
      initial: states[0]!,
      ...(more.version && { version: more.version }),
      on: { add: { actions: 'count' } },
      states: Object.fromEntries([
        ...states.map((name, at) => [
          name,
          { invoke: { src: 'work', id: name, input: { name }, onDone: { target: states[at + 1] ?? 'over', actions: 'count' } } },
        ]),
        ['over', {}],
      ]),
    } as any),
  )

const begun = async (registration: Registration, puppets: Puppets): Promise<World> => {
  const world = await aWorld()
  const host = await world.host([registration])
  await outcome(world, host.send(address, { type: 'add' }))
  puppets.control('work').resolve('done')
  await world.clock.settle()
  host.abandon()
  return world
}
/** What is being done now has been done, and what follows has begun. */
const worked = async (world: World, puppets: Puppets) => {
  await world.clock.settle()
  const before = puppets.starts.length
  puppets.control('work').resolve('done')
  while (puppets.starts.length === before) await world.clock.settle()
}
const stateOf = async (world: World, host: Host) =>
  (await world.clock.until(host.read(address))) as unknown as { seq: number; snapshot: { value: unknown; context: { n: unknown } } }

test('[INV-13] an actor is adopted once, and its journal says so to whoever goes on with it', async () => {
  const puppets = new Puppets()
  const old = walk(puppets, ['a', 'b'])
  const present = walk(puppets, ['a', 'b', 'c'])
  const world = await begun(old, puppets)
  const before = (await world.commits(address)).length

  const host = await world.host([present])
  expect(await codeOf(world, host.send(address, { type: 'add' }))).toBe('drift')
  expect(await outcome(world, host.adopt(address))).toEqual({ value: true })
  expect(await outcome(world, host.adopt(address))).toEqual({ value: false })
  expect((await world.commits(address))[before]).toMatchObject({ claim: true, inputs: [], adopts: { machine: 'm', signature: present.signature } })
  expect((await world.commits(address)).filter(({ adopts }) => adopts)).toHaveLength(1)
  host.abandon()

  const next = await world.host([present])
  await worked(world, puppets)
  expect(await stateOf(world, next)).toMatchObject({ snapshot: { value: 'c', context: { n: 3 } } })
  next.abandon()
  const former = await world.host([old])
  expect(await codeOf(world, former.send(address, { type: 'add' }))).toBe('drift')
  expect(await replay(world.journal, address, present)).toMatchObject({ verdict: 'identical' })
  expect(await replay(world.journal, address, old, { to: before })).toMatchObject({ verdict: 'identical', commits: before })
  await expect(replay(world.journal, address, old)).rejects.toMatchObject({ code: 'drift' })
})

test('an actor that would stand elsewhere is not adopted, nor one of which something would get lost, and nothing is written', async () => {
  const puppets = new Puppets()
  const world = await begun(walk(puppets, ['a', 'b']), puppets)
  const before = (await world.commits(address)).length

  for (const [states, data] of [
    [['b', 'a'], { seq: 2, from: '/a#1' }],
    [['b'], { seq: 2, from: '/a#1' }],
    [['a', 'x', 'b'], { path: '/', recorded: 'b', present: 'x' }],
    [['a'], { path: '/', recorded: 'b', present: 'over' }],
  ] as const) {
    const host = await world.host([walk(puppets, [...states])])
    expect(await outcome(world, host.adopt(address))).toMatchObject({
      code: 'drift',
      error: { data, hint: expect.stringContaining('adopt it with') },
    })
    host.abandon()
  }
  expect((await world.commits(address)).length).toBe(before)
  const host = await world.host([walk(puppets, ['a', 'b', 'c'])])
  expect(await codeOf(world, host.adopt({ kind: 'm', id: 'nobody' }))).toBe('not_found')
})

test('an actor is adopted by a machine whose functions have changed; snapshots from before are of no use then', async () => {
  const puppets = new Puppets()
  const old = walk(puppets, ['a', 'b'])
  const world = await aWorld()
  const first = await world.host([old])
  await outcome(world, first.send(address, { type: 'add' }))
  await world.clock.until(first.close())
  const second = await world.host([old])
  await outcome(world, second.send(address, { type: 'add' }))
  second.abandon()
  const present = walk(puppets, ['a', 'b'], { step: (n) => n + 10 })

  const host = await world.host([present])
  expect(await outcome(world, host.adopt(address))).toEqual({ value: true })
  expect(await stateOf(world, host)).toMatchObject({ snapshot: { context: { n: 20 } } })
  host.abandon()

  const next = await world.host([present])
  expect(await stateOf(world, next)).toMatchObject({ snapshot: { context: { n: 20 } } })
  expect(await replay(world.journal, address, present)).toMatchObject({ verdict: 'identical' })
})

test('chance that only the adopting machine draws is the same for everybody after it', async () => {
  const puppets = new Puppets()
  const world = await begun(walk(puppets, ['a', 'b']), puppets)
  const present = walk(puppets, ['a', 'b'], { version: '2', step: () => uuid() })

  const host = await world.host([present])
  await outcome(world, host.adopt(address))
  const { n } = (await stateOf(world, host)).snapshot.context
  host.abandon()

  const next = await world.host([present])
  expect((await stateOf(world, next)).snapshot.context.n).toBe(n)
  expect(await replay(world.journal, address, present)).toMatchObject({ verdict: 'identical', context: { n } })
})

test('what a whole runtime takes over by force is adopted with its first commit, and needs no force after that', async () => {
  const puppets = new Puppets()
  const world = await begun(walk(puppets, ['a', 'b']), puppets)
  const present = walk(puppets, ['a', 'x', 'b'])

  const forcing = await world.host([{ ...present, onDrift: 'force' }])
  await outcome(world, forcing.send(address, { type: 'add' }))
  expect(await stateOf(world, forcing)).toMatchObject({ snapshot: { value: 'x' } })
  forcing.abandon()

  const next = await world.host([present])
  expect(await stateOf(world, next)).toMatchObject({ snapshot: { value: 'x', context: { n: 3 } } })
  expect(await replay(world.journal, address, present)).toMatchObject({ verdict: 'identical' })
  const { adopts } = await recover(world.journal, address, { ...present, onDrift: 'force' })
  expect(adopts).toBe(false)
})

test('[INV-5] a host that dies while it adopts leaves the actor to the next one, as it was or as it is', async () => {
  for (const phase of ['received', 'appended', 'done'] as const) {
    const puppets = new Puppets()
    const old = walk(puppets, ['a', 'b'])
    const world = await begun(old, puppets)
    const present = walk(puppets, ['a', 'b', 'c'])
    const died = Promise.withResolvers<void>()
    const hang = new Promise<void>(() => undefined)
    const dying = await world.host([present], {
      events: { reached: (_, at) => (at === phase ? (died.resolve(), hang) : undefined) },
    })
    const adopting = dying.adopt(address).catch(() => undefined)
    await world.clock.until(Promise.race([died.promise, adopting]))
    dying.abandon()

    const next = await world.host([present])
    expect(await outcome(world, next.adopt(address))).toEqual({ value: phase === 'received' })
    expect((await world.commits(address)).filter(({ adopts }) => adopts)).toHaveLength(1)
    await worked(world, puppets)
    expect(await stateOf(world, next)).toMatchObject({ snapshot: { value: 'c' } })
  }
})

test.each([
  ['goes another way later', (puppets: Puppets) => walk(puppets, ['a', 'b', 'c'])],
  ['has other functions', (puppets: Puppets) => walk(puppets, ['a', 'b'], { step: (n) => n + 10 })],
  ['draws chance where the one before did not', (puppets: Puppets) => walk(puppets, ['a', 'b', 'c'], { step: () => uuid() })],
])('what was adopted by a machine that %s is written anew, and counted, as if that one had recorded all of it', async (_, machine) => {
  const puppets = new Puppets()
  const world = await begun(walk(puppets, ['a', 'b']), puppets)
  const present = machine(puppets)
  const host = await world.host([present])
  await outcome(world, host.adopt(address))
  await outcome(world, host.send(address, { type: 'add' }))
  const { snapshot } = await stateOf(world, host)
  host.abandon()
  const frames = await world.journal.read(address, 1, { limit: 100 })

  const { frames: own, difference } = rewrite(address, frames, present, underOwnName(address))
  const coverage = new Coverage(present)
  await coverage.add({ address: formatAddress(address), frames: (from, limit) => world.journal.read(address, from, { limit }) })

  expect(difference).toBeUndefined()
  const copied = {
    read: async (_address: Address, from: number, { limit }: { limit: number }) => own.slice(from - 1, from - 1 + limit),
    snapshot: async () => undefined,
    head: async () => undefined,
  } as unknown as Journal
  expect(await replay(copied, address, present)).toMatchObject({ verdict: 'identical', context: snapshot.context })
  expect(own.map((frame) => commitOf(frame, address).adopts)).toEqual(own.map(() => undefined))
  const [covered] = coverage.result()
  expect(covered?.states.find(({ id }) => id === 'm.b')).toMatchObject({ visits: 1 })
})

test('what nobody has adopted is neither written anew nor counted by another machine, which says what to do', async () => {
  const puppets = new Puppets()
  const world = await begun(walk(puppets, ['a', 'b']), puppets)
  const present = walk(puppets, ['a', 'b', 'c'])
  const frames = await world.journal.read(address, 1, { limit: 100 })
  const refusal = { code: 'drift', hint: expect.stringContaining('adopt()') }

  expect(() => rewrite(address, frames, present, underOwnName(address))).toThrow(expect.objectContaining(refusal))
  await expect(
    new Coverage(present).add({ address: formatAddress(address), frames: (from, limit) => world.journal.read(address, from, { limit }) }),
  ).rejects.toMatchObject(refusal)
})
