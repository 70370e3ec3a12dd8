/** Removals of roots from the journal, of each root one at a time. */
import { type Address, formatAddress } from '../../contracts/subjects.ts'
import type { Head, Journal } from '../../contracts/transport.ts'

export class Deletions {
  readonly #journal: Journal
  readonly #removed: (address: Address) => void
  readonly #underWay = new Map<string, Promise<void>>()

  /** @param removed called while everybody else still waits */
  constructor(journal: Journal, removed: (address: Address) => void) {
    this.#journal = journal
    this.#removed = removed
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

  async #remove(address: Address, seen: Head | undefined): Promise<boolean> {
    if (seen) {
      const head = await this.#journal.head(address)
      // The time as well: what was removed and began anew may have as many commits.
      if (head?.seq !== seen.seq || head.at !== seen.at) return false
    }
    await this.#journal.remove(address)
    this.#removed(address)
    return true
  }
}
