/** When the next snapshot of a root is tried: a large one less often, so that all of them together cost in proportion to the journal, however long that gets. */

/** Bytes of a snapshot that are worth one commit: to write them takes about as long as a recovery needs for that. */
const bytesOfCommit = 1024

export class SnapshotPace {
  #seq = 0
  #bytes = 0

  /** @param commits between two snapshots, at least */
  isDue(seq: number, savedSeq: number, commits: number): boolean {
    return seq - Math.max(this.#seq, savedSeq) >= Math.max(commits, this.#bytes / bytesOfCommit)
  }

  /** @param bytes 0 where no snapshot can hold the tree: with every commit there would be no more luck */
  tried(seq: number, bytes = 0): void {
    this.#seq = seq
    this.#bytes = bytes
  }
}
