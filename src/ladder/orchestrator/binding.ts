/** The runtime that an orchestrator is of, as long as there is one. */
import type { Runtime } from '../../index.ts'
import { LadderError } from '../errors.ts'
import { silent, type Warn } from '../listeners.ts'
import type { Bound } from '../options.ts'

export class Binding {
  readonly #name: string
  #bound: Bound | undefined
  #next = Promise.withResolvers<void>()

  constructor(name: string) {
    this.#name = name
  }

  set(bound: Bound | undefined): void {
    this.#bound = bound
    if (!bound) return
    this.#next.resolve()
    this.#next = Promise.withResolvers<void>()
  }

  /** @throws LadderError LADDER_CONFIG where there is none */
  get runtime(): Runtime {
    if (this.#bound) return this.#bound.runtime
    throw new LadderError('LADDER_CONFIG', `no runtime has the orchestrator '${this.#name}'`, {
      hint: 'start one with createRuntime({ extensions: [ladder({ executables: [it] })] })',
    })
  }

  get warn(): Warn {
    return this.#bound?.warn ?? silent
  }

  /** For effects, which go on after a crash before a runtime has started in full. @param but one that has ended */
  async when(but?: Runtime): Promise<Bound> {
    while (!this.#bound || this.#bound.runtime === but) await this.#next.promise
    return this.#bound
  }

  /** Resolves when another runtime has taken over. */
  next(): Promise<Bound> {
    return this.when(this.#bound?.runtime)
  }
}
