/** What the model says in one turn, all its steps: streamed where somebody watches, whole in the end, whatever was lost on the way. */

import { deltaOrder } from '../api/index.ts'
import { visibleText } from '../chat/index.ts'
import type { TurnOutput } from '../contracts/turn.ts'
import type { RunEvent } from '../runtime/index.ts'
import { printable } from './output.ts'

type Output = { isTTY?: boolean; write(text: string): unknown }
type Delta = Extract<RunEvent, { type: 'delta' }>
/** What was heard of one model call, as far as nothing is missing. */
type Step = { text: string; seen: ReturnType<typeof visibleText> }

const paragraph = '\n\n'
/** Without what the model thought aloud in tags. */
const visible = (text: string): string => {
  const seen = visibleText()
  return seen.push(text) + seen.end()
}

/** A terminal gets each word as it comes; a pipe gets the whole answer at once, or nothing. */
export class Words {
  readonly #output: Output
  readonly #live: boolean
  readonly #order = deltaOrder()
  readonly #steps: Step[] = []
  #written = ''

  constructor(output: Output) {
    this.#output = output
    this.#live = output.isTTY === true
  }

  hear(event: RunEvent): void {
    if (event.type === 'delta') this.#take(event)
    // What other things are said about is a line of its own; it ends the paragraph.
    else if (event.type === 'tool' || event.type === 'approval' || event.type === 'retry') this.breakLine()
  }

  /** Whatever is written next, here or on stderr, begins a line. */
  breakLine(): void {
    if (this.#live && this.#written !== '' && !this.#written.endsWith('\n')) this.#write('\n')
  }

  /** The turn is complete. @param texts of all its steps, if they are known: live ones are a hint, these are the truth */
  finish({ text: last }: Pick<TurnOutput, 'text'>, all?: readonly string[]): void {
    const text = visible(last)
    const texts = all?.map(visible)
    this.#endStep()
    if (!this.#live) this.#write(`${printable((texts ?? this.#heard(text)).join(paragraph), 'lines')}\n`)
    else {
      this.#complete(texts ?? [text])
      if (this.#written === '') this.#write('\n')
      this.breakLine()
    }
  }

  #take(delta: Delta): void {
    const { begins, follows } = this.#order.take(delta)
    if (begins) {
      this.#endStep()
      this.#steps.push({ text: '', seen: visibleText() })
    }
    const step = this.#steps.at(-1)
    if (step !== undefined && follows && delta.kind === 'text') this.#add(step, step.seen.push(delta.text))
  }

  /** What may have become a tag and did not. */
  #endStep(): void {
    const step = this.#steps.at(-1)
    if (step) this.#add(step, step.seen.end())
  }

  #add(step: Step, text: string): void {
    if (text === '') return
    if (this.#live) this.#append(text, step.text === '')
    step.text += text
  }

  #append(text: string, begins: boolean): void {
    const blank = !begins || this.#written === '' ? '' : this.#written.endsWith('\n') ? '\n' : paragraph
    this.#write(blank + printable(text, 'lines'))
  }

  /** Says what was not streamed, from the first step on that is not whole. */
  #complete(texts: readonly string[]): void {
    let at = 0
    const missing = texts.findIndex((text) => {
      const found = this.#steps.findIndex((step, index) => index >= at && step.text === text)
      at = found + 1
      return text !== '' && found === -1
    })
    if (missing === -1) return
    const [first = '', ...more] = texts.slice(missing)
    const begun = this.#steps.at(-1)?.text ?? ''
    if (more.length === 0 && begun !== '' && first.startsWith(begun)) this.#append(first.slice(begun.length), false)
    else for (const text of [first, ...more]) this.#append(text, true)
  }

  #heard(last: string): string[] {
    const texts = this.#steps.map(({ text }) => text).filter((text) => text !== '')
    const begun = texts.at(-1)
    return begun !== undefined && last.startsWith(begun) ? [...texts.slice(0, -1), last] : [...texts, last]
  }

  #write(text: string): void {
    this.#written = text === '' ? this.#written : text
    this.#output.write(text)
  }
}
