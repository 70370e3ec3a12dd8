/** What a simulation does, as data: drawn from a seed, printed in a story, made smaller when it found something. */
import type { Random } from '../../contracts/environment.ts'
import { RuntimeError } from '../../contracts/errors.ts'
import { seededRandom } from '../seeded.ts'

/** What may go wrong, and how often it is drawn. */
const faultWeights = {
  /** The process is gone, before the step or after it. */
  'crash before': 4,
  'crash after': 4,
  /** The process stops in its tracks and goes on later, while another one takes over. */
  pause: 3,
  /** The store answers late. */
  delay: 2,
  /** Written, and the acknowledgement is lost. */
  'lost answer': 3,
  /** Never written, and nobody says so. */
  'lost request': 3,
  /** No space for a while. */
  full: 2,
  /** The store does not answer for a while. */
  away: 2,
  /** The wall clock of the process jumps. */
  'clock jump': 2,
  /** One more node begins and takes what it can get. */
  join: 2,
} as const
export type FaultKind = keyof typeof faultWeights

/** @property at number of the step, counted over all nodes, at which it strikes @property ms how long it lasts, or how far a clock jumps */
export type Fault = { at: number; kind: FaultKind; ms: number }

/** @property afterMs virtual time until the next act */
type Timed<Act> = { act: Act; afterMs: number }
export type Plan<Act> = { seed: number; acts: Timed<Act>[]; faults: Fault[] }

const between = (random: Random, least: number, most: number): number => least + Math.floor(random.next() * (most - least + 1))
export const pick = <T>(random: Random, list: readonly T[]): T => list[Math.floor(random.next() * list.length)] as T

const kinds = Object.entries(faultWeights).flatMap(([kind, weight]) => Array.from({ length: weight }, () => kind as FaultKind))

/** Half of the faults last a moment, the others outlast every patience of the runtime. */
const lasting = (random: Random): number => pick(random, [1, 20, 300, 2000, 8000, 40_000])

type PlanOptions<Act> = {
  acts: (random: Random) => Act[]
  /** At most; default 5. */
  faultMax?: number
}

const refused = (message: string, field: string): RuntimeError =>
  new RuntimeError('bad_request', message, { field, hint: 'give a seed, a whole number from 0, or the plan of an outcome' })

/** A plan from elsewhere, its faults in the order in which they strike. @throws RuntimeError bad_request, naming the field */
export const checkPlan = <Act>(plan: Plan<Act>): Plan<Act> => {
  if (!isSeed(plan.seed)) throw refused('a plan needs the seed that it was drawn from', 'seed')
  if (!Array.isArray(plan.acts)) throw refused('a plan needs a list of acts', 'acts')
  if (!Array.isArray(plan.faults)) throw refused('a plan needs a list of faults', 'faults')
  for (const [index, fault] of plan.faults.entries()) {
    const { at, kind, ms } = (fault ?? {}) as Partial<Fault>
    if (!Number.isSafeInteger(at) || !Number.isFinite(ms) || (ms as number) < 0 || !Object.hasOwn(faultWeights, kind ?? ''))
      throw refused(
        `the fault ${JSON.stringify(fault)} is none: it has a step \`at\`, a time \`ms\` and a kind, one of ${Object.keys(faultWeights).join(', ')}`,
        `faults.${index}`,
      )
  }
  return { ...plan, faults: plan.faults.toSorted((one, other) => one.at - other.at) }
}

const isSeed = (seed: unknown): seed is number => Number.isSafeInteger(seed) && (seed as number) >= 0

export const drawPlan = <Act>(seed: number, { acts, faultMax = 5 }: PlanOptions<Act>): Plan<Act> => {
  if (!isSeed(seed)) throw refused(`${String(seed)} is not a seed`, 'seed')
  const random = seededRandom(seed)
  const timed = acts(random).map((act) => ({ act, afterMs: pick(random, [0, 0, 1, 15, 60, 300, 2500]) }))
  const faults: Fault[] = []
  let at = 0
  for (let left = between(random, 0, faultMax); left > 0; left--) {
    at += between(random, 1, pick(random, [6, 20, 60]))
    faults.push({ at, kind: pick(random, kinds), ms: lasting(random) })
  }
  return { seed, acts: timed, faults }
}
