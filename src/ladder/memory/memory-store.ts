/** What an orchestrator asks of a memory: the contract. */
import type { Tier } from './definition.ts'

/** @property score what it is sorted by: similarity, and what its tier adds to that; of the working tier from 1, the newest, to 0 @property at ms since the epoch */
export type MemoryHit = { id: string; text: string; score: number; tier: Tier; at: number; similarity?: number }

/** @property scope whose it is: only what was remembered with just this one is recalled. Left out: nobody's */
export type RecallOptions = { scope?: string | undefined; k?: number; threshold?: number; tier?: Tier; signal?: AbortSignal }
/** @property id one of the same scope and tier is written over. Default: made of the text */
export type RememberOptions = { scope?: string | undefined; tier?: Tier; id?: string; signal?: AbortSignal }

/** What an orchestrator asks; `memory()` makes one. */
export interface MemoryStore {
  /** Those that there are, so that a wrong one is refused where it is written. */
  readonly tiers?: readonly Tier[]
  /** The best first. @throws LadderError STORE_FAILED; MEMORY_CONFIG for a tier that it does not have */
  recall(text: string, options?: RecallOptions): Promise<MemoryHit[]>
  /** @returns its id; undefined where there was nothing to remember @throws LadderError STORE_FAILED; MEMORY_CONFIG for a tier that it does not have */
  remember(text: string, options?: RememberOptions): Promise<string | undefined>
  /** One tier or all, whosever it is. */
  clear(tier?: Tier): Promise<void>
}
