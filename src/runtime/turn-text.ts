/** What the model says in one turn, call by call, for a reader who only appends: live text is a hint, the outcome is the truth. What is missing in the end is told, and nothing twice. */

import { DeltaCursor, type DeltaPlace } from '../contracts/delta-cursor.ts'

export type TextDelta = DeltaPlace & { kind: string; text: string }

/** @property filter what is shown of the text of one call while it comes @property asTold what the outcome holds of it */
type Reader = { filter?: () => { push(text: string): string; end(): string }; asTold?: (text: string) => string }

const unfiltered = () => ({ push: (text: string) => text, end: () => '' })
/** The same wherever its spaces and line breaks were cut. */
const flat = (text: string): string => text.replace(/\s+/g, ' ').trim()

export class TurnText {
  readonly #filter: NonNullable<Reader['filter']>
  readonly #asTold: NonNullable<Reader['asTold']>
  #visible: ReturnType<NonNullable<Reader['filter']>>
  /** What the calls have said, as far as nothing is missing; the last one may be on its way. */
  readonly #calls: string[]
  readonly #cursor = new DeltaCursor()

  /** @param shown what was said before, where a turn is come upon that is running */
  constructor({ filter = unfiltered, asTold = (text) => text }: Reader = {}, shown: readonly string[] = []) {
    this.#filter = filter
    this.#asTold = asTold
    this.#visible = filter()
    this.#calls = [...shown]
  }

  /** What was heard of each call, as the outcome holds it. */
  get told(): string[] {
    return this.#calls.map((call) => this.#asTold(call))
  }

  /** @returns what of it is to be shown, `rest` of the call before; after a gap nothing is, until all of the call is known */
  take({ kind, text, ...place }: TextDelta): { rest: string; begins: boolean; text: string } {
    const { begins, follows } = this.#cursor.take(place)
    const rest = begins ? this.end() : ''
    if (begins) this.#calls.push('')
    if (!follows || kind !== 'text') return { rest, begins, text: '' }
    this.#calls.push((this.#calls.pop() ?? '') + text)
    return { rest, begins, text: this.#visible.push(text) }
  }

  /** @returns what was held back of the last call, which is over */
  end(): string {
    const rest = this.#visible.end()
    this.#visible = this.#filter()
    return rest
  }

  /**
   * @param texts what the outcome holds
   * @param inOrder the texts are those of all calls: from the first one that is missing, all are told again
   * @returns what was not shown; a text `continues` where its beginning was the last thing that was shown
   */
  missing(texts: readonly string[], { inOrder = false } = {}): { text: string; continues: boolean }[] {
    const left = this.told
    const isMissing = (text: string): boolean => {
      const at = left.findIndex((call) => flat(call) === flat(text))
      if (at !== -1) left.splice(inOrder ? 0 : at, inOrder ? at + 1 : 1)
      return text.trim() !== '' && at === -1
    }
    const first = inOrder ? texts.findIndex(isMissing) : 0
    const rest = inOrder ? (first === -1 ? [] : texts.slice(first)) : texts.filter(isMissing)
    // What is left of the calls was not all that they said.
    const begun = left.at(-1) ?? ''
    return rest.map((text) => {
      const continues = begun !== '' && text.startsWith(begun) && !(inOrder && rest.length > 1)
      return { text: continues ? text.slice(begun.length) : text, continues }
    })
  }
}

/** All of it as one text, each call a paragraph. */
export const answerText = () => {
  const heard = new TurnText()
  let said = false
  let begins = false
  const append = (text: string): string => {
    if (text === '') return ''
    const blank = begins && said ? '\n\n' : ''
    said = true
    begins = false
    return blank + text
  }
  return {
    /** @returns what is to be appended now: nothing after a gap, and nothing twice */
    delta(delta: TextDelta): string {
      const { begins: another, text } = heard.take(delta)
      begins ||= another
      return append(text)
    },
    /** @param texts the whole answer, or what all calls have said @returns what is still to be appended */
    rest(texts: readonly string[]): string {
      const missing = heard.missing(texts, { inOrder: true })
      begins = missing[0]?.continues === false
      return append(missing.map(({ text }) => text).join('\n\n'))
    },
  }
}
