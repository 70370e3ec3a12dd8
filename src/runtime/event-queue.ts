/** Events on their way to a reader who may be slower: bounded, so that a reader who never comes costs little. */
import { RuntimeError } from '../contracts/errors.ts'

export class EventQueue<T> implements AsyncIterable<T> {
  #waiting: T[] = []
  /** What is being read, and how far: taking from the front of a long list would cost as much as the list is long. */
  #batch: T[] = []
  #at = 0
  #wake: (() => void) | undefined
  #ended = false
  readonly #max: number
  #dropped = 0

  constructor(max = 100_000) {
    this.#max = max
  }

  /** How many were not kept because nobody read them. */
  get dropped(): number {
    return this.#dropped
  }

  push(item: T): void {
    if (this.#ended) return
    // Nothing after a gap: who reads on would take it for the whole.
    if (this.#dropped > 0 || this.#waiting.length + this.#batch.length - this.#at >= this.#max) this.#dropped++
    else this.#waiting.push(item)
    this.#wake?.()
  }

  /** What waits can still be read. */
  end(): void {
    this.#ended = true
    this.#wake?.()
  }

  /** Nobody will read any more: what waits is dropped, and who reads all the same is at the end. */
  cancel(): void {
    this.#waiting = []
    this.#batch = []
    this.#at = 0
    this.#dropped = 0
    this.end()
  }

  /** @throws RuntimeError overloaded, at the place where events are missing that came faster than they were read */
  [Symbol.asyncIterator](): AsyncIterableIterator<T> {
    const next = async (): Promise<IteratorResult<T>> => {
      for (;;) {
        if (this.#at < this.#batch.length) return { done: false, value: this.#batch[this.#at++] as T }
        if (this.#waiting.length > 0) {
          this.#batch = this.#waiting
          this.#waiting = []
          this.#at = 0
        } else if (this.#dropped > 0) {
          throw new RuntimeError('overloaded', `the reader was too slow: ${this.#dropped} events after the last one were not kept`, {
            hint: 'read the events as they come; the answer is in result(), and all that is durable in history() and the trace',
            data: { dropped: this.#dropped },
          })
        } else if (this.#ended) return { done: true, value: undefined }
        else
          await new Promise<void>((resolve) => {
            this.#wake = () => {
              this.#wake = undefined
              resolve()
            }
          })
      }
    }
    const iterator: AsyncIterableIterator<T> = { next, [Symbol.asyncIterator]: () => iterator }
    return iterator
  }
}
