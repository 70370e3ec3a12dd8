/**
 * Where the frames of one root stand. Frames are kept in the order in which they were written, so that a commit of many roots fills pages instead of
 * touching one page of each root; hence each root has a list of its places: the newest in its own row, the rest in rows of {@link placesPerRow}.
 */
import { crc32 } from 'node:zlib'

export const placesPerRow = 16

/** A list as it is stored: JSON, so that any SQLite tool can join over it. */
export const placesIn = (list: unknown): number[] => {
  try {
    const places: unknown = typeof list === 'string' ? JSON.parse(list) : undefined
    return Array.isArray(places) && places.every((place) => Number.isSafeInteger(place)) ? places : []
  } catch {
    // A list that is damaged leads nowhere: whoever looks for a frame finds it missing.
    return []
  }
}

export const listOf = (places: readonly number[]): string => JSON.stringify(places)

/** What is noted of a root beside its frames. */
export type RootNote = { seq: number; first: number; checksum: number; wakeAt: number | null; at: number; tail: string }

/** Kept in the root's row, since no frame tells when the root is to be woken, and a bit that changed there would let it sleep for ever. */
export const proofOf = ({ seq, first, checksum, wakeAt, at, tail }: RootNote): number =>
  crc32(`${seq} ${first} ${wakeAt} ${at} ${tail}`, checksum >>> 0)
