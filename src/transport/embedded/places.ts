/**
 * Where the frames of one root stand. Frames are kept in the order in which they were written, so that a commit of many roots fills pages instead of
 * touching one page of each root; hence each root has a list of its places: the newest in its own row, the rest in rows of {@link placesPerRow}.
 */
import type { DatabaseSync } from 'node:sqlite'
import { crc32 } from 'node:zlib'
import type { Address } from '../../contracts/subjects.ts'
import { corruptAt } from '../checksum.ts'

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
type RootNote = { seq: number; first: number; checksum: number; wakeAt: number | null; at: number; tail: string }

/** Kept in the root's row, since no frame tells when the root is to be woken, and a bit that changed there would let it sleep for ever. */
export const proofOf = ({ seq, first, checksum, wakeAt, at, tail }: RootNote): number =>
  crc32(`${seq} ${first} ${wakeAt} ${at} ${tail}`, checksum >>> 0)

/** What {@link rootIn} reads of a row. */
export const rootColumns = 'root, seq, first, checksum, wake_at, at, proof, tail'
/** In the order of the columns selected: arrays cost half of what row objects do. */
export type RootRow = [root: number, seq: number, first: number, checksum: number, wakeAt: number | null, at: number, proof: number, tail: string]
export type Root = RootNote & { root: number; proof: number }

/** Not checked yet: see {@link checkProof}. */
export const rootIn = ([root, seq, first, checksum, wakeAt, at, proof, tail]: readonly [...RootRow, ...unknown[]]): Root => ({
  root,
  seq,
  first,
  checksum,
  wakeAt,
  at,
  proof,
  tail,
})

/** @throws RuntimeError corrupt_at */
export const checkProof = (address: Address, root: Root): void => {
  if (proofOf(root) !== root.proof) throw corruptAt(address, root.seq, 'what is noted of it does not fit')
}

type FrameRow = [previous: number, checksum: number, bytes: Uint8Array]

/** Finds frames by their places; whether one is whole, its reader checks. */
export const framesAt = (database: DatabaseSync): ((place: number | undefined, root: number, seq: number) => FrameRow | undefined) => {
  const select = database.prepare('SELECT previous, checksum, bytes FROM frames WHERE place = ? AND root = ? AND seq = ?')
  select.setReturnArrays(true)
  return (place, root, seq) => select.get(place ?? 0, root, seq) as unknown as FrameRow | undefined
}
