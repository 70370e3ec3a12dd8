/** Puts the deltas of one model call together. */
import { DeltaCursor } from '../../contracts/delta-cursor.ts'
import type { AnyEvent } from '../../contracts/journal.ts'

/** @property anew the call was begun again, by a host that took over: what was heard before does not count */
type Heard = { kind: 'text' | 'reasoning'; text: string; attempt: number; anew: boolean }

export class DeltaReader {
  readonly #cursor: DeltaCursor
  #begun = false
  #text = ''

  /** @param from attempts below are over */
  constructor(from: number) {
    this.#cursor = new DeltaCursor(from)
  }

  /** No delta is missing so far. */
  get whole(): boolean {
    return this.#cursor.whole
  }

  /** @returns undefined for a delta that does not come next */
  take({ attempt, index, kind, text, count: given = 1 }: AnyEvent): Heard | undefined {
    const count: unknown = given
    if (typeof attempt !== 'number' || typeof index !== 'number' || typeof count !== 'number' || typeof text !== 'string') return undefined
    const { begins, follows } = this.#cursor.take({ attempt, index, count })
    const anew = begins && this.#begun
    if (begins) {
      this.#begun = true
      this.#text = ''
    }
    if (!follows) return undefined
    if (kind !== 'reasoning') this.#text += text
    return { kind: kind === 'reasoning' ? 'reasoning' : 'text', text, attempt, anew }
  }

  /** @returns how a finished text goes on behind what was heard of it; undefined if that is not its beginning */
  missing(text: string): string | undefined {
    return text.startsWith(this.#text) ? text.slice(this.#text.length) : undefined
  }
}
