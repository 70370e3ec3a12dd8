/** What all that is recorded of a kind of actor has shown of its machines. */
import { mergedCoverage } from '../../../../src/actors/index.ts'
import type { SocketClient } from '../../../../src/client/socket/index.ts'
import { errorBody } from '../../../../src/contracts/errors.ts'
import type { MachineCoverage } from '../../../../src/contracts/inspection.ts'
import type { Covered } from '../model.ts'

type Portion = { sessions: number; machines: MachineCoverage[]; next: string | null }

/** ms: a portion folds up to 20,000 commits. */
const portionMs = 60_000

export class Covering {
  readonly #client: SocketClient
  readonly #changed: () => void
  readonly #byKind = new Map<string, Covered>()

  constructor(client: SocketClient, changed: () => void) {
    this.#client = client
    this.#changed = changed
  }

  of(kind: string): Covered | undefined {
    return this.#byKind.get(kind)
  }

  /** Reads it anew. */
  read(kind: string): void {
    this.#is(kind, { state: 'asking', sessions: 0 })
    this.#all(kind).then(
      (machines) => this.#is(kind, { state: 'known', machines }),
      (error: unknown) => this.#is(kind, { state: 'failed', error: errorBody(error) }),
    )
  }

  async #all(kind: string): Promise<MachineCoverage[]> {
    let found: MachineCoverage[] = []
    let sessions = 0
    for (let after: string | null | undefined; after !== null; ) {
      const portion: Portion = await this.#client.call<Portion>('trace.coverage', { kind, ...(after && { after }) }, { timeoutMs: portionMs })
      found = mergedCoverage(found, portion.machines)
      sessions += portion.sessions
      this.#is(kind, { state: 'asking', sessions })
      after = portion.next
    }
    return found
  }

  #is(kind: string, covered: Covered): void {
    this.#byKind.set(kind, covered)
    this.#changed()
  }
}
