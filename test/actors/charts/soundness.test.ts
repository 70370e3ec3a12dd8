/** What a chart alone says against a machine. */
import { expect, test } from 'vitest'
import { createMachine, type MachineConfig } from 'xstate'
import { chart, soundnessOf } from '../../../src/actors/index.ts'
import { machines } from '../../../src/all-machines.ts'

const sound = (config: MachineConfig<any, any>) => soundnessOf(chart(createMachine({ id: 'm', ...config })))

test('a state that nothing leads to is found, with the outermost for all that is in it; one that a guard may keep out of reach is not', () => {
  const { unreachable } = sound({
    initial: 'a',
    states: {
      a: { on: { go: { target: 'b', guard: 'never' } } },
      b: { type: 'final' },
      lost: { initial: 'in', states: { in: { on: { go: '#m.b' } } } },
    },
  })
  expect(unreachable).toEqual(['m.lost'])
})

test('states are reached by initial ones, regions beside, history, always, timers, done of a region, and transitions of what is around', () => {
  const found = sound({
    initial: 'work',
    on: { restart: '.back' },
    states: {
      work: {
        type: 'parallel',
        states: {
          one: { initial: 'a', states: { a: { after: { 5: 'b' } }, b: { always: { guard: 'x', target: 'c' } }, c: { type: 'final' } } },
          two: { initial: 'd', states: { d: { on: { go: 'e' } }, e: { type: 'final' }, before: { type: 'history' } } },
        },
        onDone: 'end',
      },
      back: { initial: 'f', states: { f: { on: { resume: '#m.work.two.before' } } } },
      end: { type: 'final' },
    },
  })
  expect(found).toEqual({ unreachable: [], deadEnds: [] })
})

test('a state from which the end cannot be reached is a dead end, in circles too, unless it is meant to be stayed in', () => {
  const withTrap = (tags: string[]) =>
    sound({
      initial: 'a',
      states: {
        a: { on: { go: 'trap', end: 'done' } },
        trap: { on: { turn: 'other' } },
        other: { tags, on: { turn: 'trap' } },
        done: { type: 'final' },
      },
    })
  expect(withTrap([]).deadEnds).toEqual(['m.trap', 'm.other'])
  expect(withTrap(['resting']).deadEnds).toEqual([])
})

test('of a machine that never ends, a dead end is where nothing can happen any more', () => {
  expect(sound({ initial: 'on', states: { on: { on: { toggle: 'off' } }, off: { on: { toggle: 'on' } } } }).deadEnds).toEqual([])
  expect(sound({ initial: 'on', states: { on: { on: { toggle: 'stuck' } }, stuck: {} } }).deadEnds).toEqual(['m.stuck'])
  expect(sound({ initial: 'on', on: { toggle: '.on' }, states: { on: { on: { go: 'still' } }, still: {} } }).deadEnds).toEqual([])
})

test.each(Object.keys(machines))('%s of ours has no state that nothing leads to, and none without a way on', (name) => {
  expect(soundnessOf(chart(machines[name] as (typeof machines)[string]))).toEqual({ unreachable: [], deadEnds: [] })
})
