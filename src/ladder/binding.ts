/** The runtime that has an executable: runtimes come and go, also while work calls it. */
import { isRuntimeError } from '../index.ts'

/** Work that calls. @property stopped aborts when it is stopped here, for whatever reason */
export type Caller = { stopped: AbortSignal; waits(only: boolean): void }

export class Binding<Bound> {
  /** What it is bound to now. */
  to: Bound | undefined
  #isAnnounced = false
  #next = Promise.withResolvers<void>()

  /** A runtime is about to have it: work that was cut off may call it before that one has started. */
  announce(): void {
    this.#isAnnounced = true
  }

  bind(to: Bound | undefined): void {
    this.to = to
    if (!to) return
    this.#next.resolve()
    this.#next = Promise.withResolvers()
  }

  /** Resolves when it is bound once more. */
  protected get boundAgain(): Promise<void> {
    return this.#next.promise
  }

  /** Does it on the runtime that is there, and again on the next one where that one leaves meanwhile: to the caller it is one and the same. */
  async outlasting<Value>({ stopped, waits }: Caller, work: () => Promise<Value>): Promise<Value> {
    if (!this.to && this.#isAnnounced) await this.#next.promise
    for (;;) {
      const used = this.to
      try {
        return await work()
      } catch (error) {
        if (!isRuntimeError(error) || error.code !== 'closed') throw error
      }
      waits(true)
      if (this.to === used) await this.#next.promise
      // It is begun again where its actor goes on.
      if (stopped.aborted) await new Promise(() => undefined)
      waits(false)
    }
  }
}
