/** What the simulator says to authors whose scenario, or plan, is not what they think it is. */
import { expect, test } from 'vitest'
import { fromPromise, setup } from 'xstate'
import { type Plan, type Scenario, simulate } from '../../src/testing/index.ts'

const counter = setup({ types: { events: {} as { type: 'add' } } }).createMachine({ id: 'counter', on: { add: {} } })
type Parts = Partial<ReturnType<Scenario<string>['begin']>>

const scenario = (parts: (world: Parameters<Scenario<string>['begin']>[0]) => Parts = () => ({})): Scenario<string> => ({
  acts: () => ['one', 'two'],
  begin: (world) => ({
    runtime: () => ({ machines: { counter } }),
    perform: async (act) => void (await world.insist((runtime) => runtime.actor('counter', act).send({ type: 'add' }))),
    settle: async () => undefined,
    check: () => [],
    ...parts(world),
  }),
})
const aPlan = (faults: object[]): Plan<string> => ({ seed: 1, acts: [{ act: 'one', afterMs: 2500 }], faults: faults as Plan<string>['faults'] })

test('a scenario in which all is well finds nothing', async () => {
  expect((await simulate(scenario(), 7)).violations).toEqual([])
})

test.each([
  ['a text', '42'],
  ['nothing', undefined],
  ['half a seed', 1.5],
  ['a seed below zero', -1],
  ['no number', Number.NaN],
  ['a plan without faults', { seed: 1, acts: [] }],
  ['a fault that does not exist', aPlan([{ at: 1, kind: 'meteor', ms: 1 }])],
  ['a fault without a step', aPlan([{ kind: 'pause', ms: 1 }])],
  ['a fault that lasts no number of ms', aPlan([{ at: 1, kind: 'pause', ms: Number.NaN }])],
  ['no fault at all in its place', aPlan([null as never])],
])('%s is refused, with what to give instead', async (_, from) => {
  await expect(simulate(scenario(), from as never)).rejects.toMatchObject({
    code: 'bad_request',
    field: expect.any(String),
    hint: expect.any(String),
  })
})

test('faults strike in the order of their steps, however they stand in the plan', async () => {
  const { struck } = await simulate(
    scenario(),
    aPlan([
      { at: 3, kind: 'delay', ms: 1 },
      { at: 1, kind: 'delay', ms: 1 },
    ]),
  )

  expect(struck).toBe(2)
})

test('a runtime that cannot start at all ends it with the reason', async () => {
  const inline = setup({}).createMachine({ id: 'inline', entry: () => undefined })

  await expect(
    simulate(
      scenario(() => ({ runtime: () => ({ machines: { inline } }) })),
      7,
    ),
  ).rejects.toMatchObject({ code: 'not_durable' })
})

test('an act that is refused for good is a finding, and is not asked again', async () => {
  const { violations } = await simulate(
    scenario((world) => ({
      perform: async (act) => void (await world.insist((runtime) => runtime.actor('counter', act).send({ type: 'xstate.stop' }))),
    })),
    7,
  )

  expect(violations).toHaveLength(2)
  for (const violation of violations) expect(violation).toMatch(/^"(one|two)" failed: .*xstate\.stop/)
})

test.each<[string, Parts, RegExp]>([
  ['an act that does not end', { perform: () => new Promise<void>(() => undefined) }, /"one" is still being performed/],
  [
    'an act that throws at once',
    {
      perform: () => {
        throw new Error('oh')
      },
    },
    /"one" failed: Error: oh/,
  ],
  ['settle() that throws', { settle: () => Promise.reject(new Error('oh')) }, /settle\(\) failed: Error: oh/],
  [
    'check() that throws',
    {
      check: () => {
        throw new Error('oh')
      },
    },
    /check\(\) failed: Error: oh/,
  ],
  ['check() that answers with a text', { check: () => 'bad' as never }, /check\(\) answered bad/],
])('%s is a finding in these words', async (_, parts, expected) => {
  const { violations } = await simulate(
    scenario(() => parts),
    7,
  )

  expect(violations[0]).toMatch(expected)
})

test('settle() may say that nothing is left with null', async () => {
  expect(
    (
      await simulate(
        scenario(() => ({ settle: async () => null as never })),
        7,
      )
    ).violations,
  ).toEqual([])
})

test('an effect that waits in real time is told where time comes from', async () => {
  const slow = setup({ actors: { work: fromPromise(() => new Promise((resolve) => setTimeout(resolve, 300_000).unref())) } }).createMachine({
    id: 'slow',
    initial: 'idle',
    states: { idle: { on: { add: 'busy' } }, busy: { invoke: { src: 'work', onDone: 'done' } }, done: {} },
  })
  const { violations } = await simulate(
    scenario((world) => ({
      runtime: () => ({ machines: { counter: slow } }),
      settle: async () => ((await world.someone()?.actor('counter', 'one').snapshot())?.value === 'done' ? undefined : 'one is not done'),
    })),
    7,
  )

  expect(violations[0]).toMatch(/one is not done.*world\.sleep/s)
})
