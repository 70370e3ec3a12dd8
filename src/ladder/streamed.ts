/** A run as it is heard: events in their order, and at the end its result. */
import type { LadderEvent } from './envelope.ts'
import { LadderError } from './errors.ts'
import { type Handlers, tellTo } from './listeners.ts'

/** Of a call that is refused. */
export const refusedCall = (error: LadderError): Streamed<never> => {
  const streamed = new Streamed<never>()
  streamed.follow(Promise.reject(error))
  return streamed
}

/** What is wrong with the options of a call rejects it, as all else does. */
export const calledWith = <Options, Made>(check: () => Options, call: (options: Options) => Streamed<Made>): Streamed<Made> => {
  let options: Options
  try {
    options = check()
  } catch (error) {
    if (error instanceof LadderError) return refusedCall(error)
    throw error
  }
  return call(options)
}

export class Streamed<Result> implements AsyncIterable<LadderEvent> {
  readonly result: Promise<Result>
  /** Written as a method, so that one of a result is one of unknown results too. */
  readonly #settle: { of(result: Promise<Result>): void }['of']
  readonly #handlers: Handlers[] = []
  readonly #waiting: LadderEvent[] = []
  #wake: () => void = () => undefined
  #over = false

  constructor(handlers?: Handlers) {
    const { promise, resolve } = Promise.withResolvers<Result>()
    this.result = promise
    this.#settle = resolve
    if (handlers) this.#handlers.push(handlers)
    // Whoever only listens is not asked to catch.
    promise.catch(() => undefined)
  }

  /** Hears what comes from now on. */
  on(handlers: Handlers): this {
    this.#handlers.push(handlers)
    return this
  }

  /** @param failed hears what handlers throw */
  tell(event: LadderEvent, failed: (thrown: unknown) => void): void {
    this.#waiting.push(event)
    for (const handlers of this.#handlers) tellTo(handlers, event, failed)
    this.#wake()
  }

  follow(result: Promise<Result>): void {
    this.#settle(result)
    const end = (): void => {
      this.#over = true
      this.#wake()
    }
    result.then(end, end)
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<LadderEvent> {
    for (;;) {
      yield* this.#waiting.splice(0)
      if (this.#waiting.length > 0) continue
      if (this.#over) break
      const { promise, resolve } = Promise.withResolvers<void>()
      this.#wake = resolve
      if (this.#waiting.length === 0 && !this.#over) await promise
    }
    await this.result
  }
}
