/** Delayed sends as data: a timer is a number with a due time, and that it fired is an input like any other. */
import type { ActorPath, AnyEvent } from '../../contracts/journal.ts'
import { LeanMap } from './lean.ts'

type Timer = { n: number; dueAt: number; fire: () => void; from: ActorPath; to: ActorPath; event: AnyEvent; id: string; delay: number }
/** The last moment that a Date can name: an infinite delay. */
const never = 8.64e15

export type PersistedTimer = Omit<Timer, 'fire'>

/** The clock that XState gets. It counts timers in the order in which transitions set them, which is the same in every replay. */
export class Timers {
  /** The time of the input that is being applied, ms since the epoch. */
  now = 0
  last = 0
  readonly #pending = new LeanMap<number, Timer>()
  /** By sender and id, the one that a `cancel` reaches: the newest, until one of that id fires. XState keeps no other. */
  readonly #reached = new LeanMap<string, number>()
  #keeping = false
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
      const timer = {
        n,
        dueAt: Math.min(this.now + ms, never),
        fire,
        delay,
        ...(this.#setting ?? { from: '/', to: '/', event: { type: '' }, id: '' }),
      }
      this.#pending.set(n, timer)
      this.#reached.set(nameOf(timer), n)
      return n
    },
    clearTimeout: (n: number): void => {
      const timer = this.#pending.get(n)
      if (timer) this.#reached.delete(nameOf(timer))
      if (!this.#keeping) this.#pending.delete(n)
    },
  }

  /** Takes a timer out and lets it fire, inside the transition that its input is. False when it was cancelled before. */
  fire(n: number): boolean {
    const timer = this.#pending.get(n)
    this.#pending.delete(n)
    if (timer) this.#reached.delete(nameOf(timer))
    timer?.fire()
    return timer !== undefined
  }

  /** All that are pending fall due later by so many ms. */
  putOff(ms: number): void {
    for (const timer of this.#pending.values()) timer.dueAt = Math.min(timer.dueAt + ms, never)
  }

  /** ms until the one is due that a `cancel` of this sender would reach. */
  leftOf(from: ActorPath, id: string): number | undefined {
    const timer = this.#pending.get(this.#reached.get(nameOf({ from, id })) ?? 0)
    return timer && Math.max(0, timer.dueAt - this.now)
  }

  has(n: number): boolean {
    return this.#pending.has(n)
  }

  pending(): IterableIterator<Timer> {
    return this.#pending.values()
  }

  /** ms since the epoch of the earliest, or null: none is due at the end of time, which as a wake time means a journal that is not whole. */
  nextDue(): number | null {
    let due: number | null = null
    for (const { dueAt } of this.#pending.values()) if (dueAt < (due ?? never)) due = dueAt
    return due
  }

  persisted(): PersistedTimer[] {
    return [...this.#pending.values()].map(({ fire: _, ...timer }) => timer)
  }

  /** What a snapshot holds of them. `unreached` are those that no `cancel` reaches any more. */
  saved(): { timers: PersistedTimer[]; timerLast: number; unreached?: number[] } {
    const unreached = [...this.#pending.values()].filter((timer) => this.#reached.get(nameOf(timer)) !== timer.n).map(({ n }) => n)
    return { timers: this.persisted(), timerLast: this.last, ...(unreached.length > 0 ? { unreached } : {}) }
  }

  /**
   * Sets a timer again under its old number.
   * @param set makes XState call `clock.setTimeout` @param cancel given for one that no `cancel` reached: XState is to forget it, and it is to fire
   */
  restore(timer: PersistedTimer, set: () => void, cancel?: () => void): void {
    this.last = timer.n - 1
    set()
    const restored = this.#pending.get(timer.n)
    if (restored) restored.dueAt = timer.dueAt
    this.#keeping = true
    cancel?.()
    this.#keeping = false
  }
}

const nameOf = ({ from, id }: Pick<Timer, 'from' | 'id'>): string => JSON.stringify([from, id])
