/** Roots that are asleep, as a host sees them: which of them it may wake, and what becomes of those that it cannot. */
import { errorBody, isRuntimeError, RuntimeError } from '../../contracts/errors.ts'
import { type Address, formatAddress } from '../../contracts/subjects.ts'
import type { Root } from '../root/root.ts'
import type { HostOptions } from './host.options.ts'
import type { WakeBackoff } from './wake-backoff.ts'
import type { Sleepers } from './waking.ts'

type SleepingParts = Pick<HostOptions, 'journal' | 'environment' | 'placement'> & {
  resting: WakeBackoff
  live: ReadonlyMap<string, Root>
  /** Whether it is one that this host can run. */
  mine(address: Address): boolean
  get(address: Address): Promise<Root>
  dismiss(root: Root): Promise<void>
  closing(): boolean
}

export class Sleeping implements Sleepers {
  readonly #parts: SleepingParts

  constructor(parts: SleepingParts) {
    this.#parts = parts
  }

  /** One in memory that has no commit yet may have missed that its journal was begun by somebody else: with a fork, say. */
  may(address: Address, now: number): boolean {
    const { live, mine, resting } = this.#parts
    const name = formatAddress(address)
    return mine(address) && !live.get(name)?.seq && !resting.has(name, now)
  }

  async wake(address: Address, now: number): Promise<void> {
    const { placement, resting, environment, get, dismiss, closing } = this.#parts
    try {
      const root = await get(address)
      if (root.seq > 0 || (await seqOf(root)) > 0) return
      await dismiss(root)
      await get(address)
    } catch (error) {
      if (closing()) return
      const name = formatAddress(address)
      if (placement && isRuntimeError(error) && error.code === 'fenced') return resting.briefly(name, now)
      resting.after(name, error, now)
      environment.log.error({ actor: name, error: errorBody(error) }, 'an actor with unfinished work could not be woken')
    }
  }

  rested(now: number): number {
    return this.#parts.resting.nextEnd(now)
  }

  /** What is awake has timers of its own. */
  watch(wanted: (address: Address, wakeAt: number) => void): () => void {
    const { journal, live, get } = this.#parts
    return journal.watchWakes((address, wakeAt) => {
      const root = live.get(formatAddress(address))
      if (root === undefined) return wanted(address, wakeAt)
      // It hears of its own first commit too, while that is being written; where a fork was faster, that fails, and it is looked for anyway.
      if (root.seq > 0 || (root.begun && root.working)) return
      const told = (seq: number): void => void (seq === 0 && wanted(address, wakeAt))
      get(address)
        .then(seqOf)
        .then(told, () => undefined)
    })
  }

  /** Whoever wrote has it. Where nodes share the actors it may be ours again, by a lease that is given back or a writer that dies. */
  fenced(name: string, reason: RuntimeError): void {
    const { placement, resting, environment } = this.#parts
    if (placement === undefined) resting.forGood(name)
    else resting.after(name, new RuntimeError(reason.code, reason.message, { retryable: true }), environment.clock.now())
  }
}

/** How far it has come, at a moment when all of it is durable. @throws RuntimeError closed … */
const seqOf = (root: Root): Promise<number> => root.look(({ seq }) => seq)
