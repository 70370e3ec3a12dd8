/** An actor of somebody's own machine, as its users hold it. */
import { RuntimeError } from '../contracts/errors.ts'
import type { AnyEvent, Receipt } from '../contracts/journal.ts'
import { type Address, formatAddress } from '../contracts/subjects.ts'
import type { Said } from './outputs.ts'
import type { Services } from './services.ts'

export type ActorSnapshot = {
  status: 'active' | 'done' | 'error' | 'stopped'
  value: unknown
  context: unknown
  output: unknown
  seq: number
  epoch: number
}

export class Actor {
  readonly address: Address
  readonly #services: Services
  readonly #input: unknown

  constructor(services: Services, kind: string, id: string, input?: unknown) {
    services.host.registration(kind)
    this.address = { kind, id }
    formatAddress(this.address)
    this.#services = services
    this.#input = input
  }

  /** Resolves when the event is durable and applied. @throws RuntimeError bad_request, closed, quarantined, overloaded … */
  async send(event: AnyEvent, options: { id?: string } = {}): Promise<Receipt> {
    this.#services.admit()
    return this.#services.directory.send(this.address, event, { ...options, ...(this.#input === undefined ? {} : { input: this.#input }) })
  }

  /** @throws RuntimeError not_found, quarantined, drift, corrupt_at */
  async snapshot(): Promise<ActorSnapshot> {
    const { quarantine, snapshot, seq, epoch } = await this.#services.directory.read(this.address)
    const name = formatAddress(this.address)
    if (quarantine)
      throw new RuntimeError('quarantined', `${name} was set aside because it kept failing: ${quarantine.message}`, {
        data: { reason: quarantine },
        hint: `see 'statecast trace ${name}', mend the cause, then revive() it`,
      })
    if (!snapshot) throw new RuntimeError('not_found', `there is no ${name}`, { hint: 'send it an event and it is there' })
    return { ...snapshot, seq, epoch }
  }

  /**
   * Takes it into service again after it was quarantined, from where its journal ends; else it does nothing.
   * @returns whether it was quarantined @throws RuntimeError drift, corrupt_at …
   */
  async revive(): Promise<boolean> {
    this.#services.admit()
    return this.#services.directory.revive(this.address)
  }

  /** Emitted events from now on. */
  events(options: { signal?: AbortSignal } = {}): AsyncGenerator<Said> {
    return this.#services.outputs.follow(formatAddress(this.address), options, (said) => said)
  }

  /** The output of the machine, waited for. @throws RuntimeError timeout, quarantined */
  async output(timeoutMs = 600_000): Promise<unknown> {
    const { directory, environment } = this.#services
    const until = environment.clock.now() + timeoutMs
    for (;;) {
      const { status, output } = await this.snapshot()
      if (status === 'done') return output
      if (environment.clock.now() >= until)
        throw new RuntimeError('timeout', `${formatAddress(this.address)} has not ended within ${timeoutMs} ms`, { retryable: true })
      await directory.nextCommit(this.address, Math.min(1000, until - environment.clock.now()))
    }
  }
}
