/** Where memories are found by what they mean: the contract, which `test/ladder/memory/vectors.contract.ts` checks. The comments carry the promises. */
import { LadderError } from '../errors.ts'

/** @param options.signal aborts when nobody waits for the answer any more @returns one vector for each text, in their order */
export type Embedder = (texts: readonly string[], options: { signal: AbortSignal }) => Promise<readonly (readonly number[])[]>

export type VectorMetadata = Readonly<Record<string, string | number | boolean | null>>
export type VectorItem = { id: string; vector: readonly number[]; text: string; metadata: VectorMetadata }
/** @property similarity the cosine, from -1 to 1; 0 to what has no direction */
export type VectorMatch = Omit<VectorItem, 'vector'> & { similarity: number }

/** Namespaces share nothing. Every method @throws LadderError STORE_FAILED */
export interface VectorStore {
  /** One of the same id is written over. Numbers are kept as 32-bit floats. */
  upsert(items: readonly VectorItem[], where: { namespace: string }): Promise<void>
  /**
   * The most similar first, of equals by id; those of another length than `vector` are not compared.
   * @param options.filter only items whose metadata has each of these keys with just this value
   */
  query(vector: readonly number[], options: { k: number; namespace: string; filter?: VectorMetadata }): Promise<VectorMatch[]>
  /** Those that are not there are as good as deleted. */
  delete(ids: readonly string[], where: { namespace: string }): Promise<void>
  clear(where: { namespace: string }): Promise<void>
  /** What has to be run by hand before the store is used; empty where that is nothing. */
  schema(): string
}

/** @throws LadderError STORE_FAILED for what cannot be compared with anything */
export const checkedVector = (vector: readonly number[]): Float32Array<ArrayBuffer> => {
  if (Array.isArray(vector) && vector.length > 0 && vector.every((number) => Number.isFinite(number))) return Float32Array.from(vector)
  throw new LadderError('STORE_FAILED', 'a vector is a list of finite numbers, at least one', { hint: 'see what the embedder returns' })
}

/** @throws LadderError STORE_FAILED */
export const checkedCount = (k: number): number => {
  if (Number.isSafeInteger(k) && k >= 0) return k
  throw new LadderError('STORE_FAILED', `${String(k)} cannot be asked for`, { hint: 'k is a whole number, from 0 on' })
}
