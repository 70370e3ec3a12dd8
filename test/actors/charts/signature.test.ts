import { describe, expect, test } from 'vitest'
import { type AnyStateMachine, and, cancel, createMachine, emit, fromPromise, raise, sendTo, setup, spawnChild, stateIn } from 'xstate'
import { chart } from '../../../src/actors/charts/chart.ts'
import { machineSignature, unsignedParts } from '../../../src/actors/charts/signature.ts'

const config = {
  id: 'm',
  initial: 'a',
  states: {
    a: { entry: 'start', on: { go: [{ target: 'b', guard: 'left', actions: 'note' }, { target: 'c' }], stop: 'c' }, after: { 100: 'c' } },
    b: { invoke: { src: 'work', onDone: 'c' }, always: { guard: 'done', target: 'c' } },
    c: { type: 'final' },
  },
} as const

type Config = Parameters<typeof createMachine>[0]
/** The signature after a change to the plain config. */
const changed = (change: (draft: any) => unknown): string => {
  const draft = structuredClone(config) as any
  change(draft)
  return machineSignature(createMachine(draft as Config))
}
const original = machineSignature(createMachine(config))

test('a signature is 16 hex digits and stands in journals, so it must never change for the same machine', () => {
  expect(original).toBe('b17e67fbe205607a')
})

test.each<[string, (draft: any) => unknown]>([
  ['a target', (draft) => (draft.states.a.on.stop = 'b')],
  ['the order of choices', (draft) => draft.states.a.on.go.reverse()],
  ['the name of a guard', (draft) => (draft.states.a.on.go[0].guard = 'right')],
  ['the parameters of a guard', (draft) => (draft.states.a.on.go[0].guard = { type: 'left', params: { atLeast: 1 } })],
  ['the name of an action', (draft) => (draft.states.a.entry = 'begin')],
  ['the name of an actor', (draft) => (draft.states.b.invoke.src = 'toil')],
  ['the id of an invoked actor', (draft) => (draft.states.b.invoke.id = 'w')],
  ['a delay', (draft) => (draft.states.a.after = { 200: 'c' })],
  ['a delay that got a name', (draft) => (draft.states.a.after = { soon: 'c' })],
  ['an always transition', (draft) => delete draft.states.b.always],
  ['a new state', (draft) => (draft.states.d = {})],
  ['the kind of a state', (draft) => (draft.states.c.type = 'atomic')],
  ['the initial state', (draft) => (draft.initial = 'b')],
  ['re-entering', (draft) => (draft.states.a.on.stop = { target: 'c', reenter: true })],
  ['an event raised in place', (draft) => (draft.states.a.exit = raise({ type: 'go' }))],
  ['the version', (draft) => (draft.version = '2')],
])('%s changes it', (_, change) => {
  const before = original
  expect(changed(change)).not.toBe(before)
})

test.each<[string, (draft: any) => unknown]>([
  ['descriptions', (draft) => (Object.assign(draft, { description: 'x' }).states.a.description = 'y')],
  ['meta', (draft) => (draft.states.a.meta = { color: 'red' })],
  ['tags', (draft) => (draft.states.a.tags = ['busy'])],
  ['the order of states', (draft) => (draft.states = Object.fromEntries(Object.entries(draft.states).reverse()))],
  ['the order of events', (draft) => (draft.states.a.on = { stop: draft.states.a.on.stop, go: draft.states.a.on.go })],
  ['a longer spelling of the same transition', (draft) => (draft.states.a.on.stop = [{ target: '#m.c' }])],
])('%s do not change it', (_, change) => {
  expect(changed(change)).toBe(original)
})

test('signs names that look like numbers as journals have them', () => {
  const actor = fromPromise(async () => 1)
  const machine = setup({ actors: { 10: actor, 9: actor, '-x': actor, b: actor } as any }).createMachine({
    id: 'm',
    version: '2',
    initial: 's',
    states: { s: { invoke: { src: '9' } as any }, 10: {}, 9: {} },
  })

  expect(machineSignature(machine as AnyStateMachine)).toBe('b3b0f3113821b35a')
})

test('the order of regions counts, since they act in that order', () => {
  const regions = { a: { entry: 'x' }, b: { entry: 'y' } }
  const signature = (states: object) => machineSignature(createMachine({ id: 'm', type: 'parallel', states } as Config))

  expect(signature(regions)).not.toBe(signature({ b: regions.b, a: regions.a }))
})

test('function bodies do not count, the structure of child machines does', () => {
  const parent = (child: AnyStateMachine, decide: () => boolean) =>
    setup({ actors: { child, effect: fromPromise(async () => 1) }, guards: { decide } }).createMachine({
      id: 'p',
      initial: 'a',
      states: { a: { invoke: { src: 'child' } } },
    })
  const child = createMachine({ id: 'child', initial: 'a', states: { a: {} } })
  const other = createMachine({ id: 'child', initial: 'a', states: { a: {}, b: {} } })

  expect(machineSignature(parent(child, () => true))).toBe(machineSignature(parent(child, () => false)))
  expect(machineSignature(parent(child, () => true))).not.toBe(machineSignature(parent(other, () => true)))
})

