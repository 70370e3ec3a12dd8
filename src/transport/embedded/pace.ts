/**
 * Where a batch is committed. A commit on the main thread holds everything else up for as long as it takes; handing it to the writer thread costs two
 * wake-ups, which on an idle machine take longer than a quick disk does.
 */

/** A commit of more would be worth a thread of its own. */
const lightRequestsMax = 16
const lightBytesMax = 128 * 1024
/** What may hold the main thread up, as the mean of the last commits: about as long as a collection of garbage does. */
const quickMs = 1
/** How much of the mean the newest commit is. */
const weight = 0.2

export class Pace {
  #meanMs = 0

  /** @param requests of the commit that took so long; of many it says nothing about the disk */
  took(ms: number, requests: number): void {
    if (requests <= lightRequestsMax) this.#meanMs += (ms - this.#meanMs) * weight
  }

  /** Whether it can be committed on the main thread. */
  here(requests: number, sizeBytes: number): boolean {
    return this.#meanMs <= quickMs && requests <= lightRequestsMax && sizeBytes <= lightBytesMax
  }
}
