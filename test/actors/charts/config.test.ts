import { expect, test } from 'vitest'
import { type AnyStateMachine, and, assign, createMachine, fromPromise, setup } from 'xstate'
import { chart } from '../../../src/actors/charts/chart.ts'
import { toConfig } from '../../../src/actors/charts/config.ts'
import { machineSignature } from '../../../src/actors/charts/signature.ts'
import { machines } from '../../../src/all-machines.ts'
import { hard } from './hard-machines.ts'

/** Made again from the text alone, with the implementations of the original. */
const again = (machine: AnyStateMachine): AnyStateMachine => {
  const text = JSON.stringify(toConfig(machine).config)
  return createMachine(JSON.parse(text) as object, machine.implementations as never)
}

test.each(Object.entries(machines))('%s comes back from JSON with its chart and its signature', (_, machine) => {
  expect(toConfig(machine).unnamed).toEqual([])
  expect(chart(again(machine))).toEqual(chart(machine))
  expect(machineSignature(again(machine))).toBe(machineSignature(machine))
})

test.each(Object.entries(hard))('%s comes back with its chart, and with its signature where everything in it has a name', (_, machine) => {
  expect(chart(again(machine))).toEqual(chart(machine))
  if (toConfig(machine).unnamed.length === 0) expect(machineSignature(again(machine))).toBe(machineSignature(machine))
})

test('every kind of part stands in it, in the form in which the author wrote it', () => {
  const machine = setup({
    actors: { work: fromPromise(async () => 1) },
    actions: { note: (_, __: { text: string }) => undefined },
    guards: { left: (_, __: { least: number }) => true },
    delays: { soon: 10 },
  }).createMachine({
    id: 'all',
    version: '2',
    description: 'one of each',
    context: { n: 1 },
    meta: { owner: 'us' },
    initial: 'a',
    states: {
      a: {
        tags: ['busy'],
        description: 'the first',
        entry: { type: 'note', params: { text: 'in' } },
        exit: [{ type: 'note', params: () => ({ text: 'out' }) }],
        invoke: { src: 'work', id: 'w', systemId: 's', onDone: 'b', onError: { target: 'b', description: 'sad' } },
        on: { stay: undefined, '*': { guard: { type: 'left', params: { least: 2 } }, target: 'b', reenter: true } },
        after: { soon: 'b', 50: { target: 'b' } },
        always: [{ guard: { type: 'left', params: { least: 3 } }, target: '.x' }],
        initial: 'x',
        states: { x: {}, was: { type: 'history', history: 'deep', target: 'x' } },
      },
      b: { type: 'final', output: ({ context }) => context },
    },
  })

  expect(toConfig(machine)).toEqual({
    unnamed: [],
    config: {
      id: 'all',
      version: '2',
      description: 'one of each',
      context: { n: 1 },
      meta: { owner: 'us' },
      initial: 'a',
      states: {
        a: {
          tags: ['busy'],
          description: 'the first',
          entry: { type: 'note', params: { text: 'in' } },
          exit: [{ type: 'note', params: 'inline' }],
          invoke: [{ src: 'work', id: 'w', systemId: 's', onDone: 'b', onError: { target: 'b', description: 'sad' } }],
          on: { stay: {}, '*': { guard: { type: 'left', params: { least: 2 } }, target: 'b', reenter: true } },
          after: { soon: 'b', 50: { target: 'b' } },
          always: [{ guard: { type: 'left', params: { least: 3 } }, target: '.x' }],
          initial: 'x',
          states: { x: {}, was: { type: 'history', history: 'deep', target: 'x' } },
        },
        b: { type: 'final' },
      },
    },
  })
  expect(machineSignature(again(machine))).toBe(machineSignature(machine))
})

test('a machine without an id has none in JSON either: with one it would have another signature', () => {
  const machine = createMachine({ initial: 'a', states: { a: { on: { go: 'b' } }, b: {} } })

  expect(toConfig(machine).config).not.toHaveProperty('id')
  expect(machineSignature(again(machine))).toBe(machineSignature(machine))
})

test('a function in place of a name gets a name of what it does, and is listed', () => {
  const machine = createMachine({
    id: 'm',
    initial: 'a',
    context: { n: 0 },
    states: {
      a: {
        entry: [assign({ n: 1 }), () => undefined],
        invoke: { src: fromPromise(async () => 1) },
        on: { go: { guard: and(['p', 'q']), target: 'a' } },
      },
    },
  })

  const { config, unnamed } = toConfig(machine)

  expect(unnamed).toEqual(['states.a.entry.0', 'states.a.entry.1', 'states.a.invoke.0.src', 'states.a.on.go.guard'])
  expect(config).toMatchObject({ states: { a: { entry: ['assign(n)', '(inline)'], on: { go: { guard: 'p and q' } } } } })
  expect(chart(again(machine))).toEqual(chart(machine))
})
