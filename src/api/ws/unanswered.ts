/** Counts the requests of one connection from when they are read until their answers are written: so nobody has more of them waiting anywhere on their way. */
import { RuntimeError } from '../../contracts/errors.ts'

export class Unanswered {
  readonly #max: number
  readonly #requests = new Set<symbol>()

  constructor(max: number) {
    this.#max = max
  }

  /** @returns to be called when its answer has been written, or will never be; more than once does no harm @throws RuntimeError rate_limited */
  add(): () => void {
    if (this.#requests.size >= this.#max)
      throw new RuntimeError('rate_limited', `${this.#requests.size} requests of this connection are not answered yet`, {
        retryable: true,
        hint: 'wait for answers before asking more',
      })
    const request = Symbol()
    this.#requests.add(request)
    return () => void this.#requests.delete(request)
  }
}
