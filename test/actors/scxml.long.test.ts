/**
 * The conformance cases of SCXML (`scripts/scxml-cases.ts`), played with XState's own step, with the step by table, and under the root host with a
 * new process for each event.
 */
import { describe, expect, test } from 'vitest'
import type { AnyStateMachine } from 'xstate'
import { scxmlCases } from '../../scripts/scxml-cases.ts'
import { stepByTable } from '../../src/actors/replica/step.ts'
import { type Case, casesIn } from './scxml/cases.ts'
import { playDurably, playPlainly } from './scxml/play.ts'
import { toMachine } from './scxml/to-machine.ts'

/** Documents that invoke others: what the steps do with children is in replica/step.test.ts. */
const invoking = new Set(
  [
    [187, 191, 192, 207, 215, 216, 220, 223, 224, 225, 226, 228, 229, 230, 232, 233, 234, 235, 236, 237, 239, 240, 241, 242, 243, 244, 245, 247],
    [250, 252, 253, 276, 338, 347, 422, 530, 554],
  ]
    .flat()
    .map((number) => `w3c-ecma/test${number}.txml`),
)

/** Cases that XState does not pass, or cannot: each step must still do what the other one does. */
const unpassed = new Map([
  ['error/error', 'asks an error for the line and the column that another engine gives it'],
  ['w3c-ecma/test201.txml', 'sends an event over HTTP'],
  ['w3c-ecma/test307.txml', 'is for people to look at, and expects a state that it has not'],
  ['w3c-ecma/test344.txml', 'wants an event for a condition that fails, and a guard of XState cannot raise one'],
  ['w3c-ecma/test409.txml', 'asks In() while it leaves states, which are active for XState until the microstep is over'],
  ['w3c-ecma/test411.txml', 'asks In() while it enters states, which are not active for XState until the microstep is over'],
  ['w3c-ecma/test557.txml', 'has XML for data, with a DOM around it'],
  ['w3c-ecma/test561.txml', 'has XML for the data of an event, with a DOM around it'],
  ['w3c-ecma/test579.txml', 'has actions where a history begins by default, which XState does not take'],
])

const byTable = (machine: AnyStateMachine): AnyStateMachine => {
  stepByTable(machine)
  return machine
}
const isTaken = ({ document }: Case): boolean => {
  const machine = toMachine(document)
  const { transition } = machine
  return byTable(machine).transition !== transition
}

const all = casesIn(await scxmlCases())
const played = all.filter(({ name }) => !invoking.has(name))

test('so many cases there are, and so many machines of them step by table: those without parallel states, histories and several targets', () => {
  const passed = played.filter(({ name }) => !unpassed.has(name))

  expect({ all: all.length, played: played.length, passed: passed.length }).toEqual({ all: 316, played: 279, passed: 270 })
  expect({ played: played.filter(isTaken).length, passed: passed.filter(isTaken).length }).toEqual({ played: 194, passed: 186 })
  expect(all.filter(({ name }) => unpassed.has(name))).toHaveLength(unpassed.size)
  for (const { name, document } of all.filter(({ name }) => invoking.has(name))) expect(() => toMachine(document), name).toThrow('<invoke>')
})

describe.each([...Map.groupBy(played, ({ folder }) => folder)])('%s', (_, cases) => {
  test.each(cases)('[SHOW-SEMANTICS] $name goes the same way with XState, by table, and durably', async (given) => {
    const make = () => toMachine(given.document)

    const own = playPlainly(make(), given)
    const table = playPlainly(byTable(make()), given)
    const durable = await playDurably(make, given)

    expect(table).toEqual(own)
    expect(durable).toEqual({ configurations: own.configurations, verdict: 'identical' })
    // What comes to pass is to leave the list.
    if (unpassed.has(given.name)) expect(own.configurations).not.toEqual(given.configurations)
    else expect(own.configurations).toEqual(given.configurations)
  })
})
