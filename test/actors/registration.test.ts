/** Whether a machine can be made durable is known before anything runs, with the cure when it cannot. */
import { expect, test } from 'vitest'
import { assign, createActor, createMachine, emit, enqueueActions, fromPromise, raise, sendTo, setup, spawnChild } from 'xstate'
import { registerMachine } from '../../src/actors/registration.ts'
import { aWorld, outcome, Puppets } from './support.ts'

const act = () => undefined
const logic = fromPromise(async () => 1)
type Config = Parameters<typeof createMachine>[0]

test.each<[string, Config, string]>([
  ['entry', { initial: 'a', states: { a: { entry: act } } }, "state 'a' entry has an inline action function"],
  ['exit of the root', { exit: act }, "state '(root)' exit has an inline action function"],
  ['a transition', { on: { go: { actions: act } } }, "state '(root)' on 'go' has an inline action function"],
  ['one of several', { on: { go: { actions: ['named', raise({ type: 'x' }), act] } } }, "on 'go' has an inline action function"],
  [
    'always',
    { initial: 'a', states: { a: { always: { guard: () => false, actions: act } } } },
    "state 'a' on 'always' has an inline action function",
  ],
  ['after', { after: { 10: { actions: act } } }, 'has an inline action function'],
  ['the initial transition', { initial: { target: 'a', actions: act }, states: { a: {} } }, 'has an inline action function'],
  ['onDone of an invoke', { invoke: { src: 'x', onDone: { actions: act } } }, "on 'xstate.done.actor.0.(machine)' has an inline action function"],
  [
    'onDone of a state',
    { initial: 'a', states: { a: { initial: 'b', states: { b: { type: 'final' } }, onDone: { actions: act } } } },
    'has an inline action function',
  ],
  [
    'a nested state',
    { initial: 'a', states: { a: { initial: 'b', states: { b: { entry: act } } } } },
    "state 'a.b' entry has an inline action function",
  ],
  ['an invoked actor', { invoke: { src: logic } }, 'invokes an actor without a name'],
  ['a spawned actor', { entry: spawnChild(logic) }, 'entry spawns an actor without a name'],
  ['an invoked name that does not exist', { invoke: { src: 'nobody' } }, "invokes 'nobody', which setup({ actors }) does not have"],
  ['a spawned name that does not exist', { entry: spawnChild('nobody') }, "spawns 'nobody', which setup({ actors }) does not have"],
])('refused, with the place and the cure: %s', (_name, config, problem) => {
  expect(() => registerMachine('m', createMachine(config))).toThrow(
    expect.objectContaining({ code: 'not_durable', message: expect.stringContaining(problem), hint: expect.stringContaining('setup({ actions })') }),
  )
})

test('all problems are named together, those of children too', () => {
  const child = createMachine({ entry: act })
  const machine = setup({ actors: { child }, actions: { spawns: spawnChild(logic as never) as never } }).createMachine({
    invoke: { src: 'child' },
    exit: act,
  })

  expect(() => registerMachine('m', machine)).toThrow(
    expect.objectContaining({
      data: {
        problems: [
          "(machine) state '(root)' exit has an inline action function",
          "(machine) action 'spawns' spawns an actor without a name",
          "(machine) > child state '(root)' entry has an inline action function",
        ],
      },
    }),
  )
})

test('data that no journal can compare is refused, with the place and its own cure, beside the other problems', () => {
  const refused = (config: Config) => {
    try {
      return registerMachine('m', createMachine(config))
    } catch (error) {
      return error
    }
  }

  expect(refused({ entry: emit({ type: 'e', v: 1n } as never) })).toMatchObject({
    code: 'not_durable',
    message: "machine 'm' cannot be made durable: (machine) state '(root)' entry: event.v is a bigint",
    hint: expect.stringMatching(/^keep the data in a config plain JSON/),
  })
  expect(refused({ entry: emit({ type: 'e', v: 1n } as never), exit: act })).toMatchObject({
    hint: expect.stringMatching(/^name it: .*; keep the data in a config plain JSON/),
    data: { problems: [expect.stringContaining('inline action function'), expect.stringContaining('event.v is a bigint')] },
  })
})

