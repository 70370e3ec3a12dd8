/**
 * Wakes roots that sleep when they are due. The journal says of every append when its root wants to be woken, so there is one timer, for the earliest of
 * those times, and a host with nothing to wait for asks nothing.
 */
import type { Environment } from '../../contracts/environment.ts'
import { errorBody } from '../../contracts/errors.ts'
import { type Address, formatAddress } from '../../contracts/subjects.ts'
import { beingImported, type Journal } from '../../contracts/transport.ts'

/** A root is woken this long before it is due, so that its timer is armed in time. */
const leadMs = 1000
/** Between something that may make a root due and the look at the journal: it may still be on its way there, and more of the kind may follow. */
const soonMs = 1000
/** The longest that the clock is not looked at, since it may jump; and the pause between two looks at a journal that others write too. */
const lookMs = 30_000
/** With nothing to wait for. The timer stands all the same: it is what keeps a process alive that has a host. */
const restMs = 2 ** 31 - 1
const wakeBatch = 1000

/** What the host has to say to it; `now` is ms since the epoch. */
export type Sleepers = {
  /** Those awake or resting may be due as well. */
  may(address: Address, now: number): boolean
  wake(address: Address, now: number): Promise<void>
  /** When the next of those that rest may be woken. */
  rested(now: number): number
  /** Tells of wake times that are set for those asleep. Returns the unsubscriber. */
  watch(wanted: (address: Address, wakeAt: number) => void): () => void
}

/** @property shared other processes write to the journal too: what they want may go unheard, so it is looked for now and then */
type WakingParts = { journal: Journal; environment: Pick<Environment, 'clock' | 'log'>; sleepers: Sleepers; shared: boolean }

export class Waking {
  readonly #parts: WakingParts
  #timer: unknown
  /** When the journal is to be looked at next. */
  #at = Number.POSITIVE_INFINITY
  #unwatch: (() => void) | undefined
  #stopped = false

  constructor(parts: WakingParts) {
    this.#parts = parts
  }

  /** Resolves when those that are due have been woken. */
  async start(): Promise<void> {
    this.#unwatch = this.#parts.sleepers.watch((address, wakeAt) => this.#wanted(address, wakeAt))
    await this.look()
  }

  #wanted(address: Address, wakeAt: number): void {
    const now = this.#parts.environment.clock.now()
    const at = Math.max(now + soonMs, wakeAt - leadMs)
    if (wakeAt !== beingImported && !this.#looksBy(at) && this.#parts.sleepers.may(address, now)) this.by(at)
  }

  /** The journal is looked at by then in any case. A timer that is late by a clock that jumped is not waited for. */
  #looksBy(at: number): boolean {
    return this.#at <= at && this.#at > this.#parts.environment.clock.now()
  }

  /** Something may be due that was not a moment ago. */
  soon(): void {
    this.by(this.#parts.environment.clock.now() + soonMs)
  }

  /** Looks at the journal at a time, if not before. */
  by(at: number): void {
    if (this.#unwatch === undefined || this.#stopped || at === Number.POSITIVE_INFINITY || this.#looksBy(at)) return
    this.#at = Math.min(at, this.#at)
    this.#arm()
  }

  #arm(): void {
    const { clock } = this.#parts.environment
    clock.clearTimeout(this.#timer)
    if (this.#stopped) return
    const waitMs = Math.max(0, this.#at - clock.now())
    // The timer's own clock does not jump: where it has waited for all of it, it is time, whatever the other one says.
    const whole = waitMs <= lookMs
    const ring = (): void => (whole || clock.now() >= this.#at ? void this.look() : this.#arm())
    this.#timer = clock.setTimeout(ring, this.#at === Number.POSITIVE_INFINITY ? restMs : Math.min(waitMs, lookMs))
  }

  /** Wakes those that are due, and arms the timer for the next one. Resolves when they are awake, but the next look does not wait for that. */
  async look(): Promise<void> {
    if (this.#stopped) return
    const { journal, environment, sleepers, shared } = this.#parts
    const now = environment.clock.now()
    this.#at = shared ? now + lookMs : Number.POSITIVE_INFINITY
    this.#arm()
    try {
      const soon = now + leadMs
      const due = await journal.due(soon, wakeBatch, (address) => sleepers.may(address, now))
      const found = new Set(due.map(({ address }) => formatAddress(address)))
      const until = shared ? soon + lookMs : beingImported - 1
      const [next] = await journal.due(until, 1, (address) => sleepers.may(address, now) && !found.has(formatAddress(address)))
      // Where there were too many, the rest of them follow soon.
      if (next) this.by(Number(next.wakeAt) <= soon ? soon : Number(next.wakeAt) - leadMs)
      this.by(sleepers.rested(now))
      await Promise.all(due.map(({ address }) => sleepers.wake(address, now)))
    } catch (error) {
      if (this.#stopped) return
      environment.log.error({ error: errorBody(error) }, 'the journal could not be looked through for work')
      this.soon()
    }
  }

  stop(): void {
    this.#stopped = true
    this.#unwatch?.()
    this.#parts.environment.clock.clearTimeout(this.#timer)
  }
}
