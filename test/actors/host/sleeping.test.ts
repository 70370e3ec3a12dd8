/** A fork is made at an address that is in memory already, begun by nobody: it runs on all the same, and nothing that is sent to it gets lost. */
import { expect, test } from 'vitest'
import { assign, setup } from 'xstate'
import type { Host } from '../../../src/actors/host/host.ts'
import { registerMachine } from '../../../src/actors/registration.ts'
import type { Placement } from '../../../src/contracts/placement.ts'
import type { Journal } from '../../../src/contracts/transport.ts'
import { aWorld, type HostParts, outcome, Puppets, type World } from '../support.ts'

const main = { kind: 'errand', id: 'main' }
const fork = { kind: 'errand', id: 'fork' }
const errand = (puppets: Puppets) =>
  registerMachine(
    'errand',
    setup({ actors: { work: puppets.promise('work') } }).createMachine({
      id: 'errand',
      context: { notes: 0 },
      initial: 'idle',
      on: {
        note: { actions: assign({ notes: ({ context }) => context.notes + 1 }) },
        poison: {
          actions: assign(() => {
            throw new Error('boom')
          }),
        },
      },
      states: { idle: { on: { go: 'working' } }, working: { invoke: { src: 'work', onDone: 'done' } }, done: {} },
    }),
  )

/** The origin is in the middle of its work. */
const working = async (parts: HostParts = {}): Promise<{ world: World; puppets: Puppets; host: Host; runsOn(): Promise<void> }> => {
  const world = await aWorld()
  const puppets = new Puppets()
  const host = await world.host([errand(puppets)], parts)
  await world.clock.until(host.send(main, { type: 'go' }))
  await world.clock.settle()
  const runsOn = async (): Promise<void> => {
    await world.clock.until(() => puppets.starts.some(({ key }) => key.includes('fork')), 60_000)
    puppets.control('work').resolve(undefined)
    await world.clock.settle()
    expect((await host.read(fork)).snapshot?.value).toBe('done')
  }
  return { world, puppets, host, runsOn }
}
const make = ({ journal, clock }: World) => journal.fork(main, 1, fork, { answers: 'live' }, { wakeAt: 0, at: clock.now() })

/** Appends to the fork wait until they are let through. */
const held = () => {
  const arrived = Promise.withResolvers<void>()
  const open = Promise.withResolvers<void>()
  const journal = (store: Journal): Journal => ({
    ...store,
    append: async (address, ...rest) => {
      if (address.id === fork.id) {
        arrived.resolve()
        await open.promise
      }
      return store.append(address, ...rest)
    },
  })
  return { journal, arrived: arrived.promise, letThrough: open.resolve }
}

test('a message that was on its way when the fork was made reaches the fork, which runs on', async () => {
  const { journal, arrived, letThrough } = held()
  const { world, host, runsOn } = await working({ journal })
  const sent = outcome(world, host.send(fork, { type: 'note' }, { id: 'me first' }))
  await arrived
  await make(world)

  letThrough()

  expect(await sent).toMatchObject({ value: { seq: expect.any(Number), duplicate: false } })
  await runsOn()
  expect((await host.read(fork)).snapshot?.context).toEqual({ notes: 1 })
  expect((await world.journal.head(fork))?.origin?.address).toEqual(main)
})

test('a message that is refused just then is refused by the fork, which runs on', async () => {
  const { world, host, runsOn } = await working()
  await host.get(fork)
  await make(world)

  expect(await outcome(world, host.send(fork, { type: 'poison' }))).toMatchObject({ code: 'bad_request' })
  await runsOn()
})

test('one who was only looked for before the fork was made runs on as the fork, though nobody says anything', async () => {
  const { world, host, runsOn } = await working()
  expect((await world.clock.until(host.read(fork))).seq).toBe(0)

  await make(world)

  await runsOn()
})

test('one who was being opened when the fork was made runs on as the fork', async () => {
  const opening = Promise.withResolvers<void>()
  const asked = Promise.withResolvers<void>()
  let times = 0
  const journal = (store: Journal): Journal => ({
    ...store,
    // The first time it is found empty, and the answer is slow.
    snapshot: async (address) => {
      const found = await store.snapshot(address)
      if (address.id !== fork.id || times++ > 0) return found
      asked.resolve()
      await opening.promise
      return found
    },
  })
  const { world, host, runsOn } = await working({ journal })
  const got = host.get(fork)
  await asked.promise
  await make(world)
  opening.resolve()
  await got

  await runsOn()
})

test('where nodes share the store, a fork whose making went unheard is found by looking', async () => {
  const all: Placement = { has: () => true, admit: async () => undefined, sure: () => true }
  const { world, host, runsOn } = await working({ placement: all, journal: (store) => ({ ...store, watchWakes: () => () => undefined }) })
  expect((await world.clock.until(host.read(fork))).seq).toBe(0)

  await make(world)

  await runsOn()
})

test('one that is begun by a message stays in memory, though its own first commit asks to be woken', async () => {
  const { world, host, puppets } = await working()
  const root = await host.get(fork)

  await world.clock.until(host.send(fork, { type: 'go' }))
  await world.clock.advance(60_000)

  expect(await host.get(fork)).toBe(root)
  expect(puppets.starts).toHaveLength(2)
})
