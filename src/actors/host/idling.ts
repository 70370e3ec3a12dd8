/** Lets roots leave memory that have nothing to do: after a while, or at once where there are too many. */
import type { Environment } from '../../contracts/environment.ts'
import { errorBody } from '../../contracts/errors.ts'
import type { Root } from '../root/root.ts'
import { dueSoon } from '../root/view.ts'
import type { HostLimits } from './limits.ts'

/** Between two looks at them, at least; and what one more than there may be waits for. */
const pauseMs = 1000
/** One that has ended stays as long, for those who were waiting for that. */
const endedMs = 1000

const hasEnded = ({ replica }: Pick<Root, 'replica'>): boolean => replica !== undefined && replica.status !== 'active'

type IdlingParts = {
  environment: Pick<Environment, 'clock' | 'log'>
  limits: Pick<HostLimits, 'idleMs' | 'liveMax'>
  live: ReadonlyMap<string, Root>
  dismiss(root: Root): Promise<void>
}

export class Idling {
  readonly #parts: IdlingParts
  #timer: unknown
  /** It looks at all of them no later than one that was opened just now may leave. */
  armed = false
  #at = Number.POSITIVE_INFINITY
  #started = false

  constructor(parts: IdlingParts) {
    this.#parts = parts
  }

  start(): void {
    this.#started = true
  }

  /** There is one more in memory: to be said while it is not {@link armed}, and of each that is one too many. */
  opened(): void {
    const { environment, limits, live } = this.#parts
    this.#by(environment.clock.now() + (live.size > limits.liveMax ? pauseMs : limits.idleMs))
  }

  /** One of them has come to its end: nothing will happen to it any more. */
  ended(): void {
    this.#by(this.#parts.environment.clock.now() + endedMs)
  }

  #by(at: number): void {
    const { clock } = this.#parts.environment
    if (!this.#started || at >= this.#at) return
    this.#at = at
    this.armed = true
    clock.clearTimeout(this.#timer)
    this.#timer = clock.setTimeout(() => this.#look(), Math.max(pauseMs, at - clock.now()))
  }

  #look(): void {
    const { environment, limits, live, dismiss } = this.#parts
    const now = environment.clock.now()
    const spare = live.size - limits.liveMax
    this.#at = Number.POSITIVE_INFINITY
    this.armed = false
    const roots = [...live.values()].map((root) => ({
      root,
      ms: root.idleMs(now),
      maxMs: hasEnded(root) ? Math.min(endedMs, limits.idleMs) : limits.idleMs,
    }))
    const idle = roots.filter(({ root, ms, maxMs }) => ms > 0 && (spare > 0 || ms >= maxMs) && !dueSoon(root, now))
    if (spare > 0) idle.sort((a, b) => b.ms - a.ms)
    const leaving = new Set(idle.filter(({ ms, maxMs }, index) => ms >= maxMs || index < spare))
    for (const { root } of leaving)
      dismiss(root).catch((error: unknown) =>
        environment.log.error({ actor: root.name, error: errorBody(error) }, 'an actor with nothing to do could not leave memory'),
      )
    // One that stays although it has been idle for long waits for its timer: before that there is nothing to see.
    const staying = roots.filter((one) => !leaving.has(one)).map(({ ms, maxMs }) => (ms < maxMs ? maxMs - ms : maxMs))
    if (staying.length > 0) this.#by(now + (staying.length > limits.liveMax ? pauseMs : Math.min(...staying)))
  }

  stop(): void {
    this.#started = false
    this.#parts.environment.clock.clearTimeout(this.#timer)
  }
}
