/** Looks through the journal, again and again, for roots that sleep and are due. */
import type { Environment } from '../contracts/environment.ts'
import { errorBody } from '../contracts/errors.ts'
import type { Address } from '../contracts/subjects.ts'
import type { Journal } from '../contracts/transport.ts'

const pollMs = 1000
const wakeBatch = 1000

/** What the host has to say to it; `now` is ms since the epoch. */
export type Sleepers = {
  /** Those awake or resting may be due as well. */
  may(address: Address, now: number): boolean
  wake(address: Address, now: number): Promise<void>
  /** Done in every round. */
  after(now: number): Promise<void>
}

export class Waking {
  readonly #journal: Journal
  readonly #environment: Pick<Environment, 'clock' | 'log'>
  readonly #sleepers: Sleepers
  #timer: unknown
  #stopped = false

  constructor(journal: Journal, environment: Pick<Environment, 'clock' | 'log'>, sleepers: Sleepers) {
    this.#journal = journal
    this.#environment = environment
    this.#sleepers = sleepers
  }

  /** Resolves when the first round is open. */
  async start(): Promise<void> {
    await this.round()
    this.#soon()
  }

  #soon(): void {
    if (this.#stopped) return
    this.#timer = this.#environment.clock.setTimeout(() => {
      // One root that is slow to open must not keep the others asleep: the next round does not wait for this one.
      void this.round()
      this.#soon()
    }, pollMs)
  }

  async round(): Promise<void> {
    if (this.#stopped) return
    const now = this.#environment.clock.now()
    try {
      // Before the next round, so that a timer is armed in time.
      const due = await this.#journal.due(now + pollMs, wakeBatch, (address) => this.#sleepers.may(address, now))
      await Promise.all([...due.map(({ address }) => this.#sleepers.wake(address, now)), this.#sleepers.after(now)])
    } catch (error) {
      if (!this.#stopped) this.#environment.log.error({ error: errorBody(error) }, 'the journal could not be looked through for work')
    }
  }

  stop(): void {
    this.#stopped = true
    this.#environment.clock.clearTimeout(this.#timer)
  }
}
