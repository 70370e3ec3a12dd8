/** What the model says in one turn, all its calls: streamed where somebody watches, whole in the end, whatever was lost on the way. */

import { visibleText } from '../chat/index.ts'
import type { TurnOutput } from '../contracts/turn.ts'
import { type RunEvent, TurnText } from '../runtime/index.ts'
import { printable } from './output.ts'

type Output = { isTTY?: boolean; write(text: string): unknown }

const paragraph = '\n\n'
/** Without what the model thought aloud in tags. */
export const visible = (text: string): string => {
  const seen = visibleText()
  return seen.push(text) + seen.end()
}

/** A terminal gets each word as it comes; a pipe gets the whole answer at once, or nothing. */
export class Words {
  readonly #output: Output
  readonly #live: boolean
  readonly #heard = new TurnText({ filter: visibleText, asTold: visible })
  /** What is written next begins a paragraph. */
  #begins = false
  /** What was written last. */
  #written = ''

  constructor(output: Output) {
    this.#output = output
    this.#live = output.isTTY === true
  }

  hear(event: RunEvent): void {
    if (event.type === 'delta') {
      const { rest, begins, text } = this.#heard.take(event)
      this.#append(rest)
      this.#begins ||= begins
      this.#append(text)
    }
    // What other things are said about is a line of its own; it ends the paragraph.
    else if (event.type === 'tool' || event.type === 'approval' || event.type === 'retry') this.breakLine()
  }

  /** Whatever is written next, here or on stderr, begins a line. */
  breakLine(): void {
    if (this.#live && this.#written !== '' && !this.#written.endsWith('\n')) this.#write('\n')
  }

  /** The turn is complete. @param all texts of all its calls, if they are known: live ones are a hint, these are the truth */
  finish({ text: last }: Pick<TurnOutput, 'text'>, all?: readonly string[]): void {
    const texts = all?.map(visible)
    this.#append(this.#heard.end())
    if (!this.#live) this.#write(`${printable((texts ?? this.#heardWith(visible(last))).join(paragraph), 'lines')}\n`)
    else {
      for (const { text, continues } of this.#heard.missing(texts ?? [visible(last)], { inOrder: true })) {
        this.#begins = !continues
        this.#append(text)
      }
      if (this.#written === '') this.#write('\n')
      this.breakLine()
    }
  }

  #append(text: string): void {
    if (!this.#live || text === '') return
    const blank = !this.#begins || this.#written === '' ? '' : this.#written.endsWith('\n') ? '\n' : paragraph
    this.#begins = false
    this.#write(blank + printable(text, 'lines'))
  }

  #heardWith(last: string): string[] {
    const texts = this.#heard.told.filter((text) => text !== '')
    const begun = texts.at(-1)
    return begun !== undefined && last.startsWith(begun) ? [...texts.slice(0, -1), last] : [...texts, last]
  }

  #write(text: string): void {
    this.#written = text
    this.#output.write(text)
  }
}