test('providing implementations keeps it, running and drawing keep it too', () => {
  const machine = setup({ actors: { work: fromPromise(async () => 1) }, actions: { start: () => undefined } }).createMachine({
    id: 'm',
    initial: 'a',
    states: { a: { entry: 'start', after: { 10: 'b' }, invoke: { src: 'work' } }, b: {} },
  })
  const before = machineSignature(machine)
  chart(machine)

  expect(machineSignature(machine)).toBe(before)
  expect(machineSignature(machine.provide({ actors: { work: fromPromise(async () => 2) }, actions: { start: () => undefined } }))).toBe(before)
})

test('a machine that spawns its own kind has a signature', () => {
  const machine: AnyStateMachine = createMachine({ id: 'm', initial: 'a', states: { a: {} } })
  ;(machine.implementations.actors as Record<string, unknown>).self = machine

  expect(machineSignature(machine)).toMatch(/^[0-9a-f]{16}$/)
})

describe('data that cannot be compared between two versions', () => {
  const circle: Record<string, unknown> = { name: 'a' }
  circle.self = [circle]
  let deep: unknown = 'end'
  for (let level = 0; level < 100_000; level++) deep = { deep }
  const trapped = {
    get x(): unknown {
      throw new Error('trap')
    },
  }
  const values: [string, unknown, string][] = [
    ['a bigint', 1n, 'v is a bigint'],
    ['a symbol', Symbol('x'), 'v is a symbol'],
    ['a circle', circle, 'v.self[0] contains itself'],
    ['data nested too deep', deep, 'is nested deeper than 100 levels'],
    ['a getter that throws', trapped, 'cannot be read: trap'],
  ]
  const places: [string, (v: any) => any, string][] = [
    ['emit', (v) => ({ entry: emit({ type: 'e', v }) }), "m state '(root)' entry: event"],
    ['raise', (v) => ({ exit: raise({ type: 'e', v } as never) }), "m state '(root)' exit: event"],
    ['sendTo', (v) => ({ on: { go: { actions: sendTo('x', { type: 'e', v }) } } }), "m state '(root)' on 'go': event"],
    ['params of an action', (v) => ({ initial: 'a', states: { a: { entry: { type: 'act', params: { v } } } } }), "m state 'a' entry: action"],
    ['params of a guard', (v) => ({ on: { go: { guard: { type: 'g', params: { v } } } } }), "m state '(root)' on 'go': guard"],
    ['a guard of guards', (v) => ({ on: { go: { guard: and([{ type: 'g', params: { v } } as never]) } } }), "m state '(root)' on 'go': guard"],
    ['stateIn', (v) => ({ always: { guard: stateIn({ v }), actions: 'x' } }), "m state '(root)' on 'always': guard"],
    ['cancel', (v) => ({ entry: cancel({ v } as never) }), "m state '(root)' entry: sendId"],
    ['a system id', (v) => ({ invoke: { src: 'x', systemId: { v } } }), "m state '(root)' invoke: systemId"],
    ['the version', (v) => ({ version: { v } }), 'm: version'],
  ]
  const cases = places.flatMap(([where, config, place]) => values.map(([what, value, why]) => [where, what, config(value), place, why] as const))

  test.each(cases)('%s with %s is named with its place, and refused', (_where, _what, config, place, why) => {
    const machine = createMachine({ id: 'm', ...config })

    expect(unsignedParts(machine)).toEqual([expect.stringContaining(place)])
    expect(unsignedParts(machine)[0]).toContain(why)
    expect(() => machineSignature(machine)).toThrow(
      expect.objectContaining({ name: 'RuntimeError', code: 'not_durable', hint: expect.stringContaining('plain JSON') }),
    )
  })

  test('is found in child machines, every place of it', () => {
    const child = createMachine({ entry: emit({ type: 'e', v: 1n }), exit: emit({ type: 'e', v: 2n }) })

    expect(unsignedParts(setup({ actors: { child } }).createMachine({ id: 'p' }))).toEqual([
      "p > child state '(root)' entry: event.v is a bigint",
      "p > child state '(root)' exit: event.v is a bigint",
    ])
  })

  test('the same object twice is no circle; what is not part of the signature may be anything', () => {
    const shared = { a: 1 }
    const logic = fromPromise(async () => 1)
    const machine = setup({ actors: { logic } }).createMachine({
      id: 'm',
      meta: { v: 1n },
      context: { v: 1n, circle },
      entry: [emit({ type: 'e', first: shared, second: shared } as never), spawnChild('logic', { input: { v: 1n, circle } })],
      invoke: { src: 'logic', input: { v: 1n, circle } },
    })

    expect(machineSignature(machine)).toMatch(/^[0-9a-f]{16}$/)
  })

  test('a guard that contains itself is refused', () => {
    const guard = and(['a'] as never) as unknown as { guards: unknown[] }
    guard.guards.push(guard)

    expect(() => machineSignature(createMachine({ id: 'm', on: { go: { guard: guard as never } } }))).toThrow(
      expect.objectContaining({ code: 'not_durable', message: expect.stringContaining("on 'go': guard contains itself") }),
    )
  })
})
