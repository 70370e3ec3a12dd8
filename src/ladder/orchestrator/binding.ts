/** The runtime that an orchestrator is of, as long as there is one. */
import type { Runtime } from '../../index.ts'
import { Binding } from '../binding.ts'
import { LadderError } from '../errors.ts'
import { silent, type Warn } from '../listeners.ts'
import type { Bound } from '../options.ts'

export class HostBinding extends Binding<Bound> {
  readonly #name: string

  constructor(name: string) {
    super()
    this.#name = name
  }

  /** @throws LadderError LADDER_CONFIG where there is none */
  get runtime(): Runtime {
    if (this.to) return this.to.runtime
    throw new LadderError('LADDER_CONFIG', `no runtime has the orchestrator '${this.#name}'`, {
      hint: 'start one with createRuntime({ extensions: [ladder({ executables: [it] })] })',
    })
  }

  get warn(): Warn {
    return this.to?.warn ?? silent
  }

  /** For effects, which go on after a crash before a runtime has started in full. @param but one that has ended */
  async when(but?: Runtime): Promise<Bound> {
    while (!this.to || this.to.runtime === but) await this.boundAgain
    return this.to
  }

  /** Resolves when another runtime has taken over. */
  next(): Promise<Bound> {
    return this.when(this.to?.runtime)
  }
}
