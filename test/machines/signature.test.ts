import { expect, test } from 'vitest'
import { type AnyStateMachine, createMachine, fromPromise, raise, setup } from 'xstate'
import { chart } from '../../src/machines/chart.ts'
import { machineSignature } from '../../src/machines/signature.ts'

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
