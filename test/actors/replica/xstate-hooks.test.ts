/** What src/actors/replica/xstate-hooks.ts takes for granted about the inside of XState. A red test here means: a new XState, look again. */
import { expect, test } from 'vitest'
import { type AnyActorRef, assign, createActor, createMachine, emit, fromPromise, raise, sendTo, setup, spawnChild } from 'xstate'
import { checkActions, guardListeners, hookSystem, parentOf, type SystemHooks, takeEmits } from '../../../src/actors/replica/xstate-hooks.ts'

type Anything = any
const hooked = (machine: Anything, hooks: Partial<SystemHooks> = {}) => {
  const seen: string[] = []
  let count = 0
  const all: SystemHooks = {
    inspect: () => {},
    phase: () => 'applying',
    delivering: () => void seen.push('delivering'),
    outside: (source, target, event) => void seen.push(`outside ${source?.id ?? 'nobody'} → ${target.id} ${event.type}`),
    scheduling: (send) => void seen.push(send ? `scheduling ${send.id} ${send.event.type}` : 'scheduled'),
    name: (prefix) => `${prefix}${++count}`,
    ...hooks,
  }
  const actor = createActor(machine, {
    id: 'root',
    inspect: (event) => {
      if (event.type === '@xstate.actor' && parentOf(event.actorRef as AnyActorRef) === undefined) hookSystem(event.actorRef as AnyActorRef, all)
    },
  })
  return { actor, seen }
}

test('the version that these hooks were made for', async () => {
  const { default: pkg } = await import('xstate/package.json', { with: { type: 'json' } })

  expect(pkg.version).toMatch(/^5\.33\./)
})

test('the first inspection event comes from the constructor of the root, before any initial action', () => {
  const order: string[] = []
  const context = () => {
    order.push('context')
    return {}
  }
  createActor(createMachine({ context }), { inspect: (event) => void order.push(event.type) })

  expect(order[0]).toBe('@xstate.actor')
  expect(order.indexOf('context')).toBeGreaterThan(0)
})

test('an actor has a system with _relay, _bookId and a scheduler, a _parent, a sessionId and a scope that executes its actions', () => {
  const actor = createActor(createMachine({})) as Anything

  expect(Object.keys(actor.system)).toEqual(expect.arrayContaining(['_relay', '_bookId', 'scheduler']))
  expect(actor.system.scheduler).toMatchObject({ schedule: expect.any(Function), cancel: expect.any(Function) })
  expect(actor._actorScope.actionExecutor).toBeTypeOf('function')
  expect('_parent' in actor && actor._parent).toBe(undefined)
  expect(actor.sessionId).toMatch(/^x:\d+$/)
})

test('another build of XState is refused with the cure', () => {
  const actor = createActor(createMachine({})) as Anything
  actor.system._bookId = undefined

  expect(() => hookSystem(actor, {} as SystemHooks)).toThrow(
    expect.objectContaining({ code: 'unsupported', hint: 'install xstate 5.32 or a later 5' }),
  )
})

test('every delivery passes _relay: from outside, between actors, from timers and from promises', async () => {
  const machine = setup({ actors: { work: fromPromise(async () => 1) } }).createMachine({
    entry: spawnChild('work', { id: 'work' }),
    on: { go: { actions: sendTo(({ self }: Anything) => self, { type: 'self' }) } },
  })
  let phase: 'applying' | 'outside' = 'applying'
  const { actor, seen } = hooked(machine, { phase: () => phase })
  actor.start()
  actor.send({ type: 'go' })
  phase = 'outside'
  await new Promise<void>((resolve) => void setImmediate(resolve))

  expect(seen).toEqual(['delivering', 'delivering', 'outside work → work xstate.promise.resolve'])
})

test('every delayed send passes the scheduler, which calls the clock once, and gets a name that is the same every time', () => {
  const machine = createMachine({ entry: [raise({ type: 'a' }, { delay: 5 }), raise({ type: 'b' }, { delay: 5, id: 'named' })], after: { 7: {} } })

  const { actor, seen } = hooked(machine)
  actor.start()
  actor.stop()

  expect(seen).toEqual([
    'scheduling send-2 a',
    'scheduled',
    'scheduling named b',
    'scheduled',
    'scheduling xstate.after.7.(machine) xstate.after.7.(machine)',
    'scheduled',
  ])
})