test('what is no machine, and what is no kind, is refused', () => {
  expect(() => registerMachine('m', logic as never)).toThrow(expect.objectContaining({ code: 'bad_request', field: 'machines' }))
  expect(() => registerMachine('Not A Kind', createMachine({}))).toThrow(expect.objectContaining({ code: 'bad_request', field: 'kind' }))
})

test('built-in actions, named ones and named actors are fine, also in a machine that spawns its own kind', () => {
  const tree: any = setup({ actors: { leaf: logic } as any, actions: { act } }).createMachine({
    entry: [assign({}), 'act', enqueueActions(() => undefined)],
    on: { grow: { actions: [spawnChild('tree' as never), sendTo(({ self }) => self, { type: 'x' })] } },
  })
  tree.implementations.actors.tree = tree

  expect(registerMachine('tree', tree).signature).toMatch(/^[0-9a-f]{16}$/)
})

test('a machine that was made durable says so when it is run by itself', () => {
  const { gated } = registerMachine('m', setup({ actions: { act } }).createMachine({ entry: 'act' }))
  const errors: unknown[] = []
  const actor = createActor(gated)
  actor.subscribe({ error: (error) => void errors.push(error) })

  actor.start()

  expect(errors).toEqual([expect.objectContaining({ message: expect.stringContaining('run it under a Statecast host') })])
})

test('what only shows at run time is refused there, without acting: functions that enqueueActions enqueues, actors that assign spawns', async () => {
  const world = await aWorld()
  const acted: string[] = []
  const track = () => void acted.push('track')
  const machine = setup({ types: {} as { context: any; events: any }, actions: { track, named: () => void acted.push('named') } }).createMachine({
    context: {},
    on: {
      inline: { actions: enqueueActions(({ enqueue }) => enqueue(() => void acted.push('inline'))) },
      // A function that has the name of a named action is still one that nothing can hold back.
      disguised: { actions: enqueueActions(({ enqueue }) => enqueue(track as never)) },
      named: { actions: enqueueActions(({ enqueue }) => enqueue('named')) },
      spawn: { actions: assign({ ref: ({ spawn }: any) => spawn(fromPromise(async () => void acted.push('spawned'))) }) },
      spawnChild: { actions: enqueueActions(({ enqueue }) => enqueue.spawnChild(fromPromise(async () => void acted.push('spawned')) as never)) },
      missing: { actions: assign({ ref: ({ spawn }: any) => spawn('nobody') }) },
    },
  })
  const host = await world.host([registerMachine('m', machine)])
  const send = (type: string) => outcome(world, host.send({ kind: 'm', id: 'one' }, { type }))

  const told = []
  for (const type of ['inline', 'disguised', 'spawn', 'spawnChild', 'missing', 'named']) told.push(await send(type))

  expect(told).toMatchObject([
    { code: 'bad_request', message: expect.stringContaining("the action '(anonymous)' is an inline function") },
    { code: 'bad_request', message: expect.stringContaining("the action 'track' is an inline function") },
    { code: 'bad_request', message: expect.stringContaining('was spawned without a name') },
    { code: 'bad_request', message: expect.stringContaining('was spawned without a name') },
    { code: 'bad_request', message: expect.stringContaining("Actor logic 'nobody' not implemented") },
    { value: { duplicate: false } },
  ])
  expect(acted).toEqual(['named'])
})

const actorsHint = expect.stringContaining('setup({ actors })')
const inlineTypes = {} as { context: any; events: any }

