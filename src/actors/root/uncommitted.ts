/** Whether inputs are applied that do not stand in the journal yet, and who waits for the moment at which none is. */

export class Tide {
  #ahead = false
  #waiting: (() => void)[] = []

  get ahead(): boolean {
    return this.#ahead
  }

  rise(): void {
    this.#ahead = true
  }

  fall(): void {
    this.#ahead = false
    for (const wake of this.#waiting.splice(0)) wake()
  }

  /** Resolves at the next fall; by then it may have risen again. */
  turn(): Promise<void> {
    return new Promise((resolve) => void this.#waiting.push(resolve))
  }
}
