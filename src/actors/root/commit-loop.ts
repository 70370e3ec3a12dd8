/** Does the commits of one root one after the other, and nothing else meanwhile. */

export type PumpWork = {
  /** Whether something asks for a commit. */
  wanted(): boolean
  cycle(): Promise<void>
  /** A cycle threw: there will be no other. */
  broken(error: unknown): void
}

export class Pump {
  readonly #work: PumpWork
  #running: Promise<void> | undefined

  constructor(work: PumpWork) {
    this.#work = work
  }

  get running(): boolean {
    return this.#running !== undefined
  }

  /** Goes on as long as there is work. */
  start(): void {
    if (this.#running || !this.#work.wanted()) return
    void this.alone(async () => {
      // One turn of the event loop: whatever becomes ready together shares a commit.
      await new Promise<void>((resolve) => void setImmediate(resolve))
      while (this.#work.wanted()) await this.#work.cycle()
    })
  }

  /** Runs what must not meet a commit in the making. Never rejects. */
  alone(work: () => Promise<void>): Promise<void> {
    // The place is taken in the same breath in which it is asked for: two who come in one tick must not both find nobody here.
    const before = this.#running ?? Promise.resolve()
    const mine = before
      .then(work)
      .catch((error: unknown) => this.#work.broken(error))
      .finally(() => {
        if (this.#running !== mine) return
        this.#running = undefined
        this.start()
      })
    this.#running = mine
    return mine
  }

  async idle(): Promise<void> {
    while (this.#running) await this.#running
  }
}
