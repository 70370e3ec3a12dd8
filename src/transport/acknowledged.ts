/** How long each journal has been, for a store that one process has to itself: a journal that is found shorter has lost its end. */
import type { RuntimeError } from '../contracts/errors.ts'
import { lostEndError } from '../contracts/lost-end.ts'
import type { Address } from '../contracts/subjects.ts'
import { addressKey } from './address.ts'
import { Known } from './known.ts'

export class Acknowledged {
  readonly #seqs = new Known<number>()
  /** Removals under way: until they end, no length is known. */
  readonly #removing = new Map<string, number>()

  reached(address: Address, seq: number): void {
    const key = addressKey(address)
    if (!this.#removing.has(key)) this.#seqs.set(key, Math.max(seq, this.#seqs.get(key) ?? 0))
  }

  /** @param found sequence of the last frame, 0 for none @returns why it cannot be all */
  loss(address: Address, found: number): RuntimeError | undefined {
    const known = this.#seqs.get(addressKey(address))
    return known !== undefined && found < known ? lostEndError(address, found, known) : undefined
  }

  /** @throws RuntimeError corrupt_at */
  require(address: Address, found: number): void {
    const loss = this.loss(address, found)
    if (loss !== undefined) throw loss
  }

  /** From the beginning of its removal on, a journal may be of any length. */
  async removing<T>(address: Address, remove: () => Promise<T>): Promise<T> {
    const key = addressKey(address)
    this.#removing.set(key, (this.#removing.get(key) ?? 0) + 1)
    this.#seqs.delete(key)
    try {
      return await remove()
    } finally {
      const left = (this.#removing.get(key) ?? 1) - 1
      if (left > 0) this.#removing.set(key, left)
      else this.#removing.delete(key)
    }
  }
}
