/** Leaves out of an answer what of it was sent before: by an attempt of the model that broke off, or by a process that crashed. */
import type { SentBlock } from './dispatcher.context.ts'

/**
 * Block by block, as long as the new text goes on as the old one did; from the first block on that differs, all is new. White space says nothing.
 * @param again told which block was found once more
 */
export class ResumeText {
  readonly #again: (said: SentBlock) => void
  #expected: SentBlock[] = []
  /** Text that so far is the beginning of the block that is expected, or the white space behind one. */
  #held = ''
  #agreed = noneYet
  /** A block was found once more, and nothing that is new has come behind it. */
  #joint = false

  constructor(again: (said: SentBlock) => void) {
    this.#again = again
  }

  /** The text begins anew. @param said blocks that went out, before those still expected */
  expect(said: SentBlock[]): void {
    this.#expected = [...said, ...this.#expected]
    this.#held = ''
    this.#agreed = noneYet
    this.#joint = false
  }

  /** @returns what is new of the next piece of text */
  push(text: string): string {
    this.#held += text
    for (let next = this.#expected[0]; next !== undefined; next = this.#expected[0]) {
      const found = compare(this.#held, next.text, this.#agreed)
      if (typeof found === 'object') {
        this.#agreed = found
        return ''
      }
      this.#agreed = noneYet
      if (found === 'none') this.#expected = []
      else {
        this.#expected.shift()
        this.#again(next)
        this.#held = this.#held.slice(found)
        this.#joint = true
      }
    }
    if (this.#joint && this.#held.trim() === '') {
      this.#held = breakSoFar(this.#held)
      return ''
    }
    const unsaid = this.#joint ? this.#held.replace(whereBlocksMeet, '') : this.#held
    this.#joint = false
    this.#held = ''
    return unsaid
  }

  /** The message is over. @returns what was held back and is new after all */
  end(): string {
    const unsaid = this.#joint ? this.#held.trimStart() : this.#held
    this.#agreed = noneYet
    this.#joint = false
    this.#held = ''
    return unsaid
  }
}

/** What a break between two blocks takes away: whole line ends, so that what is indented stays so, or else the spaces between two words. */
const whereBlocksMeet = /^(?:[^\S\n]*\n)+|^[^\S\n]+/
/** The same before there is anything behind it: of many line ends one says as much. */
const breakSoFar = (space: string): string => (space.includes('\n') ? space.slice(space.lastIndexOf('\n')) : space)
const isSpace = (text: string, at: number): boolean => text.charAt(at).trim() === ''

/** How far a text has been found to begin with another one: place in both. */
type Agreed = { at: number; said: number }
const noneYet: Agreed = { at: 0, said: 0 }

/** Goes on comparing where it had stopped. @returns where the text is over that was expected, `none` where they differ, or how far they agree */
const compare = (text: string, expected: string, { at, said }: Agreed): number | 'none' | Agreed => {
  for (; said < expected.length; said++) {
    if (isSpace(expected, said)) continue
    while (at < text.length && isSpace(text, at)) at++
    if (at >= text.length) return { at, said }
    if (text[at] !== expected[said]) return 'none'
    at++
  }
  return at
}
