/** Tells a scenario once for each commit at which its process may die, and looks whether anybody could tell the difference. */
import { expect } from 'vitest'
import { type Death, livedThrough, type Place, type Told } from './lives.ts'
import type { Deed, Scenario } from './scenario.ts'

export type Swept = { calm: Told; died: number; doubted: number }

/** @param wanted whether it dies at this one; default: at each */
export const sweep = async (scenario: Scenario, aPlace: (death?: Death) => Place, wanted: (death: Death) => boolean = () => true): Promise<Swept> => {
  const calm = (await livedThrough(scenario, aPlace())) as Told
  expectCalm(calm, scenario)
  const swept = { calm, died: 0, doubted: 0 }
  for (const before of ['acknowledgement', 'append'] as const)
    for (let commit = 1; ; commit++) {
      const death = { commit, before }
      // There may be more commits than in the calm life: where all are wanted, none of those is left out.
      if (!wanted(death)) {
        if (commit > calm.commits) break
        continue
      }
      const told = await livedThrough(scenario, aPlace(death), death)
      if (!told) break
      swept.died++
      if (isInDoubt(told)) swept.doubted++
      expectTheSame(told, calm, scenario, `it died before the ${before} of commit ${commit}`)
    }
  return swept
}

type Whole = Omit<Told, 'commits'>

export const expectCalm = (calm: Whole, { comesTo }: Scenario): void => {
  expect(calm.result).toMatchObject(comesTo)
  expect(new Set(Object.values(calm.verdicts))).toEqual(new Set(['identical']))
  // Each deed is written down once: so the accounts below are complete.
  for (const kind of kinds) expect(numberOf(calm.written[0], kind), kind).toBe(numberOf(whatOf(calm.deeds[0]), kind))
}

/** As if nothing had happened: the same end, and nothing done again that was written down. */
export const expectTheSame = (told: Whole, calm: Whole, scenario: Scenario, where: string): void => {
  expectSameEnd(told, calm, scenario, where)
  // Whatever had not been written down when it died is done once more, and nothing else.
  for (const kind of kinds) expect(numberOf(whatOf(told.deeds[1]), kind), `${where}: ${kind}`).toBe(numberOf(told.written[1], kind))
}

/** The same result, the same traces, the same deeds, though some of them twice; none of those that may be done once. */
export const expectSameEnd = (told: Whole, calm: Whole, { doubtful }: Scenario, where: string): void => {
  const inDoubt = isInDoubt(told) ? doubtful : undefined
  const [first, second] = told.deeds
  const all = namesOf([...first, ...second])
  expect(new Set(Object.values(told.verdicts)), where).toEqual(new Set(['identical']))
  expect(resultOf(told, inDoubt), where).toEqual(resultOf(calm, inDoubt))
  expect(traceOf(told, inDoubt), where).toEqual(traceOf(calm, inDoubt))
  expect(new Set(all.filter((name) => !inDoubt || !isOnce(name))), where).toEqual(
    new Set(namesOf(calm.deeds[0]).filter((name) => !inDoubt || !isOnce(name))),
  )
  const once = all.filter(isOnce)
  expect(once, where).toHaveLength(new Set(once).size)
}

const kinds = ['model', 'code'] as const
const whatOf = (deeds: readonly Deed[]): Deed['what'][] => deeds.map(({ what }) => what)
const numberOf = (whats: readonly Deed['what'][], kind: (typeof kinds)[number]): number =>
  whats.filter((what) => (kind === 'model') === (what === 'model')).length
const namesOf = (deeds: readonly Deed[]): string[] => deeds.map(({ what, name }) => `${what} ${name}`)
const isOnce = (name: string): boolean => name.startsWith('once ')

const isInDoubt = ({ result }: Pick<Told, 'result'>): boolean => JSON.stringify(result).includes('"tool_in_doubt"')
/** Without the call of which nobody knows whether it ran. */
const resultOf = ({ result }: Pick<Told, 'result'>, doubtful: Scenario['doubtful']): unknown =>
  JSON.parse(JSON.stringify(result), (_, value) =>
    Array.isArray(value) && doubtful ? value.filter((one) => one?.type !== 'tool' || one.name !== doubtful.tool) : value,
  )
const traceOf = ({ trace }: Pick<Told, 'trace'>, doubtful: Scenario['doubtful']): Told['trace'] =>
  Object.fromEntries(Object.entries(trace).filter(([actor]) => !doubtful?.actors.test(actor)))
