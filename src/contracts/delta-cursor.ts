/** Where a reader stands in the deltas of one run. They are hints: on their way some come late, twice or not at all. The journal has all of the text. */

/** @property attempt rises with every call of the model and every take-over @property index of its first piece @property count of pieces in it */
export type DeltaPlace = { attempt: number; index: number; count?: number }

/**
 * Readers drop a delta by its place, never by its text. They ignore a lower attempt than the newest: a replaced node may publish it until it
 * notices.
 *
 * `begins`: it is the first one heard of a newer attempt. `follows`: it goes on where the reader stands; after a gap nothing does, up to the next attempt.
 */
type DeltaStep = { begins: boolean; follows: boolean }

export class DeltaCursor {
  /** Attempts below are over. */
  #from: number
  #attempt: number | undefined
  #next = 0
  #whole = true

  /** @param from attempts below are over */
  constructor(from = 0) {
    this.#from = from
  }

  /** The attempt that is being heard. */
  get attempt(): number | undefined {
    return this.#attempt
  }

  /** No piece of the present attempt is missing so far. */
  get whole(): boolean {
    return this.#whole
  }

  take({ attempt, index, count = 1 }: DeltaPlace): DeltaStep {
    if (attempt < this.#from) return { begins: false, follows: false }
    const begins = attempt !== this.#attempt
    if (begins) {
      this.#from = attempt
      this.#attempt = attempt
      this.#next = 0
      this.#whole = true
    }
    if (index > this.#next) this.#whole = false
    const follows = this.#whole && index === this.#next
    if (follows) this.#next += count
    return { begins, follows }
  }

  /** The attempt, and all before it, are over. @param attempt default: the one that is being heard */
  end(attempt = this.#attempt): void {
    if (attempt !== undefined) this.#from = Math.max(this.#from, attempt + 1)
    this.#attempt = undefined
  }
}
