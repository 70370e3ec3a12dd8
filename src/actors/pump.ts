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
  async alone(work: () => Promise<void>): Promise<void> {
    await this.idle()
    this.#running = work()
      .catch((error: unknown) => this.#work.broken(error))
      .finally(() => {
        this.#running = undefined
        this.start()
      })
    await this.#running
  }

  async idle(): Promise<void> {
    while (this.#running) await this.#running
  }
}
