/** The step by table is XState's own: what anybody can see of a machine is the same with either. */
import { describe, expect, it, vi } from 'vitest'
import { type AnyStateMachine, assign, createActor, createMachine, setup } from 'xstate'
import { registerMachine } from '../../../src/actors/registration.ts'
import { stepByTable } from '../../../src/actors/replica/step.ts'
import { expectSameLives } from './two-lives.ts'

type Anything = any

describe('a step by table', () => {
  it('is the same as the step of XState for any machine without regions, whatever happens to it', () => {
    expectSameLives(import.meta.url)
  })

  it.each<[string, () => AnyStateMachine]>([
    [
      'two states of one id',
      () =>
        createMachine({
          initial: 'cart',
          states: {
            cart: { id: 'step', on: { NEXT: 'address' } },
            address: { id: 'step', on: { NEXT: 'pay' } },
            pay: { on: { NEXT: 'done' } },
            done: {},
          },
        }),
    ],
    [
      'states within one that is atomic',
      () =>
        createMachine({
          initial: 'a',
          states: {
            a: { on: { NEXT: '#inner' } },
            f: { type: 'atomic', states: { k: { id: 'inner', on: { NEXT: '#a' } } } } as Anything,
            b: { id: 'a' },
          },
        }),
    ],
    ['a context that is no object', () => createMachine({ context: 0 as Anything, initial: 'a', states: { a: {} } })],
    [
      'an action that is none',
      () => createMachine({ initial: 'a', states: { a: { on: { NEXT: { target: 'b', actions: [false as Anything] } } }, b: {} } }),
    ],
    [
      'a prototype that an assign gives',
      () => {
        const given = assign(() => JSON.parse('{"__proto__":{"admin":true}}'))
        const asks = assign(({ context }: Anything) => ({ admin: context.admin ?? 'no' }))
        return createMachine({ context: {}, initial: 'a', states: { a: { on: { NEXT: { actions: [given, asks] } } } } } as Anything)
      },
    ],
    [
      'parameters that look at their action',
      () => {
        const by = {
          type: 'add',
          step: 3,
          params: function (this: Anything) {
            return this.step
          },
        }
        const actions = { add: assign({ n: (_: Anything, step: Anything) => step }) }
        return setup({ actions } as Anything).createMachine({
          context: {},
          initial: 'a',
          states: { a: { on: { NEXT: { actions: by } } } },
        } as Anything)
      },
    ],
    [
      'many actors spawned at once',
      () => {
        const kid = createMachine({})
        const refs = ({ spawn }: Anything) => Object.fromEntries(Array.from({ length: 50 }, (_, n) => [`k${n}`, spawn('kid', { id: `k${n}` })]))
        return setup({ actors: { kid }, actions: { all: assign(refs) } } as Anything).createMachine({
          context: {},
          initial: 'a',
          states: { a: { on: { NEXT: { actions: 'all' } } } },
        } as Anything)
      },
    ],
  ])('is the same with %s', (_, make) => {
    const lives = [make(), make()].map((machine, index) => {
      if (index === 1) stepByTable(machine)
      const actor = createActor(machine)
      actor.subscribe({ error: () => {} })
      actor.start()
      const seen = Array.from({ length: 3 }, () => {
        actor.send({ type: 'NEXT' })
        const { status, value, context, children, error } = actor.getSnapshot() as Anything
        return { status, value, context: JSON.stringify(context), children: Object.keys(children ?? {}), error: String(error) }
      })
      return seen
    })

    expect(lives[1]).toEqual(lives[0])
  })

  it('leaves a snapshot of a machine that had regions to XState', () => {
    const now = () => createMachine({ initial: 'a', states: { a: { on: { go: 'c' } }, b: { on: { go: 'd' } }, c: {}, d: {} } })
    const parallel = createMachine({ type: 'parallel', states: { a: {}, b: {} } })
    const snapshot = createActor(parallel).getPersistedSnapshot()
    const values = [now(), now()].map((machine, index) => {
      if (index === 1) stepByTable(machine)
      const actor = createActor(machine, { snapshot: structuredClone(snapshot) as Anything }).start()
      actor.send({ type: 'go' })
      return actor.getSnapshot().value
    })

    expect(values[1]).toEqual(values[0])
  })

  it('gives each snapshot tags that nobody can take from the next one', () => {
    const machine = createMachine({ initial: 'a', states: { a: { tags: 'warm' } } })
    stepByTable(machine)

    expect(() => createActor(machine).getSnapshot().tags.delete('warm')).toThrow(TypeError)
    expect(createActor(machine).getSnapshot().hasTag('warm')).toBe(true)
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

  it('is not taken where somebody wants the step of XState, and a wish that nobody knows is refused', () => {
    const machine = createMachine({ initial: 'a', states: { a: {} } })
    const { transition } = machine
    try {
      vi.stubEnv('STATECAST_STEP', 'xstate')
      stepByTable(machine)
      expect(machine.transition).toBe(transition)

      vi.stubEnv('STATECAST_STEP', 'tabel')
      expect(() => registerMachine('order', machine)).toThrow(
        expect.objectContaining({ code: 'bad_request', field: 'STATECAST_STEP', hint: expect.stringContaining("'xstate'") }),
      )
    } finally {
      vi.unstubAllEnvs()
    }
    stepByTable(machine)
    expect(machine.transition).not.toBe(transition)
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
