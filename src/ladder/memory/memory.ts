/** `memory()`: what was said and done before, found again by how new it is or by what it means. */
import { LadderError, wordsOf } from '../errors.ts'
import { anything, type KindsOf, optionsIn, signal as signalKind, valueIn, text as words } from '../given.ts'
import { hashOf } from '../stores/keys.ts'
import {
  type CheckedMemoryDefinition,
  type CheckedTier,
  checkedMemory,
  checkedRecall,
  type MemoryDefinition,
  type Tier,
  wrong,
} from './definition.ts'
import type { MemoryHit, MemoryStore, RecallOptions, RememberOptions } from './memory-store.ts'
import { scoreOf } from './scoring.rules.ts'
import type { VectorMatch } from './vectors.ts'
import { workingTier } from './working.ts'

/** How many candidates a store is asked for, as it may find others before those that count. */
const candidatesMin = 20
const candidatesMax = 1_280

class Memory implements MemoryStore {
  readonly tiers: readonly Tier[]
  readonly #definition: CheckedMemoryDefinition
  readonly #working: ReturnType<typeof workingTier>
  /** Uses are counted one after another. */
  #counting: Promise<unknown> = Promise.resolve()

  constructor(definition: MemoryDefinition) {
    this.#definition = checkedMemory(definition)
    this.#working = workingTier(this.#definition.maxItems)
    this.tiers = this.#definition.tiers
  }

  async recall(text: string, options: RecallOptions = {}): Promise<MemoryHit[]> {
    const { scope, k, threshold, tier: name, signal } = said<RecallOptions>(text, options, recallKinds)
    const tier = this.#tier(name)
    checkedRecall({ k, threshold }, '')
    if (tier === 'working') return this.#working.recall({ scope, k: k ?? 5, threshold: threshold ?? 0 })
    const count = k ?? tier.k
    if (count === 0 || text.trim() === '') return []
    const vector = await this.#embed(text, signal)
    const found = await this.#nearest(tier, vector, { scope: scope ?? null }, count)
    const now = this.#definition.clock()
    return found
      .filter(({ similarity }) => similarity >= (threshold ?? tier.threshold))
      .map((match): MemoryHit => {
        const { id, at, uses } = kept(match)
        const { similarity } = match
        return { id, text: match.text, score: scoreOf({ similarity, at, uses }, tier, now), tier: tier.name, at, similarity }
      })
      .toSorted((one, other) => other.score - one.score || other.at - one.at)
      .slice(0, count)
  }

  async remember(text: string, options: RememberOptions = {}): Promise<string | undefined> {
    const { scope, tier: name, id: given, signal } = said<RememberOptions>(text, options, rememberKinds)
    const tier = this.#tier(name)
    if (text.trim() === '') return undefined
    const id = given ?? hashOf(text).slice(0, 32)
    const at = this.#definition.clock()
    if (tier === 'working') {
      this.#working.remember({ id, text, scope, at })
      return id
    }
    const vector = await this.#embed(text, signal)
    const store = async (): Promise<void> => {
      const place = { scope: scope ?? null, id }
      const [before] = tier.name === 'procedural' ? await this.#nearest(tier, vector, place, 1) : []
      const metadata = { ...place, at, uses: (before ? kept(before).uses : 0) + 1 }
      await this.#definition.vectors?.upsert([{ id: JSON.stringify([place.scope, id]), vector, text, metadata }], this.#where(tier))
    }
    const stored = this.#counting.then(store)
    this.#counting = stored.catch(() => undefined)
    await stored
    return id
  }

  async clear(name?: Tier): Promise<void> {
    for (const tier of name === undefined ? this.tiers.map((one) => this.#tier(one)) : [this.#tier(name)])
      if (tier === 'working') this.#working.clear()
      else await this.#definition.vectors?.clear(this.#where(tier))
  }

  #tier(name: Tier = this.#definition.defaultTier): CheckedTier | 'working' {
    if (!this.tiers.includes(name)) throw wrong('tier', name, `one of those that the memory has: ${this.tiers.join(', ')}`)
    return this.#definition.vectorTiers.find((one) => one.name === name) ?? 'working'
  }

  #where({ name }: CheckedTier): { namespace: string } {
    return { namespace: `${this.#definition.namespace}/${name}` }
  }

  /** @throws LadderError STORE_FAILED */
  async #embed(text: string, signal: AbortSignal = new AbortController().signal): Promise<readonly number[]> {
    let vectors: unknown
    try {
      vectors = await this.#definition.embedder?.([text], { signal })
    } catch (cause) {
      throw new LadderError('STORE_FAILED', `the embedder failed: ${wordsOf(cause)}`, { cause, hint: 'see whether its model can be reached' })
    }
    const [vector] = Array.isArray(vectors) ? (vectors as unknown[]) : []
    if (Array.isArray(vector) && vector.length > 0) return vector as number[]
    throw new LadderError('STORE_FAILED', 'the embedder gave no vector for a text', { hint: 'it returns a list with one vector for each text' })
  }

  /** A store that knows no filter may find others first: then it is asked for more. */
  async #nearest(tier: CheckedTier, vector: readonly number[], filter: { scope: string | null; id?: string }, count: number): Promise<VectorMatch[]> {
    for (let k = Math.max(candidatesMin, 4 * count); ; k *= 4) {
      const found = (await this.#definition.vectors?.query(vector, { k, ...this.#where(tier), filter })) ?? []
      const own = found.filter(({ metadata }) => Object.entries(filter).every(([key, value]) => metadata[key] === value))
      if (own.length >= count || found.length < k || k >= candidatesMax) return own
    }
  }
}

const common = { scope: words, tier: anything, signal: signalKind }
const recallKinds: KindsOf<RecallOptions> = { ...common, k: anything, threshold: anything }
const rememberKinds: KindsOf<RememberOptions> = { ...common, id: words }

/** @throws LadderError MEMORY_CONFIG */
const said = <Options extends object>(text: unknown, options: unknown, kinds: KindsOf<Options>): Options => {
  valueIn(text, words, 'what a memory is told or asked', 'MEMORY_CONFIG')
  return optionsIn<Options>(options, kinds, { who: 'what is asked of a memory', code: 'MEMORY_CONFIG' })
}

const kept = ({ metadata: { id, at, uses } }: VectorMatch) => ({ id: String(id), at: Number(at), uses: Number(uses) })

/** @throws LadderError MEMORY_CONFIG naming what is wrong with it */
export const memory = (definition: MemoryDefinition = {}): MemoryStore => new Memory(definition)
