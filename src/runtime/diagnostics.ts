/** What goes on in the sessions of this node: metrics, and runs that are stuck (OC-92, OC-96). */
import type { Environment } from '../contracts/environment.ts'
import type { AnyEvent } from '../contracts/journal.ts'
import type { SessionOutput } from '../contracts/session.ts'
import { type Address, formatAddress } from '../contracts/subjects.ts'
import { type Metrics, MetricsCounter } from './metrics.rules.ts'

/** A run of which nothing was heard for so long is stuck; it is looked at so often. */
const stuckMs = 120_000
const lookMs = 30_000

/** `waits` for a person, which is not being stuck. */
type Running = { address: Address; runId: string; heardAt: number; waits: boolean }

export class Diagnostics {
  readonly #counter = new MetricsCounter()
  readonly #running = new Map<string, Running>()
  /** Names of sessions that have said a delta since runs were last looked at; of when, no more is kept than that. */
  readonly talking = new Set<string>()
  readonly #clock: Environment['clock']
  readonly #say: (address: Address, event: AnyEvent) => void
  #timer: unknown

  /** @param say tells the listeners of a session */
  constructor({ clock }: Pick<Environment, 'clock'>, say: (address: Address, event: AnyEvent) => void) {
    this.#clock = clock
    this.#say = say
  }

  /** Something that a session has said. @param name its address as text @param at ms since the epoch of its commit; of live output there is none */
  hear(address: Address, name: string, event: AnyEvent, at?: number): void {
    if (address.kind !== 'session') return
    const output = event as unknown as SessionOutput
    if (at !== undefined) this.#counter.hear(name, output, at)
    const running = this.#running.get(name)
    if (output.type === 'started') this.#running.set(name, { address, runId: output.runId, heardAt: this.#clock.now(), waits: false })
    else if (running && 'runId' in output && output.runId === running.runId && isOver(output)) this.#running.delete(name)
    else if (running && !idle.includes(output.type))
      Object.assign(running, { heardAt: this.#clock.now(), waits: output.type === 'approval' || (running.waits && output.type !== 'decided') })
    if (this.#running.size === 0) this.stop()
    else this.#timer ??= this.#clock.setTimeout(() => this.#look(), lookMs)
  }

  #look(): void {
    this.#timer = this.#running.size > 0 ? this.#clock.setTimeout(() => this.#look(), lookMs) : undefined
    const now = this.#clock.now()
    for (const name of this.talking) Object.assign(this.#running.get(name) ?? {}, { heardAt: now })
    this.talking.clear()
    for (const { address, runId, heardAt, waits } of this.#running.values())
      if (!waits && now - heardAt > stuckMs) this.#say(address, { type: 'stuck', runId, ageMs: now - heardAt })
  }

  /** A session that left this node is another's to look after. */
  forget(address: Address): void {
    const name = formatAddress(address)
    this.#running.delete(name)
    this.talking.delete(name)
    if (this.#running.size === 0) this.stop()
  }

  stop(): void {
    this.#clock.clearTimeout(this.#timer)
    this.#timer = undefined
    this.talking.clear()
  }

  get metrics(): Metrics {
    return structuredClone(this.#counter.metrics)
  }
}

/** What is said while nothing goes on. */
const idle: readonly SessionOutput['type'][] = ['typing', 'stuck', 'waiting']

const isOver = ({ type }: SessionOutput): boolean => type === 'final' || type === 'error' || type === 'aborted'
