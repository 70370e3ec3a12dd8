/** How much is kept that no message has taken yet, by whom: nobody fills a store with what is never said. `pending.<id>.<token>` */
import type { Clock } from '../../contracts/environment.ts'
import { RuntimeError } from '../../contracts/errors.ts'
import type { Transport } from '../../contracts/transport.ts'

export type UploadLimits = { bytesPerToken?: number; bytesMax?: number }
type Pending = { bytes: number; at: number }

const defaults = { bytesPerToken: 100_000_000, bytesMax: 1_000_000_000 }
/** A small one counts as this much, so that their number has a limit too. */
const countedMin = 16_384
const dayMs = 24 * 3_600_000

export class PendingUploads {
  readonly #registry: Transport['registry']
  readonly #clock: Pick<Clock, 'now'>
  readonly #limits: Required<UploadLimits>
  /** What is being written at this moment: many that come at once are counted before any is kept. */
  readonly #coming = new Set<{ by: string; bytes: number }>()

  constructor(registry: Transport['registry'], clock: Pick<Clock, 'now'>, limits: UploadLimits = {}) {
    this.#registry = registry
    this.#clock = clock
    this.#limits = { ...defaults, ...limits }
  }

  /** @param by the id of a token; left out for the node's own and for code in its process, which count as one @throws RuntimeError overloaded */
  async counted<Kept extends { id: string }>(by: string | undefined, size: number, keep: () => Promise<Kept>): Promise<Kept> {
    const coming = { by: by ?? 'node', bytes: Math.max(size, countedMin) }
    this.#coming.add(coming)
    try {
      const now = this.#clock.now()
      let [own, all] = [0, 0]
      const count = (owner: string, bytes: number) => {
        all += bytes
        if (owner === coming.by) own += bytes
      }
      for (const { key, value } of await this.#registry.list('pending.')) {
        const { bytes, at } = JSON.parse(value) as Pending
        if (now - at < dayMs) count(key.slice(key.lastIndexOf('.') + 1), bytes)
        else await this.#registry.delete(key)
      }
      for (const one of this.#coming) count(one.by, one.bytes)
      if (own > this.#limits.bytesPerToken) throw full('of this token', this.#limits.bytesPerToken)
      if (all > this.#limits.bytesMax) throw full('of this node', this.#limits.bytesMax)
      const kept = await keep()
      await this.#registry.put(`pending.${kept.id}.${coming.by}`, JSON.stringify({ bytes: coming.bytes, at: now } satisfies Pending))
      return kept
    } finally {
      this.#coming.delete(coming)
    }
  }

  /** A message names it: it counts no longer. */
  async taken(id: string): Promise<void> {
    for (const { key } of await this.#registry.list(`pending.${id}.`)) await this.#registry.delete(key)
  }
}

const full = (whose: string, most: number): RuntimeError =>
  new RuntimeError('overloaded', `uploads ${whose} that no message names take up ${most} bytes already`, {
    retryable: true,
    hint: 'send a message with those that are there; what is not sent within a day is forgotten',
  })
