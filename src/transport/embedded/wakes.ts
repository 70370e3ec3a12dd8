/**
 * Who wants to be woken, and when. It is kept in memory, since this process has the store to itself: an index in the file would be one more page of
 * each commit. It may say too much and never too little; the row of a root decides.
 */
import type { Environment } from '../../contracts/environment.ts'
import { isRuntimeError, type RuntimeError } from '../../contracts/errors.ts'
import { isDamage } from '../../contracts/lost-end.ts'
import type { Address } from '../../contracts/subjects.ts'
import type { Head } from '../../contracts/transport.ts'
import { addressKey, compareAddresses } from '../address.ts'

type Entry = { address: Address; wakeAt: number }

export class Wakes {
  readonly #entries = new Map<string, Entry>()
  readonly #log: Environment['log']

  /** @param heads of all roots, or what is wrong with one */
  constructor(heads: Iterable<Head | RuntimeError>, log: Environment['log']) {
    this.#log = log
    for (const head of heads)
      if (isRuntimeError(head)) this.#tell(head)
      else this.reached(head.address, head.wakeAt)
  }

  /** Before it is written: from the moment that it stands in the file, it must be found. */
  wanted(address: Address, wakeAt: number | null): void {
    const known = this.#entries.get(addressKey(address))
    if (wakeAt !== null && (known === undefined || wakeAt < known.wakeAt)) this.reached(address, wakeAt)
  }

  /** When it is written. */
  reached(address: Address, wakeAt: number | null): void {
    if (wakeAt === null) this.#entries.delete(addressKey(address))
    else this.#entries.set(addressKey(address), { address, wakeAt })
  }

  /** @param headOf what the file says @returns those that want to be woken by then, earliest first */
  due(until: number, limit: number, wanted: (address: Address) => boolean, headOf: (address: Address) => Head | undefined): Head[] {
    const due: (Head & Entry)[] = []
    for (const { address } of [...this.#entries.values()].filter(({ wakeAt }) => wakeAt <= until).sort(byTime)) {
      if (due.length >= limit) break
      if (!wanted(address)) continue
      const head = this.#headOf(address, headOf)
      if (head !== undefined && head.wakeAt !== null && head.wakeAt <= until) due.push({ ...head, wakeAt: head.wakeAt })
    }
    return due.sort(byTime)
  }

  /** One that is damaged must not keep the others asleep. */
  #headOf(address: Address, headOf: (address: Address) => Head | undefined): Head | undefined {
    try {
      return headOf(address)
    } catch (error) {
      if (!isDamage(error)) throw error
      this.#entries.delete(addressKey(address))
      this.#tell(error)
      return undefined
    }
  }

  #tell(damage: RuntimeError): void {
    this.#log.error({ error: damage.toJSON() }, 'an actor is damaged and will not be woken')
  }
}

const byTime = (left: Entry, right: Entry): number => left.wakeAt - right.wakeAt || compareAddresses(left.address, right.address)
