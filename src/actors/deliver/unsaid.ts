/** Leaves out of an answer what of it was sent before: by an attempt of the model that broke off, or by a process that crashed. */

/** A block that was sent, by its key. */
export type Said = { key: string; text: string }

/**
 * Block by block, as long as the new text goes on as the old one did; from the first block on that differs, all is new. White space says nothing.
 * @param again told which block was found once more
 */
export class Unsaid {
  readonly #again: (said: Said) => void
  #expected: Said[] = []
  /** Text that so far is the beginning of the block that is expected, or the white space behind one. */
  #held = ''
  /** A block was found once more, and nothing that is new has come behind it. */
  #joint = false

  constructor(again: (said: Said) => void) {
    this.#again = again
  }

  /** The text begins anew. @param said blocks that went out, before those still expected */
  expect(said: Said[]): void {
    this.#expected = [...said, ...this.#expected]
    this.#held = ''
    this.#joint = false
  }

  /** @returns what is new of the next piece of text */
  push(text: string): string {
    this.#held += text
    for (let next = this.#expected[0]; next !== undefined; next = this.#expected[0]) {
      const end = agreement(this.#held, next.text)
      if (end === 'open') return ''
      if (end === 'none') this.#expected = []
      else {
        this.#expected.shift()
        this.#again(next)
        this.#held = this.#held.slice(end)
        this.#joint = true
      }
    }
    if (this.#joint && this.#held.trim() === '') return ''
    const unsaid = this.#joint ? this.#held.replace(whereBlocksMeet, '') : this.#held
    this.#joint = false
    this.#held = ''
    return unsaid
  }

  /** The message is over. @returns what was held back and is new after all */
  end(): string {
    const unsaid = this.#joint ? this.#held.trimStart() : this.#held
    this.#joint = false
    this.#held = ''
    return unsaid
  }
}

/** What a break between two blocks takes away: whole line ends, so that what is indented stays so, or else the spaces between two words. */
const whereBlocksMeet = /^(?:[^\S\n]*\n)+|^[^\S\n]+/

/** Where in a text another one is over with which it begins; `open` if it is too short to tell. */
const agreement = (text: string, other: string): number | 'open' | 'none' => {
  let at = 0
  for (const mark of other) {
    if (mark.trim() === '') continue
    while (at < text.length && /\s/.test(text.charAt(at))) at++
    if (at >= text.length) return 'open'
    if (!text.startsWith(mark, at)) return 'none'
    at += mark.length
  }
  return at
}
