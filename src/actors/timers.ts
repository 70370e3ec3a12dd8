/** Delayed sends as data: a timer is a number with a due time, and that it fired is an input like any other. */
import type { ActorPath, AnyEvent } from '../contracts/journal.ts'

export type Timer = { n: number; dueAt: number; fire: () => void; from: ActorPath; to: ActorPath; event: AnyEvent; id: string; delay: number }
/** The last moment that a Date can name: an infinite delay. */
const never = 8.64e15

export type PersistedTimer = Omit<Timer, 'fire'>

/** The clock that XState gets. It counts timers in the order in which transitions set them, which is the same in every replay. */
export class Timers {
  /** The time of the input that is being applied, ms since the epoch. */
  now = 0
  last = 0
  readonly #pending = new Map<number, Timer>()
  #setting: Omit<PersistedTimer, 'n' | 'dueAt' | 'delay'> | undefined

  /** What the next `setTimeout` is for, told by the scheduler's hook. */
  describe(setting: Omit<PersistedTimer, 'n' | 'dueAt' | 'delay'> | undefined): void {
    this.#setting = setting
  }

  /** Whether XState is about to set one. */
  get setting(): boolean {
    return this.#setting !== undefined
  }

  readonly clock = {
    setTimeout: (fire: () => void, delay: number): number => {
      const n = ++this.last
      const ms = Number.isNaN(delay) ? 0 : Math.max(0, delay)
      this.#pending.set(n, {
        n,
        dueAt: Math.min(this.now + ms, never),
        fire,
        delay,
        ...(this.#setting ?? { from: '/', to: '/', event: { type: '' }, id: '' }),
      })
      return n
    },
    clearTimeout: (n: number): void => void this.#pending.delete(n),
  }

  /** Takes a timer out and lets it fire, inside the transition that its input is. False when it was cancelled before. */
  fire(n: number): boolean {
    const timer = this.#pending.get(n)
    this.#pending.delete(n)
    timer?.fire()
    return timer !== undefined
  }

  has(n: number): boolean {
    return this.#pending.has(n)
  }

  pending(): IterableIterator<Timer> {
    return this.#pending.values()
  }

  /** ms since the epoch of the earliest, or null. */
  nextDue(): number | null {
    let due: number | null = null
    for (const { dueAt } of this.#pending.values()) if (due === null || dueAt < due) due = dueAt
    return due
  }

  persisted(): PersistedTimer[] {
    return [...this.#pending.values()].map(({ fire: _, ...timer }) => timer)
  }

  /** Sets a timer again under its old number. @param set makes XState call `clock.setTimeout` */
  restore(timer: PersistedTimer, set: () => void): void {
    this.last = timer.n - 1
    set()
    const restored = this.#pending.get(timer.n)
    if (restored) restored.dueAt = timer.dueAt
  }
}
