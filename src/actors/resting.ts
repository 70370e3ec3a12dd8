/** Roots that a host does not wake for the time being: another host has them, or they cannot be opened. By name. */
import { isRuntimeError } from '../contracts/errors.ts'

const pauseMs = 2000
/** Longest pause between two attempts to open a root whose store is away. */
const pauseMaxMs = 30_000

export class Resting {
  readonly #rests = new Map<string, { until: number; tries: number }>()

  get size(): number {
    return this.#rests.size
  }
  has(name: string, now: number): boolean {
    return (this.#rests.get(name)?.until ?? 0) > now
  }
  /** Until somebody sends to it. */
  forGood(name: string): void {
    this.#rests.set(name, { until: Number.POSITIVE_INFINITY, tries: 0 })
  }
  /** Not again every second; and what no repetition mends only when somebody sends to it, and is told the reason. */
  after(name: string, error: unknown, now: number): void {
    const { until = 0, tries = 0 } = this.#rests.get(name) ?? {}
    // Many may have waited for the one attempt that failed.
    if (until > now) return
    const next = isRuntimeError(error) && error.retryable ? now + Math.min(pauseMaxMs, pauseMs * 2 ** tries) : Number.POSITIVE_INFINITY
    this.#rests.set(name, { until: Math.max(until, next), tries: tries + 1 })
  }
  end(name: string): void {
    this.#rests.delete(name)
  }
  endAll(these: (name: string) => boolean): void {
    for (const name of this.#rests.keys()) if (these(name)) this.#rests.delete(name)
  }
}
