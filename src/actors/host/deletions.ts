/** Removals of roots from the journal, of each root one at a time. */
import type { Logger } from '../../contracts/environment.ts'
import { isRuntimeError } from '../../contracts/errors.ts'
import { type Address, formatAddress } from '../../contracts/subjects.ts'
import type { Head, Journal } from '../../contracts/transport.ts'
import type { HostEvents } from './host.options.ts'

type DeletionParts = {
  journal: Journal
  log: Logger
  /** `removing` may be called again for the same root; `forgotten` while everybody else still waits. */
  events: Pick<HostEvents, 'removing' | 'forgotten'>
  /** It is gone, by its name. */
  ended(name: string): void
}

export class Deletions {
  readonly #parts: DeletionParts
  readonly #underWay = new Map<string, Promise<void>>()

  constructor(parts: DeletionParts) {
    this.#parts = parts
  }

  /** Resolves when the removal that is under way has ended, one way or the other. */
  underWay(name: string): Promise<void> | undefined {
    return this.#underWay.get(name)
  }

  /** @param seen remove it only if this is its head @returns whether it was removed */
  begin(address: Address, seen: Head | undefined): Promise<boolean> {
    const name = formatAddress(address)
    const removing = this.#remove(address, seen)
    const end = () => void this.#underWay.delete(name)
    this.#underWay.set(name, removing.then(end, end))
    return removing
  }

  /** Of a root whose journal says that it is to be removed. @param leave called after it: a root that could not be removed fails with the reason */
  async finish(address: Address, leave: () => void): Promise<void> {
    await this.begin(address, undefined)
    leave()
    this.#parts.log.info({ actor: formatAddress(address) }, 'a removal that had been cut off was finished')
  }

  async #remove(address: Address, seen: Head | undefined): Promise<boolean> {
    const { journal, events, ended } = this.#parts
    const removing = async () => events.removing?.(address)
    if (seen) {
      const head = await journal.head(address)
      // The time as well: what was removed and began anew may have as many commits.
      if (head?.seq !== seen.seq || head.at !== seen.at) return false
    }
    // A full store has no room for that note: removing the journal makes room first.
    const isFull = await removing().then(
      () => false,
      (error: unknown) => {
        if (isRuntimeError(error) && error.code === 'log_full') return true
        throw error
      },
    )
    await journal.remove(address)
    if (isFull) await removing()
    ended(formatAddress(address))
    events.forgotten?.(address)
    return true
  }
}
