/** Puts the deltas of one model call together. They are hints: some may come late, twice, or not at all. */
import type { AnyEvent } from '../../contracts/journal.ts'

/** @property anew the call was begun again, by a host that took over: what was heard before does not count */
type Heard = { kind: 'text' | 'reasoning'; text: string; attempt: number; anew: boolean }

export class DeltaReader {
  /** Attempts below are over. */
  readonly #from: number
  #attempt: number | undefined
  #next = 0
  #text = ''
  /** No delta is missing so far. */
  whole = true

  constructor(from: number) {
    this.#from = from
  }

  /** @returns undefined for a delta that does not come next */
  take({ attempt, index, kind, text, count: given = 1 }: AnyEvent): Heard | undefined {
    const count: unknown = given
    if (typeof attempt !== 'number' || typeof index !== 'number' || typeof count !== 'number' || typeof text !== 'string') return undefined
    if (attempt < (this.#attempt ?? this.#from)) return undefined
    const anew = this.#attempt !== undefined && attempt > this.#attempt
    if (attempt !== this.#attempt) {
      this.#attempt = attempt
      this.#next = 0
      this.#text = ''
      this.whole = true
    }
    if (index > this.#next) this.whole = false
    if (index !== this.#next || !this.whole) return undefined
    this.#next = index + count
    if (kind !== 'reasoning') this.#text += text
    return { kind: kind === 'reasoning' ? 'reasoning' : 'text', text, attempt, anew }
  }

  /** @returns how a finished text goes on behind what was heard of it; undefined if that is not its beginning */
  missing(text: string): string | undefined {
    return text.startsWith(this.#text) ? text.slice(this.#text.length) : undefined
  }
}