test('actors without an id are named by _bookId, in the order in which they are made', () => {
  const child = createMachine({})
  const machine = setup({ types: {} as { context: Anything }, actors: { child } }).createMachine({
    context: ({ spawn }: Anything) => ({ refs: [spawn('child'), spawn('child')] }),
  })

  const { actor } = hooked(machine)

  expect(actor.getSnapshot().context.refs.map(({ id }: Anything) => id)).toEqual(['x:2', 'x:3'])
})

test('all actions pass the executor of their actor with the function to be run, those of the initial transition too', () => {
  const executed: [string, boolean][] = []
  const machine = setup({ actions: { known: () => undefined } }).createMachine({
    entry: ['known', { type: 'unknown' } as never, emit({ type: 'x' }), assign({})],
    on: { go: { actions: 'known' } },
  })
  const actor = createActor(machine, {
    inspect: (event) => {
      if (event.type === '@xstate.actor')
        checkActions(event.actorRef as AnyActorRef, ({ type, exec }) => void executed.push([type, exec !== undefined]))
    },
  }).start()
  actor.send({ type: 'go' })

  expect(executed).toEqual([
    ['known', true],
    ['unknown', false],
    ['xstate.emit', true],
    ['known', true],
  ])
})

test('listeners that throw, and errors without a listener, are reported instead of thrown on the event loop', async () => {
  const loose: unknown[] = []
  const catchLoose = (error: unknown) => void loose.push(error)
  process.on('uncaughtException', catchLoose)
  const reported: string[] = []
  const boom = () => {
    throw new Error('listener')
  }
  const actor = createActor(
    createMachine({
      on: {
        say: { actions: emit({ type: 'said' }) },
        fail: {
          actions: assign(() => {
            throw new Error('machine')
          }),
        },
      },
    }),
  )
  guardListeners(actor as AnyActorRef, (error) => void reported.push((error as Error).message))
  actor.on('*' as never, boom)
  actor.subscribe(boom)
  actor.subscribe({ next: boom })
  actor.start()
  actor.send({ type: 'say' })
  actor.send({ type: 'fail' })
  await new Promise<void>((resolve) => void setTimeout(resolve, 5))
  process.off('uncaughtException', catchLoose)

  expect(loose).toEqual([])
  expect(reported).toEqual(['listener', 'listener', 'listener', 'listener', 'listener', 'machine', 'machine'])
})

test('what an actor emits is taken before its listeners hear it, also from the initial transition, and no more once it has ended', () => {
  const heard: string[] = []
  const say = (who: string) => (event: Anything) => void heard.push(`${who} ${event.type}`)
  const machine = createMachine({
    entry: emit({ type: 'begun' }),
    initial: 'a',
    states: { a: { on: { go: { target: 'b', actions: emit({ type: 'gone' }) } } }, b: { type: 'final', entry: emit({ type: 'last' }) } },
  })
  const actor = createActor(machine) as Anything
  takeEmits(actor, say('we'))
  actor.on('*', say('they'))
  actor.start()
  actor.send({ type: 'go' })
  actor._actorScope.emit({ type: 'late' })

  expect(heard).toEqual(['begun', 'gone', 'last'].flatMap((type) => [`we ${type}`, `they ${type}`]))
})

test('an actor that starts shows an xstate.init event, and one that throws an xstate.error event to its parent', () => {
  const child = createMachine({
    on: {
      fail: {
        actions: assign(() => {
          throw new Error('x')
        }),
      },
    },
  })
  const machine = setup({ actors: { child } }).createMachine({
    invoke: { src: 'child', id: 'c', onError: {} },
    on: { fail: { actions: sendTo('c', { type: 'fail' }) } },
  })
  const seen: string[] = []
  const actor = createActor(machine, {
    inspect: (event) =>
      void (
        event.type === '@xstate.event' &&
        seen.push(`${(event.sourceRef as AnyActorRef | undefined)?.id ?? ''} → ${(event.actorRef as AnyActorRef).id} ${event.event.type}`)
      ),
    id: 'r',
  }).start()
  actor.send({ type: 'fail' })

  expect(seen).toEqual([' → r xstate.init', 'r → c xstate.init', ' → r fail', 'r → c fail', 'c → r xstate.error.actor.c'])
})

test("an author's own inspector hears what ours hears", () => {
  const ours: string[] = []
  const own: string[] = []
  const { actor } = hooked(createMachine({ on: { go: {} } }), { inspect: ({ type }) => void ours.push(type) })
  actor.system.inspect(({ type }) => void own.push(type))

  actor.start()
  actor.send({ type: 'go' })

  expect(own).toContain('@xstate.microstep')
  expect(own).toEqual(ours)
})
