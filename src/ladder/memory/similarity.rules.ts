/** Which vectors are near to one: by comparing with all of them. Pure. */
import type { VectorMatch, VectorMetadata } from './vectors.ts'

export type Kept = { id: string; text: string; metadata: VectorMetadata; vector: Float32Array }

const fits = (metadata: VectorMetadata, filter: VectorMetadata): boolean =>
  Object.entries(filter).every(([key, value]) => Object.hasOwn(metadata, key) && metadata[key] === value)

const cosine = (one: Float32Array, other: Float32Array): number => {
  let [product, ones, others] = [0, 0, 0]
  for (let index = 0; index < one.length; index++) {
    const [a = 0, b = 0] = [one[index], other[index]]
    product += a * b
    ones += a * a
    others += b * b
  }
  return ones === 0 || others === 0 ? 0 : product / Math.sqrt(ones * others)
}

export const nearest = (all: Iterable<Kept>, vector: Float32Array, { k, filter = {} }: { k: number; filter?: VectorMetadata }): VectorMatch[] => {
  const matches: VectorMatch[] = []
  for (const { id, text, metadata, vector: other } of all)
    if (other.length === vector.length && fits(metadata, filter)) matches.push({ id, text, metadata, similarity: cosine(vector, other) })
  const best = matches.toSorted((one, other) => other.similarity - one.similarity || (one.id < other.id ? -1 : 1)).slice(0, k)
  return best.map((match) => ({ ...match, metadata: { ...match.metadata } }))
}
