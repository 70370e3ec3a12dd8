/** One process of a simulation: its clock, its way to the store, its moments. It can be stopped in its tracks, for a while or for good. */
import { type Clock, type Environment, type FailPoint, type FailPoints, pause } from '../../contracts/environment.ts'
import { RuntimeError } from '../../contracts/errors.ts'
import type { Address } from '../../contracts/subjects.ts'
import type { Journal, Transport } from '../../contracts/transport.ts'
import type { Runtime } from '../../runtime.ts'
import type { VirtualClock } from '../virtual-clock.ts'
import type { FaultKind } from './plan.ts'

/** What strikes at a step, if anything; told by the simulation. */
type Strike = (node: Node, step: string) => { kind: FaultKind; ms: number } | undefined

type NodeOptions = {
  name: string
  world: VirtualClock
  environment: Omit<Environment, 'clock' | 'failPoints'>
  strike: Strike
  /** While the store is in trouble: what it answers. */
  trouble(): RuntimeError | undefined
  /** A frame stands in the store. */
  appended(address: Address, seq: number): void
}

/** Made anew each time: one that all share would remember everybody who ever waited for it. */
const never = () => new Promise<never>(() => undefined)

export class Node {
  readonly name: string
  readonly environment: Environment
  /** Once it is up. */
  runtime: Runtime | undefined
  readonly #options: NodeOptions
  #dead = false
  #paused: { until: Promise<void>; end: () => void; waiting: (() => void)[] } | undefined
  #clockOffsetMs = 0
  #inner: Transport | undefined

  constructor(options: NodeOptions) {
    this.#options = options
    this.name = options.name
    this.environment = { ...options.environment, clock: this.#clock(), failPoints: this.#failPoints() }
  }

  /** It runs now: neither dead nor stopped. */
  get running(): boolean {
    return !this.#dead && this.#paused === undefined
  }
  get dead(): boolean {
    return this.#dead
  }

  /** As `kill -9`. Nothing of it goes on. */
  kill(): void {
    this.#dead = true
    void this.#inner?.close()
  }

  /** As `SIGSTOP`. */
  pause(): void {
    if (this.#paused || this.#dead) return
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#paused = { until: promise, end: resolve, waiting: [] }
  }

  /** As `SIGCONT`: every timer that came due meanwhile fires at once. */
  thaw(): void {
    const paused = this.#paused
    this.#paused = undefined
    paused?.end()
    for (const callback of paused?.waiting ?? []) if (!this.#dead) callback()
  }

  jump(ms: number): void {
    this.#clockOffsetMs += ms
  }

  /** Resolves when this process may go on; for one that is dead it never does. */
  async present(): Promise<void> {
    for (;;) {
      if (this.#dead) return never()
      if (!this.#paused) return
      await this.#paused.until
    }
  }

  #clock(): Clock {
    const { world } = this.#options
    return {
      now: () => world.now() + this.#clockOffsetMs,
      elapsed: () => world.now(),
      setTimeout: (callback, ms) =>
        world.setTimeout(() => {
          if (this.#dead) return
          if (this.#paused) this.#paused.waiting.push(callback)
          else callback()
        }, ms),
      clearTimeout: (handle) => world.clearTimeout(handle),
    }
  }

  /** Every fail point is a moment at which a process can be stopped. */
  #failPoints(): FailPoints {
    const hit = (name: FailPoint): void | Promise<void> => {
      // Of the store rather than of the process; the way to the store has its own steps.
      if (name === 'K02' || name === 'K16' || name === 'K21') return undefined
      this.#strike(name)
      return this.running ? undefined : this.present()
    }
    return { hit }
  }

  /** Lets happen here what is planned for this step, and says what its caller has to do about it. */
  #strike(step: string): { kind: FaultKind; ms: number } | undefined {
    const fault = this.running ? this.#options.strike(this, step) : undefined
    if (fault?.kind === 'crash before') this.kill()
    if (fault?.kind === 'pause') this.pause()
    if (fault?.kind === 'clock jump') this.jump(fault.ms)
    return fault
  }

  /** The store as this process sees it. */
  connect(transport: Transport): Transport {
    this.#inner = transport
    const { journal } = transport
    const { world, trouble, appended } = this.#options
    const step = async <T>(name: string, call: () => Promise<T>): Promise<T> => {
      await this.present()
      const fault = this.#strike(name)
      await this.present()
      if (fault?.kind === 'delay') await pause(world, fault.ms)
      if (fault?.kind === 'lost request') throw lost(name)
      const refusal = trouble()
      if (refusal) throw refusal
      const answer = await call()
      if (fault?.kind === 'crash after') this.kill()
      await this.present()
      if (fault?.kind === 'lost answer') throw lost(name)
      return answer
    }
    const reading =
      <Args extends unknown[], T>(name: string, call: (...args: Args) => Promise<T>) =>
      (...args: Args): Promise<T> =>
        step(name, () => call(...args))
    const seen: Journal = {
      ...journal,
      append: async (...args) => {
        try {
          return await step('append', async () => {
            const outcome = await journal.append(...args)
            if (outcome.outcome === 'ok') appended(args[0], args[1] + 1)
            return outcome
          })
        } catch (cause) {
          if (cause instanceof RuntimeError && cause.code === 'log_full') throw cause
          return { outcome: 'unknown', cause }
        }
      },
      read: reading('read', journal.read),
      last: reading('last', journal.last),
      snapshot: reading('snapshot', journal.snapshot),
      saveSnapshot: reading('save snapshot', journal.saveSnapshot),
      // Asked now and then by everybody: too dull to fail, but not by who is dead.
      due: async (...args) => {
        await this.present()
        const due = await journal.due(...args)
        await this.present()
        return due
      },
    }
    return { ...transport, journal: seen }
  }
}

const lost = (step: string): RuntimeError => new RuntimeError('log_unavailable', `the connection broke in '${step}'`, { retryable: true })
