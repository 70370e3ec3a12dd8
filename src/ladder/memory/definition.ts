/** What an author writes of a memory: which tiers it has, and what finds things in them. */
import { LadderError } from '../errors.ts'
import { anything, code, either, flag, type KindsOf, optionsIn, record, store, text } from '../given.ts'
import type { Embedder, VectorStore } from './vectors.ts'

/**
 * `working`: the newest things, of this process. The others find what means the same: `semantic` by that alone, `episodic` newer things first,
 * `procedural` first what was remembered more often.
 */
export type Tier = 'working' | 'semantic' | 'episodic' | 'procedural'
type VectorTier = Exclude<Tier, 'working'>

/** @property k how many are recalled. Default: 5 @property threshold the least similarity, a cosine. Default: 0.7 */
type Recalled = { k?: number; threshold?: number }
/** @property weight how much it counts beside the similarity, from 0 to 1. Default: 0.3 */
type Weighted = Recalled & { weight?: number }

export type MemoryDefinition = {
  /** On unless it is false. `maxItems`: the oldest go first. Default: 1,000 */
  working?: boolean | { maxItems?: number }
  semantic?: boolean | Recalled
  /** `halfLifeMs`: after how long half of it has faded. Default: 7 days */
  episodic?: boolean | (Weighted & { halfLifeMs?: number })
  procedural?: boolean | Weighted
  /** Wanted by all tiers but `working`, as is `vectors`. */
  embedder?: Embedder
  vectors?: VectorStore
  /** Where nothing else is said. Default: the first that there is of semantic, episodic, procedural and working. */
  defaultTier?: Tier
  /** Keeps memories apart that share one store of vectors. Default: `memory` */
  namespace?: string
  /** ms since the epoch. Default: that of the machine */
  clock?: () => number
}

export type CheckedTier = { name: VectorTier; k: number; threshold: number; weight: number; halfLifeMs: number }
export type CheckedMemoryDefinition = {
  /** 0: it has none. */
  maxItems: number
  vectorTiers: readonly CheckedTier[]
  embedder: Embedder | undefined
  vectors: VectorStore | undefined
  tiers: readonly Tier[]
  defaultTier: Tier
  namespace: string
  clock: () => number
}

const tier = either(flag, record('{ k: 5 }'))
const kinds: KindsOf<MemoryDefinition> = {
  working: tier,
  semantic: tier,
  episodic: tier,
  procedural: tier,
  embedder: code('async (texts) => … one vector for each'),
  vectors: store,
  defaultTier: anything,
  namespace: text,
  clock: code('() => Date.now()'),
}
const recalledKinds: KindsOf<Recalled> = { k: anything, threshold: anything }
const weightedKinds: KindsOf<Weighted> = { ...recalledKinds, weight: anything }
const tierKinds = {
  working: { maxItems: anything },
  semantic: recalledKinds,
  episodic: { ...weightedKinds, halfLifeMs: anything },
  procedural: weightedKinds,
}
const vectorMethods = ['upsert', 'query', 'delete', 'clear'] as const satisfies (keyof VectorStore)[]

const dayMs = 86_400_000
const order: readonly VectorTier[] = ['semantic', 'episodic', 'procedural']

/** @throws LadderError MEMORY_CONFIG naming what is wrong with it */
export const checkedMemory = (given: MemoryDefinition): CheckedMemoryDefinition => {
  const definition = optionsIn<MemoryDefinition>(given, kinds, { who: 'memory()', code: 'MEMORY_CONFIG' })
  for (const [name, of] of Object.entries(tierKinds) as [Tier, KindsOf<object>][])
    if (typeof definition[name] === 'object') optionsIn(definition[name], of, { who: `${name} of memory()`, code: 'MEMORY_CONFIG' })
  const { working = true, embedder, vectors, namespace = 'memory', clock = Date.now } = definition
  const maxItems = working === false ? 0 : maxItemsOf(working)
  if (working !== false && (!Number.isSafeInteger(maxItems) || maxItems < 1)) throw wrong('working.maxItems', maxItems, 'a whole number, from 1 on')
  const vectorTiers = order.flatMap((name) => (definition[name] ? [checkedTier(name, definition[name])] : []))
  const tiers: Tier[] = [...vectorTiers.map(({ name }) => name), ...(maxItems > 0 ? (['working'] as const) : [])]
  const [first] = tiers
  if (first === undefined)
    throw new LadderError('MEMORY_CONFIG', 'the memory has no tier', { hint: 'leave working out, or give semantic: true, an embedder and vectors' })
  for (const [what, given] of Object.entries({ embedder, vectors }))
    if (vectorTiers.length > 0 && given === undefined)
      throw new LadderError('MEMORY_CONFIG', `the tier '${first}' has no ${what}`, {
        hint: what === 'vectors' ? 'give vectors: memoryVectors(), say' : 'give embedder: async (texts) => … one vector for each',
      })
  if (vectors !== undefined && vectorMethods.some((method) => typeof vectors[method] !== 'function'))
    throw new LadderError('MEMORY_CONFIG', 'vectors of memory() is no store of vectors', {
      hint: 'give memoryVectors(), sqliteVectors(…) or one of your own',
    })
  const { defaultTier = first } = definition
  if (!tiers.includes(defaultTier)) throw wrong('defaultTier', defaultTier, `one of the tiers that it has: ${tiers.join(', ')}`)
  if (typeof namespace !== 'string' || namespace === '') throw wrong('namespace', namespace, 'a text of at least one character')
  return { maxItems, vectorTiers, embedder, vectors, tiers, defaultTier, namespace, clock }
}

const maxItemsOf = (working: true | { maxItems?: number }): number => {
  const { maxItems = 1_000 } = working === true ? {} : working
  return maxItems
}

const checkedTier = (name: VectorTier, given: true | (Weighted & { halfLifeMs?: number })): CheckedTier => {
  const { k = 5, threshold = 0.7, weight = 0.3, halfLifeMs = 7 * dayMs } = given === true ? {} : given
  checkedRecall({ k, threshold }, `${name}.`)
  if (!(typeof weight === 'number' && weight >= 0 && weight <= 1)) throw wrong(`${name}.weight`, weight, 'a number from 0 to 1')
  if (!(Number.isFinite(halfLifeMs) && halfLifeMs > 0)) throw wrong(`${name}.halfLifeMs`, halfLifeMs, 'ms, more than 0')
  return { name, k, threshold, weight, halfLifeMs }
}

/** @param where first characters of what the options are called @throws LadderError MEMORY_CONFIG */
export const checkedRecall = ({ k, threshold }: { k?: unknown; threshold?: unknown }, where: string): void => {
  if (k !== undefined && !(Number.isSafeInteger(k) && (k as number) >= 0)) throw wrong(`${where}k`, k, 'a whole number, from 0 on')
  if (threshold !== undefined && !Number.isFinite(threshold)) throw wrong(`${where}threshold`, threshold, 'a number')
}

export const wrong = (option: string, given: unknown, right: string): LadderError =>
  new LadderError('MEMORY_CONFIG', `${option} is ${typeof given === 'string' ? `'${given.slice(0, 40)}'` : String(given)}`, {
    hint: `it is ${right}`,
  })
