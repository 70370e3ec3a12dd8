/** Time moves between any two looks at the clock: what a commit says of its time is the time at which its tree was changed, whoever made it. */
import { expect, test } from 'vitest'
import { assign, setup } from 'xstate'
import type { Host } from '../../src/actors/host/host.ts'
import { replay } from '../../src/actors/journal/replay.ts'
import { registerMachine } from '../../src/actors/registration.ts'
import { remote } from '../../src/actors/root/remote.ts'
import { aWorld, outcome, Puppets, type World } from './support.ts'

const types = {} as { context: any; events: any; input: any }
const address = { kind: 'timed', id: 'one' }

/** It waits from its first moment on, as a heartbeat does. */
const timed = (puppets: Puppets) =>
  registerMachine(
    'timed',
    setup({
      types,
      actors: { work: puppets.promise('work'), line: puppets.callback('line') },
      actions: { act: puppets.action('act') },
    }).createMachine({
      context: { n: 0 },
      initial: 'waiting',
      invoke: { src: 'line', id: 'line' },
      on: {
        fail: {
          actions: assign({
            n: () => {
              throw new Error('this event is poison')
            },
          }),
        },
        act: { actions: 'act' },
      },
      states: {
        waiting: { after: { 5000: 'late' }, on: { work: 'working' } },
        working: { after: { 7000: 'late' }, invoke: { src: 'work', onDone: 'waiting', onError: 'waiting' } },
        late: { after: { 60000: 'waiting' } },
      },
    }),
  )

/** No two looks at it are at the same time. */
const restless = (world: World) => {
  let looks = 0
  return { ...world.clock, now: () => world.clock.now() + ++looks }
}

/** It creates another actor, as an effect does: with nothing said to it. */
const parent = () =>
  registerMachine(
    'parent',
    setup({ types, actors: { other: remote('timed') } }).createMachine({ invoke: { src: 'other', id: 'other', input: { id: 'one' } } }),
  )

const aHost = (world: World, puppets: Puppets) => world.host([timed(puppets), parent()], { clock: restless(world), limits: { crashMax: 2 } })

type Story = (world: World, host: Host, puppets: Puppets) => Promise<unknown>
const stories: Record<string, Story> = {
  'created with nothing said to it': (world, host) => outcome(world, host.create(address)),
  'created by another actor': async (world, host) => {
    await outcome(world, host.create({ kind: 'parent', id: 'one' }))
    await world.clock.advance(10)
  },
  'born of its first message': (world, host) => outcome(world, host.send(address, { type: 'act' })),
  'born of a message that it fails on': (world, host) => outcome(world, host.send(address, { type: 'fail' })),
  'born, with good messages around one that it fails on': (world, host) =>
    outcome(world, Promise.allSettled(['act', 'fail', 'work'].map((type) => host.send(address, { type })))),
  'told the result of an effect': async (world, host, puppets) => {
    await outcome(world, host.send(address, { type: 'work' }))
    puppets.control('work').resolve(1)
    await world.clock.advance(100)
  },
  'woken by its timer': async (world, host) => {
    await outcome(world, host.create(address))
    await world.clock.advance(6_000)
  },
  'quarantined and revived': async (world, host) => {
    await outcome(world, host.create(address))
    for (let crash = 0; crash < 3; crash++) await outcome(world, host.send(address, { type: 'fail' }))
    const root = await world.clock.until(host.get(address))
    expect(root.quarantine).toBeDefined()
    expect(await outcome(world, root.revive())).toEqual({ value: true })
  },
  'put away in good order and taken up again': async (world, host, puppets) => {
    await outcome(world, host.create(address))
    await world.clock.until(host.close())
    const next = await aHost(world, puppets)
    await outcome(world, next.send(address, { type: 'work' }))
    await world.clock.until(next.close())
  },
}

test.each(Object.entries(stories))('[INV-1, INV-13] %s, and killed: the next host arrives where it was', async (_, story) => {
  const world = await aWorld()
  const puppets = new Puppets()
  const host = await aHost(world, puppets)
  await story(world, host, puppets)
  await world.clock.settle()
  host.abandon()

  const next = await aHost(world, puppets)
  const seen = await outcome(world, next.read(address))

  expect(seen).toMatchObject({ value: { snapshot: { status: 'active' } } })
  expect((await replay(world.journal, address, timed(puppets))).verdict).toBe('identical')
  const times = (await world.commits(address)).map(({ at }) => at)
  expect(times).toEqual(times.toSorted((a, b) => a - b))
})
