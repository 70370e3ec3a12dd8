/** When the next snapshot of a root is tried: a large one less often, so that all of them together cost in proportion to the journal, however long that gets. */

/** @property bytes 0 where no snapshot can hold the tree: with every commit there would be no more luck */
export type TriedSnapshot = { seq: number; bytes: number }

/** Bytes of a snapshot that are worth one commit: to write them takes about as long as a recovery needs for that. */
const bytesOfCommit = 1024

/** @param commits between two snapshots, at least */
export const isWorthAnother = (tried: TriedSnapshot | undefined, seq: number, commits: number): boolean =>
  tried === undefined || seq - tried.seq >= Math.max(commits, tried.bytes / bytesOfCommit)
