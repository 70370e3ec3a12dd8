/** Whoever waits for the next commit of a root, by its name. */
import type { Clock } from '../../contracts/environment.ts'

export class CommitWaiters {
  readonly #clock: Clock
  readonly #waiting = new Map<string, (() => void)[]>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  committed(name: string): void {
    for (const wake of this.#waiting.get(name) ?? []) wake()
    this.#waiting.delete(name)
  }

  /** Resolves at the next commit, or after `timeoutMs`. */
  next(name: string, timeoutMs: number): Promise<void> {
    return new Promise((resolve) => {
      const wake = () => {
        this.#clock.clearTimeout(timer)
        resolve()
      }
      const timer = this.#clock.setTimeout(() => {
        const others = (this.#waiting.get(name) ?? []).filter((other) => other !== wake)
        if (others.length > 0) this.#waiting.set(name, others)
        else this.#waiting.delete(name)
        resolve()
      }, timeoutMs)
      this.#waiting.set(name, [...(this.#waiting.get(name) ?? []), wake])
    })
  }
}
