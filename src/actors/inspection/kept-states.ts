/** States of one tree, kept on the way through its journal: close to each other where they are small, further apart where they are large. */
import type { Commit } from '../../contracts/journal.ts'
import { decode, encode } from '../journal/codec.ts'
import { wholeSnapshot } from '../journal/snapshots.ts'
import type { Replica } from '../replica/replica.ts'
import type { ReplicaSnapshot } from '../replica/sink.ts'

/** Commits between two of them, powers of two: so that those left over by a thinning are as far apart from each other everywhere. */
const apartMin = 8
const apartMax = 256
/** What may be written for each commit that is gone through; more would make that noticeably slower. */
const bytesPerCommit = 1024
const bytesMax = 64 * 1024 * 1024

type Kept = { bytes: Uint8Array; at: number; epoch: number }

export class KeptStates {
  readonly #states = new Map<number, Kept>()
  readonly #bytesMax: number
  #bytes = 0
  /** How often they were too many together. */
  #thinned = 0
  #apart = apartMin

  constructor(limit = bytesMax) {
    this.#bytesMax = limit
  }

  /** The sequence of the last one at or before a sequence; 0 where there is none. */
  below(seq: number): number {
    let nearest = 0
    for (const kept of this.#states.keys()) if (kept <= seq && kept > nearest) nearest = kept
    return nearest
  }

  get(seq: number): { snapshot: ReplicaSnapshot; at: number; epoch: number } | undefined {
    const kept = this.#states.get(seq)
    return kept && { snapshot: decode(kept.bytes) as ReplicaSnapshot, at: kept.at, epoch: kept.epoch }
  }

  /** A commit has been gone through: keeps its state where it is time for one, and it can be kept. */
  pass({ seq, at, epoch }: Commit, replica: Replica): void {
    if (seq % this.#apart !== 0 || this.#states.has(seq)) return
    const whole = wholeSnapshot(replica)
    // A copy: what encodes gives a part of a larger piece of memory, which would be held as long as the state.
    const bytes = whole && new Uint8Array(encode(whole))
    const size = bytes?.byteLength ?? Number.POSITIVE_INFINITY
    // Step by step nearer: one that is large is not written again and again only because those between are small.
    this.#apart = Math.max(this.#apartFor(size), this.#apart / 2)
    // What would leave no room for a second one is not worth the others.
    if (!bytes || size > this.#bytesMax / 2) return
    this.#states.set(seq, { bytes, at, epoch })
    this.#bytes += size
    while (this.#bytes > this.#bytesMax) this.#thin()
  }

  #apartFor(bytes: number): number {
    const wanted = Math.min(apartMax, 2 ** Math.ceil(Math.log2(bytes / bytesPerCommit)))
    return Math.max(apartMin, wanted * 2 ** this.#thinned)
  }

  /** Every second of the large ones, all over the journal: whoever goes back to its beginning waits no longer than near its end. */
  #thin(): void {
    this.#thinned++
    for (const [seq, { bytes }] of this.#states) {
      if (seq % this.#apartFor(bytes.byteLength) === 0) continue
      this.#states.delete(seq)
      this.#bytes -= bytes.byteLength
    }
  }
}
