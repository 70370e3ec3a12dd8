/** The step by table is XState's own: what anybody can see of a machine is the same with either. */
import { describe, expect, it } from 'vitest'
import { createActor, createMachine } from 'xstate'
import { stepByTable } from '../../../src/actors/replica/step.ts'
import { expectSameLives } from './two-lives.ts'

type Anything = any

describe('a step by table', () => {
  it('is the same as the step of XState for any machine without regions, whatever happens to it', () => {
    expectSameLives(200)
  })

  it.each([
    ['parallel states', { type: 'parallel', states: { a: {}, b: {} } }],
    ['a history', { initial: 'a', states: { a: { initial: 'x', states: { x: {}, back: { type: 'history' } } } } }],
    ['several targets', { initial: 'a', states: { a: { on: { go: { target: ['b', 'c'] } } }, b: {}, c: {} } }],
    ['no states', { context: {} }],
  ])('a machine with %s takes the step of XState', (_, config) => {
    const machine = createMachine(config as Anything)
    const { transition, getInitialSnapshot } = machine
    stepByTable(machine)

    expect(machine.transition).toBe(transition)
    expect(machine.getInitialSnapshot).toBe(getInitialSnapshot)
  })

  it('gives each snapshot a value that nobody can change for the next one', () => {
    const machine = createMachine({ initial: 'a', states: { a: { initial: 'b', states: { b: {} } } } })
    stepByTable(machine)
    const actor = createActor(machine).start()

    expect(() => {
      ;(actor.getSnapshot().value as Anything).a = 'other'
    }).toThrow(TypeError)
    expect(createActor(machine).getSnapshot().value).toEqual({ a: 'b' })
  })
})
