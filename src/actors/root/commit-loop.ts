/** Does the commits of one root one after the other, and nothing else meanwhile. */

type CommitLoopParts = {
  /** Whether something asks for a commit. */
  wanted(): boolean
  cycle(): Promise<void>
  /** A cycle threw: there will be no other. */
  broken(error: unknown): void
}

export class CommitLoop {
  readonly #work: CommitLoopParts
  #running = false
  /** What waits for its turn, in the order of asking. */
  readonly #next: (() => Promise<void>)[] = []
  #idle: (() => void)[] = []

  constructor(work: CommitLoopParts) {
    this.#work = work
  }

  get running(): boolean {
    return this.#running
  }

  /** Goes on as long as there is work. */
  start(): void {
    if (this.#running || !this.#work.wanted()) return
    this.#running = true
    // One turn of the event loop: whatever becomes ready together shares a commit.
    setImmediate(() => void this.#commits())
  }

  async #commits(): Promise<void> {
    try {
      while (this.#work.wanted()) await this.#work.cycle()
    } catch (error) {
      this.#work.broken(error)
    }
    this.#goOn()
  }

  /** Runs what must not meet a commit in the making. Never rejects. */
  alone(work: () => Promise<void>): Promise<void> {
    return new Promise((resolve) => {
      this.#next.push(() =>
        work()
          .catch((error: unknown) => this.#work.broken(error))
          .finally(resolve),
      )
      if (this.#running) return
      // The place is taken in the same breath in which it is asked for: two who come in one tick must not both find nobody here.
      this.#running = true
      queueMicrotask(() => this.#goOn())
    })
  }

  #goOn(): void {
    const next = this.#next.shift()
    if (next) return void next().then(() => this.#goOn())
    this.#running = false
    this.start()
    if (!this.#running) for (const wake of this.#idle.splice(0)) wake()
  }

  async idle(): Promise<void> {
    while (this.#running) await new Promise<void>((resolve) => void this.#idle.push(resolve))
  }
}
