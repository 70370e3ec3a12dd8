/** Slows down callers that try wrong tokens, by address. A right token is never counted, also where others try wrong ones from the same address. */
import type { Clock } from '../../contracts/environment.ts'
import { RuntimeError } from '../../contracts/errors.ts'
import type { GatewayLimits } from './limits.ts'

type Bucket = { left: number; at: number }

export class Throttle {
  /** In the order in which they were last heard of. */
  readonly #buckets = new Map<string, Bucket>()
  readonly #limits: GatewayLimits
  readonly #clock: Clock
  readonly #slowed: (client: string) => void

  /** @param slowed is told when an address has used up what it may try */
  constructor(limits: GatewayLimits, clock: Clock, slowed: (client: string) => void) {
    this.#limits = limits
    this.#clock = clock
    this.#slowed = slowed
  }

  get size(): number {
    return this.#buckets.size
  }

  /** Counts a wrong token. @throws RuntimeError rate_limited, with the seconds to wait as `data.retryAfter` */
  wrong(client: string): void {
    const { wrongTokensMax, wrongTokenMs, addressesMax } = this.#limits
    const now = (this.#clock.elapsed ?? this.#clock.now)()
    const known = this.#buckets.get(client)
    const left = Math.min(wrongTokensMax, known === undefined ? wrongTokensMax : known.left + (now - known.at) / wrongTokenMs)
    this.#buckets.delete(client)
    this.#buckets.set(client, { left: left < 1 ? left : left - 1, at: now })
    for (const oldest of this.#buckets.keys()) {
      if (this.#buckets.size <= addressesMax) break
      this.#buckets.delete(oldest)
    }
    if (left >= 1) {
      if (left < 2) this.#slowed(client)
      return
    }
    const retryAfter = Math.max(1, Math.ceil(((1 - left) * wrongTokenMs) / 1000))
    throw new RuntimeError('rate_limited', 'too many requests without the right token came from this address', {
      retryable: true,
      hint: `wait ${retryAfter} s, or send the right token: it is let in at any time`,
      data: { retryAfter },
    })
  }
}

/** Counts what is open by key, up to a bound; a key with nothing open takes no room. */
export class Counts {
  readonly #open = new Map<string, number>()

  of(key: string): number {
    return this.#open.get(key) ?? 0
  }

  add(key: string, change: 1 | -1): void {
    const count = this.of(key) + change
    if (count > 0) this.#open.set(key, count)
    else this.#open.delete(key)
  }
}