test('an event that meets an inline function or actor fails alone, with what to name, however often it comes: the actor is not set aside for it', async () => {
  const world = await aWorld()
  const machine = setup({ types: inlineTypes }).createMachine({
    context: { n: 0 },
    on: {
      inline: { actions: enqueueActions(({ enqueue }) => enqueue(act)) },
      spawn: { actions: assign({ ref: ({ spawn }: any) => spawn(logic) }) },
      add: { actions: assign({ n: ({ context }) => context.n + 1 }) },
    },
  })
  const host = await world.host([registerMachine('m', machine)], { limits: { crashMax: 2 } })
  const send = (type: string) => outcome(world, host.send({ kind: 'm', id: 'one' }, { type }))
  const told = []
  for (let round = 0; round < 8; round++) {
    for (const type of ['inline', 'spawn']) told.push(await send(type))
    expect(await send('add')).toMatchObject({ value: { duplicate: false } })
  }
  const commits = await world.commits({ kind: 'm', id: 'one' })
  host.abandon()
  const next = await world.host([registerMachine('m', machine)])

  expect(told.slice(0, 2)).toMatchObject([
    { code: 'bad_request', error: { hint: expect.stringContaining('setup({ actions })') } },
    { code: 'bad_request', error: { hint: actorsHint } },
  ])
  expect(told.map((one) => ('code' in one ? one.code : 'ok'))).toEqual(Array(16).fill('bad_request'))
  expect(commits.filter(({ crash, quarantine }) => crash || quarantine)).toEqual([])
  expect(await world.clock.until(next.read({ kind: 'm', id: 'one' }))).toMatchObject({ snapshot: { context: { n: 8 } }, quarantine: undefined })
})

test('an inline function in a child fails the event, not the child: no onError of the machine takes it for an error of its own', async () => {
  const world = await aWorld()
  const child = setup({ types: inlineTypes }).createMachine({ on: { bad: { actions: enqueueActions(({ enqueue }) => enqueue(act)) } } })
  const machine = setup({ types: inlineTypes, actors: { child } }).createMachine({
    initial: 'on',
    states: { on: { invoke: { src: 'child', id: 'child', onError: 'off' }, on: { bad: { actions: sendTo('child', { type: 'bad' }) } } }, off: {} },
  })
  const host = await world.host([registerMachine('m', machine)])
  const address = { kind: 'm', id: 'one' }

  const told = await outcome(world, host.send(address, { type: 'bad' }))

  expect(told).toMatchObject({ code: 'bad_request', message: expect.stringContaining('is an inline function') })
  expect((await world.clock.until(host.read(address))).snapshot?.value).toBe('on')
})

test('an actor that an inline function keeps from beginning says what to name', async () => {
  const world = await aWorld()
  const machine = setup({ types: inlineTypes }).createMachine({ context: ({ spawn }: any) => ({ ref: spawn(logic) }) })
  const host = await world.host([registerMachine('m', machine)])

  expect(await outcome(world, host.create({ kind: 'm', id: 'one' }))).toMatchObject({ code: 'bad_request', error: { hint: actorsHint } })
})

test('what an effect or a timer runs into has no sender to be told, and is a failure of the actor', async () => {
  const world = await aWorld()
  const machine = setup({ types: inlineTypes }).createMachine({
    initial: 'wait',
    states: { wait: { after: { 100: { actions: enqueueActions(({ enqueue }) => enqueue(act)) } } } },
  })
  const host = await world.host([registerMachine('m', machine)], { limits: { crashMax: 1 } })
  const address = { kind: 'm', id: 'one' }
  await outcome(world, host.create(address))

  await world.clock.advance(10_000)

  expect(await world.clock.until(host.read(address))).toMatchObject({ quarantine: { message: expect.stringContaining('is an inline function') } })
})

test('what runs goes on when such an event is refused, and no host takes the refusals for processes that died of it', async () => {
  const world = await aWorld()
  const puppets = new Puppets()
  const make = () =>
    registerMachine(
      'm',
      setup({ types: inlineTypes, actors: { work: puppets.promise('work') } }).createMachine({
        initial: 'working',
        states: { working: { invoke: { src: 'work', id: 'work', onDone: 'over' } }, over: {} },
        on: { inline: { actions: enqueueActions(({ enqueue }) => enqueue(act)) } },
      }),
    )
  const address = { kind: 'm', id: 'one' }
  const host = await world.host([make()])
  await outcome(world, host.create(address))
  for (let round = 0; round < 12; round++) expect(await outcome(world, host.send(address, { type: 'inline' }))).toMatchObject({ code: 'bad_request' })
  host.abandon()
  const next = await world.host([make()])
  await world.clock.settle()

  puppets.control('work').resolve('done')
  await world.clock.settle()

  expect(await world.clock.until(next.read(address))).toMatchObject({ quarantine: undefined, snapshot: { value: 'over' } })
})
