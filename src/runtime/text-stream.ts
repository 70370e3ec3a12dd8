/** The text of a run while it is made, for any number of readers: each reads it from its beginning, whenever it comes. */
import { answerText, type TextDelta } from './turn-text.ts'

export class TextStream implements AsyncIterable<string> {
  readonly #answer = answerText()
  /** All that there is to read: readers differ in how far they are. */
  readonly #pieces: string[] = []
  #ended: { error?: unknown } | undefined
  /** Resolves when there is more to read, where somebody waits for it. */
  #more: PromiseWithResolvers<void> | undefined

  take(delta: TextDelta): void {
    this.#tell(this.#answer.delta(delta))
  }

  /** @param texts the whole of the answer, or what all calls have said: deltas may be lost on their way, and then it is told again from its beginning */
  end(texts: readonly string[]): void {
    this.#tell(this.#answer.rest(texts))
    this.#close({})
  }

  /** @param texts what was said by then, where it was not heard */
  fail(error: unknown, texts: readonly string[] = []): void {
    this.#tell(this.#answer.rest(texts))
    this.#close({ error })
  }

  /** Not a generator: the `return()` of one waits for the piece that was asked for before it. */
  [Symbol.asyncIterator](): AsyncIterableIterator<string, void> {
    let at = 0
    let over = false
    const next = async (): Promise<IteratorResult<string, void>> => {
      while (!over) {
        if (at < this.#pieces.length) return { done: false, value: this.#pieces[at++] as string }
        if (this.#ended) {
          over = true
          if ('error' in this.#ended) throw this.#ended.error
        } else {
          this.#more ??= Promise.withResolvers<void>()
          await this.#more.promise
        }
      }
      return { done: true, value: undefined }
    }
    const iterator: AsyncIterableIterator<string, void> = {
      next,
      return: async () => {
        over = true
        this.#wake()
        return { done: true, value: undefined }
      },
      [Symbol.asyncIterator]: () => iterator,
    }
    return iterator
  }

  #tell(text: string): void {
    if (text === '') return
    this.#pieces.push(text)
    this.#wake()
  }

  #close(how: { error?: unknown }): void {
    this.#ended = how
    this.#wake()
  }

  #wake(): void {
    this.#more?.resolve()
    this.#more = undefined
  }
}
