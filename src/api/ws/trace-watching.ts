/** The journals that a connection watches: of each it is told how far it has come, the newest only, when it can take it. */

import { type Access, reaches } from '../../contracts/access.ts'
import { RuntimeError } from '../../contracts/errors.ts'
import { type GatewayEvents, socketMethods } from '../../contracts/gateway.ts'
import { parseInput } from '../../contracts/parse.ts'
import { type Address, formatAddress } from '../../contracts/subjects.ts'
import type { Runtime } from '../../runtime/index.ts'

type Grown = GatewayEvents['trace.grown']

type TraceReader = {
  /** Whether it should not be sent anything now. */
  readonly isBehind: boolean
  tell(event: 'trace.grown', payload: Grown): void
}

export class TraceWatching {
  readonly #reader: TraceReader
  readonly #max: number
  readonly #stops = new Map<string, () => void>()
  /** What it has not been told yet: one for each journal, however much comes. */
  readonly #untold = new Map<string, Grown>()
  #soon: NodeJS.Immediate | undefined

  constructor(reader: TraceReader, max: number) {
    this.#reader = reader
    this.#max = max
  }

  /**
   * One that the token does not reach is watched as one that is not there: it says nothing, and takes up as much.
   * @returns the address, of a session by its one key @throws RuntimeError bad_request, not_found for a kind that there is not, rate_limited
   */
  watch(runtime: Runtime, params: unknown, access: Access | undefined): Address {
    const address = addressIn(runtime, params)
    const name = formatAddress(address)
    runtime.registration(address.kind)
    if (this.#stops.has(name)) return address
    if (this.#stops.size >= this.#max)
      throw new RuntimeError('rate_limited', `this connection watches ${this.#stops.size} journals`, {
        hint: 'trace.unsubscribe those that nobody looks at',
      })
    const isReached = access?.sessions === undefined || (address.kind === 'session' && reaches(access, address.id))
    const grew = (seq: number) => {
      this.#untold.set(name, { ...address, seq })
      this.#soon ??= setImmediate(() => this.flush())
    }
    this.#stops.set(name, isReached ? runtime.onGrowth(address, grew) : () => undefined)
    return address
  }

  leave(runtime: Runtime, params: unknown): Address {
    const address = addressIn(runtime, params)
    const name = formatAddress(address)
    this.#stops.get(name)?.()
    this.#stops.delete(name)
    this.#untold.delete(name)
    return address
  }

  leaveAll(): void {
    for (const stop of this.#stops.values()) stop()
    this.#stops.clear()
    this.#untold.clear()
    clearImmediate(this.#soon)
  }

  /** To be called when the reader has caught up, too. */
  flush(): void {
    this.#soon = undefined
    if (this.#reader.isBehind) return
    const told = [...this.#untold.values()]
    this.#untold.clear()
    for (const grown of told) this.#reader.tell('trace.grown', grown)
  }
}

const addressIn = (runtime: Runtime, params: unknown): Address => {
  const { kind = 'session', id } = parseInput(socketMethods['trace.subscribe'], params)
  return { kind, id: kind === 'session' ? runtime.keyOf(id) : id }
}
