/** Any events, any crash points: the recovered state is the uninterrupted one. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type AnyActorRef, assign, emit, raise, sendParent, sendTo, setup, spawnChild, stopChild } from 'xstate'
import { replay } from '../../src/actors/journal/replay.ts'
import { type Registration, registerMachine } from '../../src/actors/registration.ts'
import { casesOf } from '../support/property.ts'
import { aWorld, Puppets, treeOf } from './support.ts'

const types = {} as { context: any; events: any; input: any; output: any }
const address = { kind: 'any', id: 'one' }

const family = (p: Puppets) => {
  const child = setup({ types, actions: { act: p.action('act') } }).createMachine({
    context: { n: 0 },
    initial: 'a',
    states: {
      a: {
        on: {
          poke: {
            target: 'b',
            actions: [assign({ n: ({ context }: any) => context.n + 1 }), sendParent(({ context }: any) => ({ type: 'poked', n: context.n })), 'act'],
          },
        },
      },
      b: { always: { guard: ({ context }: any) => context.n > 3, target: 'c' }, on: { poke: 'a' } },
      c: { type: 'final' },
    },
    output: ({ context }: any) => context.n,
  })
  return setup({ types, actors: { child } }).createMachine({
    context: { sum: 0, ended: 0 },
    on: {
      one: { actions: spawnChild('child', { id: 'kid' }) },
      two: { actions: [({ self }: any) => self, stopChild('kid')].slice(1) as never },
      three: { actions: sendTo(({ self }: any) => self.getSnapshot().children.kid ?? self, { type: 'poke' }) },
      poked: { actions: assign({ sum: ({ context, event }: any) => context.sum + event.n }) },
      'xstate.done.actor.kid': { actions: assign({ ended: ({ context, event }: any) => context.ended + event.output }) },
    },
  })
}
const regions = (p: Puppets) =>
  setup({ types, actions: { act: p.action('act') } }).createMachine({
    type: 'parallel',
    context: { n: 0 },
    states: {
      left: {
        initial: 'x',
        states: { x: { on: { one: 'y' } }, y: { on: { one: 'x', two: { actions: raise({ type: 'three' }) } } }, back: { type: 'history' } },
        on: { three: { target: '.back', actions: 'act' } },
      },
      right: {
        initial: 'p',
        states: {
          p: { entry: assign({ n: ({ context }: any) => context.n + 1 }), on: { two: 'q' } },
          q: { initial: 'q1', states: { q1: { on: { three: 'q2' } }, q2: {} }, on: { one: { target: 'p', actions: emit({ type: 'back' }) } } },
        },
      },
    },
  })
const worker = (p: Puppets) =>
  setup({ types, actors: { phone: p.callback('phone') }, actions: { act: p.action('act') } }).createMachine({
    context: { tries: 0, late: 0 },
    initial: 'idle',
    on: { three: { actions: raise({ type: 'late' }, { delay: 50 }) }, late: { actions: assign({ late: ({ context }: any) => context.late + 1 }) } },
    states: {
      idle: { on: { one: 'busy' } },
      busy: {
        entry: assign({ tries: ({ context }: any) => context.tries + 1 }),
        invoke: { src: 'phone', id: 'phone' },
        on: { two: { actions: sendTo('phone', { type: 'ring' }) } },
        after: { 120: 'idle' },
      },
    },
  })

const story = fc.array(
  fc.record({
    type: fc.constantFrom('one', 'two', 'three'),
    crash: fc.constantFrom(false, false, 'kill', 'close'),
    pause: fc.constantFrom(0, 0, 30, 70),
  }),
  { minLength: 1, maxLength: 25 },
)

const run = async (registration: Registration, events: { type: string; crash: string | boolean; pause: number }[], crashing: boolean) => {
  const world = await aWorld()
  const limits = { snapshotEvery: 3, crashMax: 1000 }
  let host = await world.host([registration], { limits })
  for (const [index, { type, crash, pause }] of events.entries()) {
    await world.clock.until(host.send(address, { type }, { id: `e${index}` }).catch(() => undefined))
    if (crashing && crash === 'kill') host.abandon()
    if (crashing && crash === 'close') await world.clock.until(host.close())
    if (crashing && crash) {
      host = await world.host([registration], { limits })
      await world.clock.until(host.get(address))
    }
    await world.clock.advance(pause)
  }
  await world.clock.advance(500)
  const root = await world.clock.until(host.get(address))
  const { verdict } = await replay(world.journal, address, registration)
  return { tree: treeOf(root.replica?.actor as AnyActorRef), verdict, effects: [...(root.replica?.effects.keys() ?? [])] }
}

test.each([
  ['children that come and go', family],
  ['parallel regions with history', regions],
  ['effects and timers', worker],
])('[INV-1, INV-13] %s: random events and crashes end in the state of the uninterrupted run', async (_name, machine) => {
  await fc.assert(
    fc.asyncProperty(story, async (events) => {
      const [calm, crashed] = [
        await run(registerMachine('any', machine(new Puppets())), events, false),
        await run(registerMachine('any', machine(new Puppets())), events, true),
      ]

      expect(crashed).toEqual(calm)
      expect(crashed.verdict).toBe('identical')
    }),
    casesOf(import.meta.url),
  )
})
