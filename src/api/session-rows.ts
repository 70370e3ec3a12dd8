/** What has been read for lists of sessions, kept until a session has changed: pages ask often, and most of it is as it was. */
import type { Head, Journal } from '../contracts/transport.ts'

/** Rows that are kept; the one that was asked for longest ago goes first. */
const rowsMax = 2_000
/** Journals that are read at the same time, whoever asks. */
const readingMax = 8

type Kept<Row> = { version: string; row: Promise<Row> }

export class SessionRows<Row> {
  readonly #rows = new Map<string, Kept<Row>>()
  readonly #waiting: (() => void)[] = []
  readonly #rowsMax: number
  #reading = 0

  constructor(most = rowsMax) {
    this.#rowsMax = most
  }

  /** Who asks while a row is read waits for that reading. @param read not asked for as long as the session has not changed; what it throws is not kept */
  row(head: Head, read: () => Promise<Row>): Promise<Row> {
    const { id } = head.address
    const version = versionOf(head)
    const known = this.#rows.get(id)
    this.#rows.delete(id)
    const kept = known?.version === version ? known : { version, row: this.#inTurn(read) }
    this.#rows.set(id, kept)
    if (kept !== known)
      kept.row.catch(() => {
        if (this.#rows.get(id) === kept) this.#rows.delete(id)
      })
    const [oldest] = this.#rows.keys()
    if (this.#rows.size > this.#rowsMax && oldest !== undefined) this.#rows.delete(oldest)
    return kept.row
  }

  async #inTurn(read: () => Promise<Row>): Promise<Row> {
    if (this.#reading >= readingMax) await new Promise<void>((resolve) => this.#waiting.push(resolve))
    else this.#reading++
    try {
      return await read()
    } finally {
      // Who waits longest takes over the place.
      const next = this.#waiting.shift()
      if (next) next()
      else this.#reading--
    }
  }
}

/** A session that was deleted and began anew has the same numbers at another time. */
const versionOf = ({ seq, at, wakeAt }: Head): string => `${seq} ${at} ${wakeAt}`

const byJournal = new WeakMap<Journal, SessionRows<unknown>>()

/** One for all who ask of this journal. */
export const rowsOf = <Row>(journal: Journal): SessionRows<Row> => {
  const known = byJournal.get(journal) ?? new SessionRows<unknown>()
  byJournal.set(journal, known)
  return known as SessionRows<Row>
}
