/** Events on their way to a reader who may be slower: bounded, so that a reader who never comes costs little. */
import { RuntimeError } from '../contracts/errors.ts'
import { joinedDeltas } from './coalesce.ts'

/** What may wait for a reader: items, and characters in all their texts. */
const itemsMax = 10_000
const charsMax = 32 * 1024 * 1024
/** Items that wait when a reader counts as slow: from then on deltas that follow each other become one. */
const slowAt = 1_000
/** Parts of one item that are counted: what has more is not made of text. */
const partsMax = 10_000

/** Characters in the texts of something, whatever it is. */
const charsIn = (item: unknown): number => {
  let chars = 0
  const parts: unknown[] = [item]
  for (let count = 0; parts.length > 0 && count < partsMax; count++) {
    const part = parts.pop()
    if (typeof part === 'string') chars += part.length
    else if (ArrayBuffer.isView(part)) chars += part.byteLength
    else if (typeof part === 'object' && part !== null) parts.push(...Object.values(part).slice(0, partsMax))
  }
  return chars
}

export class EventQueue<T> implements AsyncIterable<T> {
  #waiting: T[] = []
  /** What is being read, and how far: taking from the front of a long list would cost as much as the list is long. */
  #batch: T[] = []
  #at = 0
  /** Who waits for the next item. */
  readonly #readers: ((result: IteratorResult<T>) => void)[] = []
  #ended = false
  readonly #max: number
  #dropped = 0
  /** Characters of what waits, and of the batch: none of it is free before the last of it has been read. */
  #waitingChars = 0
  #batchChars = 0

  constructor(max = itemsMax) {
    this.#max = max
  }

  /** How many were not kept because nobody read them. */
  get dropped(): number {
    return this.#dropped
  }

  /** @param known characters in its texts, where somebody has counted them */
  push(item: T, known?: number): void {
    if (this.#ended) return
    // Who waits has read everything before it.
    const reader = this.#readers.shift()
    if (reader) {
      reader({ done: false, value: item })
      return
    }
    const chars = known ?? charsIn(item)
    const room = this.#waitingChars + this.#batchChars + chars <= charsMax || this.#waiting.length + this.#batch.length === 0
    const together = this.#dropped === 0 && room && this.#waiting.length >= slowAt ? joinedDeltas(this.#waiting.at(-1), item) : undefined
    if (together) this.#waiting[this.#waiting.length - 1] = together as T
    // Nothing after a gap: who reads on would take it for the whole.
    else if (this.#dropped > 0 || !room || this.#waiting.length + this.#batch.length - this.#at >= this.#max) this.#dropped++
    else this.#waiting.push(item)
    if (this.#dropped === 0) this.#waitingChars += chars
  }

  /** What waits can still be read. */
  end(): void {
    this.#ended = true
    for (const reader of this.#readers.splice(0)) reader({ done: true, value: undefined })
  }

  /** Nobody will read any more: what waits is dropped, and who reads all the same is at the end. */
  cancel(): void {
    this.#waiting = []
    this.#batch = []
    this.#at = 0
    this.#dropped = 0
    this.#waitingChars = 0
    this.#batchChars = 0
    this.end()
  }

  /** What waits for a reader, in order; it goes on waiting. */
  unread(): T[] {
    return [...this.#batch.slice(this.#at), ...this.#waiting]
  }

  /** @throws RuntimeError overloaded, at the place where events are missing that came faster than they were read */
  [Symbol.asyncIterator](): AsyncIterableIterator<T> {
    const next = (): Promise<IteratorResult<T>> => {
      if (this.#at === this.#batch.length) this.#takeNext()
      if (this.#at < this.#batch.length) return Promise.resolve({ done: false, value: this.#batch[this.#at++] as T })
      if (this.#dropped > 0) return Promise.reject(this.#gap())
      if (this.#ended) return Promise.resolve({ done: true, value: undefined })
      return new Promise((resolve) => void this.#readers.push(resolve))
    }
    const iterator: AsyncIterableIterator<T> = { next, [Symbol.asyncIterator]: () => iterator }
    return iterator
  }
  /** What waits is read next; also where that is nothing: what has been read takes no more room. */
  #takeNext(): void {
    this.#batch = this.#waiting
    this.#waiting = []
    this.#at = 0
    this.#batchChars = this.#waitingChars
    this.#waitingChars = 0
  }

  #gap(): RuntimeError {
    return new RuntimeError('overloaded', `the reader was too slow: ${this.#dropped} events after the last one were not kept`, {
      hint: 'read the events as they come; the answer is in result(), and all that is durable in history() and the trace',
      data: { dropped: this.#dropped },
    })
  }
}
