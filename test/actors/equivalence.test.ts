/** XState under the root host is XState: the same states, contexts, actions in the same order, emitted events, outputs. */
import { expect, test } from 'vitest'
import { type AnyActorRef, type AnyStateMachine, createActor, setup } from 'xstate'
import { getShortestPaths, getSimplePaths } from 'xstate/graph'
import { registerMachine } from '../../src/actors/registration.ts'
import { seededIds } from '../../src/testing/seeded.ts'
import { virtualClock } from '../../src/testing/virtual-clock.ts'
import { cases } from './machines.ts'
import { aWorld, Puppets, pull, type Step, treeOf } from './support.ts'

type Told = { trees: unknown[]; log: string[]; emitted: unknown[]; status: string; output: unknown }
type Build = (puppets: Puppets) => AnyStateMachine

/** What the machine does in plain XState, with every effect and all time under control. */
const plainly = async (build: Build, steps: Step[]): Promise<Told> => {
  const clock = virtualClock()
  const puppets = new Puppets()
  const emitted: unknown[] = []
  const actor = createActor(build(puppets), {
    clock: clock,
    logger: () => undefined,
    inspect: (event) => event.type === '@xstate.actor' && void (event.actorRef as AnyActorRef).on('*', (said) => void emitted.push(said)),
  })
  actor.subscribe({ error: () => undefined })
  actor.start()
  const trees: unknown[] = []
  for (const step of steps) {
    if ('send' in step) actor.send(step.send)
    else if ('wait' in step) await clock.advance(step.wait)
    else pull(puppets, step)
    await clock.settle()
    trees.push(treeOf(actor))
  }
  const { status, output } = actor.getSnapshot()
  return { trees, log: puppets.log, emitted, status, output }
}

const hosted = async (build: Build, steps: Step[]): Promise<Told> => {
  const world = await aWorld()
  const puppets = new Puppets()
  const emitted: unknown[] = []
  const registration = registerMachine('case', build(puppets))
  const host = await world.host([registration], {
    events: { committed: (_root, _commit, said) => void emitted.push(...said.map(({ event }) => event)) },
  })
  const root = await host.get({ kind: 'case', id: 'one' })
  // Plain XState is there before its first event; a root begins with it.
  const ids = seededIds('step')
  const trees: unknown[] = []
  for (const step of steps) {
    if ('send' in step) await root.send(step.send, { id: ids.next('m') }).catch(() => undefined)
    else if ('wait' in step) await world.clock.advance(step.wait)
    else pull(puppets, step)
    await world.clock.settle()
    trees.push(treeOf(root.replica?.actor as AnyActorRef))
  }
  const { status, output } = root.replica?.actor.getSnapshot() ?? {}
  return { trees, log: puppets.log, emitted, status, output }
}

/** A first event that nobody answers, so that both worlds begin at the same moment. */
const begin: Step = { send: { type: 'statecast-test-begin' } }

test.each(cases)('[SHOW-SEMANTICS] $name: the same under the root host as in plain XState', async ({ machine, steps, beyond = [] }) => {
  const story = machine === cases[0]?.machine ? steps : [begin, ...steps]

  const plain = await plainly(machine, story)
  const durable = await hosted(machine, story)

  for (const [index, tree] of plain.trees.entries())
    expect(durable.trees[index], `after step ${index}: ${JSON.stringify(story[index])}`).toEqual(tree)
  const log = durable.log.filter((line) => !beyond.includes(line))
  expect({ ...durable, log }).toEqual(plain)
})

const light = setup({ types: {}, guards: { tired: ({ context }) => context.n > 2 } }).createMachine({
  id: 'light',
  context: { n: 0 },
  initial: 'green',
  states: {
    green: { on: { next: 'yellow', fail: 'broken.flashing' } },
    yellow: { on: { next: 'red', fail: 'broken' } },
    red: {
      initial: 'walk',
      states: { walk: { on: { next: 'stop' } }, stop: { on: { next: '#light.green' } }, hist: { type: 'history' } },
      on: { fail: 'broken' },
    },
    broken: { initial: 'dark', states: { dark: { on: { next: 'flashing' } }, flashing: {} }, on: { repair: 'green', resume: 'red.hist' } },
  },
})
const door = setup({}).createMachine({
  id: 'door',
  type: 'parallel',
  states: {
    leaf: { initial: 'closed', states: { closed: { on: { open: 'opened' } }, opened: { on: { close: 'closed' } } } },
    lock: {
      initial: 'free',
      states: { free: { on: { lock: { target: 'locked', guard: ({ context }: any) => context !== null } } }, locked: { on: { unlock: 'free' } } },
    },
    alarm: {
      initial: 'off',
      states: { off: { on: { arm: 'armed' } }, armed: { on: { open: 'ringing', disarm: 'off' } }, ringing: { on: { disarm: 'off' } } },
    },
  },
})
const order = setup({}).createMachine({
  id: 'order',
  initial: 'cart',
  states: {
    cart: { on: { pay: 'paying', drop: 'dropped' } },
    paying: { initial: 'asking', states: { asking: { on: { ok: 'sure' } }, sure: { type: 'final' } }, onDone: 'paid', on: { drop: 'dropped' } },
    paid: { on: { send: 'sent' } },
    sent: { type: 'final' },
    dropped: { type: 'final' },
  },
})

test.each([
  ['light', light],
  ['door', door],
  ['order', order],
])('[SHOW-SEMANTICS] every path that xstate/graph finds through %s leads to the same states', async (_name, machine) => {
  const paths = [...getShortestPaths(machine as AnyStateMachine), ...getSimplePaths(machine as AnyStateMachine).slice(0, 60)]
  const stories = paths.map(({ steps }) => steps.map(({ event }) => event).filter(({ type }) => !type.startsWith('xstate.')))

  let compared = 0
  for (const story of stories) {
    const steps: Step[] = [begin, ...story.map((event) => ({ send: event }))]
    expect(await hosted(() => machine as AnyStateMachine, steps)).toEqual(await plainly(() => machine as AnyStateMachine, steps))
    compared += 1
  }

  expect(compared).toBeGreaterThan(5)
})
