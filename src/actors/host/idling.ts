/** Lets roots leave memory that have nothing to do: after a while, or at once where there are too many. */
import type { Environment } from '../../contracts/environment.ts'
import { errorBody } from '../../contracts/errors.ts'
import type { Root } from '../root/root.ts'
import { dueSoon } from '../root/view.ts'
import type { HostLimits } from './limits.ts'

/** Between two looks at them, at least; and what one more than there may be waits for. */
const pauseMs = 1000

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
    const roots = [...live.values()].map((root) => ({ root, ms: root.idleMs(now) }))
    const idle = roots.filter(({ root, ms }) => ms > 0 && (spare > 0 || ms >= limits.idleMs) && !dueSoon(root, now))
    if (spare > 0) idle.sort((a, b) => b.ms - a.ms)
    const leaving = new Set(idle.filter(({ ms }, index) => ms >= limits.idleMs || index < spare))
    for (const { root } of leaving)
      dismiss(root).catch((error: unknown) =>
        environment.log.error({ actor: root.name, error: errorBody(error) }, 'an actor with nothing to do could not leave memory'),
      )
    // One that stays although it has been idle for long waits for its timer: before that there is nothing to see.
    const staying = roots.filter((one) => !leaving.has(one)).map(({ ms }) => (ms < limits.idleMs ? limits.idleMs - ms : limits.idleMs))
    if (staying.length > 0) this.#by(now + (staying.length > limits.liveMax ? pauseMs : Math.min(...staying)))
  }

  stop(): void {
    this.#started = false
    this.#parts.environment.clock.clearTimeout(this.#timer)
  }
}
