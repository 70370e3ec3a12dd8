/** Roots that a host does not wake for the time being: another host has them, or they cannot be opened. By name. */
import { isRuntimeError } from '../../contracts/errors.ts'

const pauseMs = 2000
/** Longest pause between two attempts to open a root whose store is away. */
const pauseMaxMs = 30_000

/** `store`: what keeps this one keeps all, and is over for all when one of them gets through. */
type Rest = { since: number; until: number; tries: number; store: boolean }

export class WakeBackoff {
  readonly #rests = new Map<string, Rest>()
  #ofStore = 0

  get size(): number {
    return this.#rests.size
  }
  has(name: string, now: number): boolean {
    return (this.#rests.get(name)?.until ?? 0) > now
  }
  /** When the next of them may be woken again. */
  nextEnd(now: number): number {
    let next = Number.POSITIVE_INFINITY
    for (const { until } of this.#rests.values()) if (until > now && until < next) next = until
    return next
  }
  /** Until somebody sends to it. */
  forGood(name: string): void {
    this.#set(name, { since: 0, until: Number.POSITIVE_INFINITY, tries: 0, store: false })
  }
  /** Another node is in the middle of it, and may let go of it, or die, at any moment: asking again costs one small message. */
  briefly(name: string, now: number): void {
    if (!this.has(name, now)) this.#set(name, { since: now, until: now + pauseMs, tries: this.#rests.get(name)?.tries ?? 0, store: false })
  }
  /** Not again every second; and what no repetition mends only when somebody sends to it, and is told the reason. */
  after(name: string, error: unknown, now: number): void {
    const { until = 0, tries = 0 } = this.#rests.get(name) ?? {}
    // Many may have waited for the one attempt that failed.
    if (until > now) return
    const next = isRuntimeError(error) && error.retryable ? now + Math.min(pauseMaxMs, pauseMs * 2 ** tries) : Number.POSITIVE_INFINITY
    const store = isRuntimeError(error) && error.retryable && (error.code === 'log_full' || error.code === 'log_unavailable')
    this.#set(name, { since: now, until: Math.max(until, next), tries: tries + 1, store })
  }
  /**
   * The store has taken something: it is there, and has room. One that fails for a reason of its own still has its first pause.
   * @returns when the first of those that it kept may be woken again
   */
  storeTook(now: number): number | undefined {
    if (this.#ofStore === 0) return undefined
    let first = Number.POSITIVE_INFINITY
    for (const rest of this.#rests.values())
      if (rest.store) {
        rest.until = Math.min(rest.until, Math.max(now, rest.since + pauseMs))
        first = Math.min(first, rest.until)
      }
    return first
  }
  end(name: string): void {
    if (this.#rests.get(name)?.store) this.#ofStore -= 1
    this.#rests.delete(name)
  }
  endAll(these: (name: string) => boolean): void {
    for (const name of this.#rests.keys()) if (these(name)) this.end(name)
  }

  #set(name: string, rest: Rest): void {
    this.end(name)
    if (rest.store) this.#ofStore += 1
    this.#rests.set(name, rest)
  }
}
