/** A machine that reads a clock or chance is found out while it runs, by name and with the cure, and not by a crash that makes its actor unreadable. */
import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { type AnyStateMachine, assign, cancel, emit, fromCallback, fromPromise, raise, sendTo, setup, stopChild } from 'xstate'
import { createRuntime } from '../../src/index.ts'
import { defaultCheck } from '../../src/runtime/determinism.ts'
import { testRuntime } from '../../src/testing/index.ts'

const types = {} as { context: any; events: any; input: any; emitted: any }
const onGo = (actions: any, more: object = {}) =>
  setup({ types }).createMachine({ id: 'order', context: {}, initial: 'open', on: { go: { actions } }, states: { open: {} }, ...more })
let calls = 0

type Case = { machine: () => AnyStateMachine; says: RegExp; atBirth?: true }
const cases: Record<string, Case> = {
  'Date.now() in an assign': {
    machine: () => onGo(assign({ paidAt: () => Date.now() })),
    says: /on 'go', in state "open": context.paidAt is \d+, and \d+ when it is done again; it calls Date\.now\(\)/,
  },
  'the date of today in an assign': {
    machine: () => onGo(assign({ day: () => new Date().toISOString().slice(0, 10) })),
    says: /context\.day is "\d+-\d+-\d+", and .* it calls new Date\(\)/,
  },
  'randomUUID() in an assign, deep in a list': {
    machine: () => onGo(assign({ items: () => [{ name: 'a', ids: [randomUUID()] }] })),
    says: /context\.items\.0\.ids\.0 is "/,
  },
  'a guard with Math.random()': {
    machine: () => onGo([], { on: { go: { guard: () => Math.random() < 2, target: '.open' } } }),
    says: /it calls Math\.random\(\)/,
  },
  'a guard that compares with a clock': {
    machine: () => onGo([], { on: { go: { guard: () => Date.now() > 0, target: '.open' } } }),
    says: /it calls Date\.now\(\)/,
  },
  'an event with chance in it': {
    machine: () => onGo(emit(() => ({ type: 'said', id: randomUUID() }))),
    says: /emit\.event\.id is "/,
  },
  'a delay with chance in it': {
    machine: () => onGo(raise({ type: 'later' }, { delay: () => 1000 + Math.random() * 1000 })),
    says: /delays\.0\.\w+ is \d+/,
  },
  'the input of an effect': {
    machine: () =>
      setup({ types, actors: { work: fromPromise(() => new Promise(() => undefined)) } }).createMachine({
        id: 'order',
        initial: 'open',
        states: { open: { on: { go: 'busy' } }, busy: { invoke: { src: 'work', id: 'work', input: () => ({ key: randomUUID() }) } } },
      }),
    says: /order\/x\/work#1\).*input\.key is "/,
  },
  'a counter beside the machine': { machine: () => onGo(assign({ n: () => ++calls })), says: /context\.n is \d+, and \d+ when/ },
  'a child machine': {
    machine: () => {
      const child = setup({ types }).createMachine({
        id: 'item',
        context: {},
        initial: 'new',
        states: { new: { on: { go: { actions: assign({ at: () => Date.now() }) } } } },
      })
      return setup({ types, actors: { child } }).createMachine({
        id: 'order',
        invoke: { src: 'child', id: 'child' },
        on: { go: { actions: sendTo('child', { type: 'go' }) } },
      })
    },
    says: /machine 'item' \(order\/x\/child#1\).*in state "new": context\.at is/,
  },
  'randomUUID() in the context': {
    machine: () => onGo([], { context: () => ({ id: randomUUID() }) }),
    says: /machine 'order' \(order\/x\) is not the same every time when it begins.*context\.id is "/,
    atBirth: true,
  },
}

test.each(Object.entries(cases))('%s: the test kit refuses it, and says which machine, where and what to do', async (_, { machine, says }) => {
  await using kit = await testRuntime({ machines: { order: machine() } })
  const { Date: realDate } = globalThis
  const realRandom = Math.random

  const error = await kit.clock.until(
    kit.runtime
      .actor('order', 'x')
      .send({ type: 'go' })
      .catch((refusal: unknown) => refusal),
  )

  expect(error).toMatchObject({ code: 'not_deterministic', message: expect.stringMatching(says), hint: expect.stringContaining('now()') })
  expect(kit.log.filter(({ level }) => level === 'error')).toEqual([
    expect.objectContaining({
      message: expect.stringContaining('not the same every time'),
      fields: { error: expect.objectContaining({ hint: expect.any(String) }) },
    }),
  ])
  expect([globalThis.Date, Math.random]).toEqual([realDate, realRandom])
})

test.each(Object.entries(cases))(
  '%s: in development it is taken and logged once, and what the machine sees is today',
  async (_, { machine, says }) => {
    await using kit = await testRuntime({ machines: { order: machine() }, checkDeterminism: 'sample' })
    const order = kit.runtime.actor('order', 'x')

    for (let n = 0; n < 4; n++) await kit.clock.until(order.send({ type: 'go' }))

    const told = kit.log.filter(({ message }) => message?.includes('not the same every time'))
    expect(told.map(({ fields }) => (fields as { error: { message: string } }).error.message)).toEqual([expect.stringMatching(says)])
    const { paidAt } = ((await kit.clock.until(order.snapshot())) as any).context ?? {}
    if (paidAt !== undefined) expect(Math.abs(paidAt - Date.now())).toBeLessThan(3_600_000)
  },
)

/** Sent `go` and `next`, with kills between. Each keeps what a snapshot cannot hold as it is, or lets out what is another object each time. */
const aMachine = (on: Record<string, any>, more: object = {}, actors = {}) =>
  setup({ types, actors }).createMachine({ id: 'order', context: {}, on: mapActions(on), ...more } as any)
const mapActions = (on: Record<string, any>) => Object.fromEntries(Object.entries(on).map(([type, actions]) => [type, { actions }]))
const asks = setup({ types }).createMachine({
  context: ({ input }: any) => ({ parent: input.parent }),
  on: { ask: { actions: sendTo(({ context }) => context.parent, { type: 'told' }) } },
})
const hears = fromCallback(() => undefined)

const innocent: Record<string, () => AnyStateMachine> = {
  'what a pattern has matched': () =>
    aMachine({ go: assign({ kept: () => /(?<no>\d+)/.exec('order 17') }), next: assign({ no: ({ context }) => context.kept.groups.no }) }),
  'a Buffer': () => aMachine({ go: assign({ kept: () => Buffer.from('ab') }), next: assign({ hex: ({ context }) => context.kept.toString('hex') }) }),
  'an error of a class': () =>
    aMachine({ go: assign({ kept: () => new RangeError('no') }), next: assign({ range: ({ context }) => context.kept instanceof RangeError }) }),
  'half a character': () =>
    aMachine({ go: assign({ kept: () => '😀'.slice(0, 1) }), next: assign({ whole: ({ context }) => context.kept + '😀'.slice(1) }) }),
  'many numbers': () =>
    aMachine(
      { next: assign({ kept: ({ context }) => context.kept.map((n: number) => n + 1) }) },
      { context: () => ({ kept: new Float64Array([0.5, 2]) }) },
    ),
  'minus zero': () => aMachine({ go: assign({ kept: () => -0 }), next: emit(({ context }) => ({ type: 'said', kept: context.kept })) }),
  'a date and its class': () =>
    aMachine({ go: assign({ kept: () => new Date(5) }), next: assign({ ours: ({ context }) => context.kept.constructor === Date }) }),
  'an event with an actor in it': () => aMachine({ next: emit(({ self }) => ({ type: 'said', by: self })) }),
  'a message to an effect with an actor and a function in it': () =>
    aMachine(
      { next: sendTo('hears', ({ self }) => ({ type: 'go', replyTo: self, done: () => 1 })) },
      { invoke: { src: 'hears', id: 'hears' } },
      { hears },
    ),
  'a child that knows its parent': () =>
    aMachine(
      { next: sendTo('asks', { type: 'ask' }), told: assign({ told: ({ context }) => (context.told ?? 0) + 1 }) },
      { invoke: { src: 'asks', id: 'asks', input: ({ self }: any) => ({ parent: self }) } },
      { asks },
    ),
  'a child that has ended, and is still kept': () =>
    aMachine(
      {
        go: [assign({ kept: ({ spawn, self }) => (spawn as any)('asks', { id: 'asks', input: { parent: self } }) }), stopChild('asks')],
        next: assign({ status: ({ context }) => context.kept.getSnapshot().status }),
      },
      {},
      { asks },
    ),
}

test.each(Object.entries(innocent))(
  '%s: it is the same every time, so nobody says otherwise, and it is the same after a kill',
  async (_, machine) => {
    await using kit = await testRuntime({ machines: { order: machine() }, limits: { snapshotEvery: 1 } })
    const factsOf = async () => {
      const { kept: _kept, ...facts } = ((await kit.clock.until(kit.runtime.actor('order', 'x').snapshot())) as any).context
      return facts
    }
    for (const types of [
      ['go', 'next'],
      ['next', 'go', 'next'],
    ]) {
      for (const type of types) await kit.clock.until(kit.runtime.actor('order', 'x').send({ type }))
      const before = await factsOf()
      await kit.crash()
      await kit.restart()
      expect(await factsOf()).toEqual(before)
    }
    expect(kit.log.filter(({ level }) => level === 'error')).toEqual([])
  },
)

test('two delayed events of one id, of which one has come: a cancel reaches neither, and the second comes, after a kill as before', async () => {
  const later = raise({ type: 'tick' }, { delay: ({ event }: any) => event.ms, id: 'tick' })
  const machine = setup({ types }).createMachine({
    context: { ticks: 0 },
    on: { later: { actions: later }, stop: { actions: cancel('tick') }, tick: { actions: assign({ ticks: ({ context }) => context.ticks + 1 }) } },
  })
  const ticks = async (kill: boolean) => {
    await using kit = await testRuntime({ machines: { order: machine }, limits: { snapshotEvery: 1 } })
    const send = (event: object) => kit.clock.until(kit.runtime.actor('order', 'x').send(event as any))
    await send({ type: 'later', ms: 100 })
    await send({ type: 'later', ms: 300 })
    await kit.clock.advance(150)
    if (kill) await kit.crash()
    if (kill) await kit.restart()
    await send({ type: 'stop' })
    await kit.clock.advance(500)
    return (await kit.clock.until(kit.runtime.actor('order', 'x').snapshot())).context.ticks
  }

  expect(await ticks(true)).toBe(await ticks(false))
})

test('a context that no snapshot can hold is looked at too: its journal is folded again', async () => {
  const machine = setup({ types }).createMachine({
    id: 'order',
    context: () => ({ seen: new Map() }),
    on: {
      note: { actions: assign({ seen: ({ context, event }) => new Map(context.seen).set(event.name, context.seen.size) }) },
      go: { actions: assign({ seen: ({ context }) => new Map(context.seen).set('at', Date.now()) }) },
    },
  })
  await using kit = await testRuntime({ machines: { order: machine } })
  const order = kit.runtime.actor('order', 'x')
  const note = (name: string) => order.send({ type: 'note', name })
  await kit.clock.until(note('a'))

  const [b, go, c] = await kit.clock.until(Promise.allSettled([note('b'), order.send({ type: 'go' }), note('c')]))

  expect([b?.status, c?.status]).toEqual(['fulfilled', 'fulfilled'])
  expect(go).toMatchObject({ reason: { code: 'not_deterministic', message: expect.stringContaining('context.seen') } })
})

test('a long journal is not folded again for one look: others would wait', async () => {
  let applied = 0
  const machine = setup({ types }).createMachine({
    context: () => ({ seen: new Map() }),
    on: { go: { guard: () => ++applied > 0, actions: assign({ seen: ({ context }) => new Map(context.seen) }) } },
  })
  await using kit = await testRuntime({ machines: { order: machine }, checkDeterminism: 'off' })
  for (let n = 0; n < 1_001; n++) await kit.clock.until(kit.runtime.actor('order', 'x').send({ type: 'go' }))
  await kit.restart({ checkDeterminism: 'always' })
  await kit.clock.until(kit.runtime.actor('order', 'x').snapshot())
  applied = 0

  await kit.clock.until(kit.runtime.actor('order', 'x').send({ type: 'go' }))

  expect(applied).toBe(1)
})

test('an input that is refused leaves nothing behind, its neighbours count, and its sender may go on', async () => {
  const machine = setup({ types }).createMachine({
    context: { n: 0 },
    on: { count: { actions: assign({ n: ({ context }) => context.n + 1 }) }, go: { actions: assign({ at: () => Date.now() }) } },
  })
  await using kit = await testRuntime({ machines: { order: machine } })
  const order = kit.runtime.actor('order', 'x')
  const outcomes = []
  for (let n = 0; n < 10; n++)
    outcomes.push(
      ...(await kit.clock.until(Promise.allSettled(['count', 'go', 'count'].map((type) => order.send({ type } as any))))).map(({ status }) => status),
    )
  await kit.crash()
  await kit.restart()

  expect(outcomes).toEqual(Array(10).fill(['fulfilled', 'rejected', 'fulfilled']).flat())
  expect(((await kit.clock.until(kit.runtime.actor('order', 'x').snapshot())) as any).context).toEqual({ n: 20 })
})

test('a sample is a few of each kind of input and then now and then; production looks at none', async () => {
  let applied = 0
  const machine = setup({ types }).createMachine({ context: {}, on: { go: { actions: assign(() => void applied++ as any) } } })
  const applications = async (checkDeterminism: 'off' | 'sample' | 'always', times: number) => {
    await using kit = await testRuntime({ machines: { order: machine }, checkDeterminism })
    applied = 0
    for (let n = 0; n < times; n++) await kit.clock.until(kit.runtime.actor('order', 'x').send({ type: 'go' }))
    return applied
  }

  expect(await applications('off', 10)).toBe(10)
  expect(await applications('always', 10)).toBe(20)
  expect(await applications('sample', 300)).toBe(304)
  expect([defaultCheck({ NODE_ENV: 'production' }), defaultCheck({ NODE_ENV: 'test' }), defaultCheck({})]).toEqual(['off', 'sample', 'sample'])
  await expect(createRuntime({ transport: 'memory:', checkDeterminism: 'often' as never })).rejects.toMatchObject({ field: 'checkDeterminism' })
})
