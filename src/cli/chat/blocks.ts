/** What a chat through a pipe prints: the blocks of an answer as they come, and in the end whatever of it was lost on the way. */

import { cleanText } from '../../chat/index.ts'
import type { Payload } from '../../contracts/reply.ts'
import type { TurnOutput } from '../../contracts/turn.ts'
import type { RunEvent } from '../../runtime/index.ts'
import { printable } from '../output.ts'

export class Blocks {
  readonly #output: { write(text: string): unknown }
  #printed = ''

  constructor(output: { write(text: string): unknown }) {
    this.#output = output
  }

  hear(event: RunEvent): void {
    if (event.type === 'block' && event.kind !== 'tool') this.#print(textOf(event.payload))
  }

  /** Live blocks are a hint, the outcome is the truth. */
  finish({ reply, text, outcome }: Pick<TurnOutput, 'reply' | 'text' | 'outcome'>): void {
    if (outcome === 'silent') return
    const texts = reply === undefined ? [cleanText(text)] : [reply].flat().map(textOf)
    const missing = texts.filter((whole) => whole !== '' && !flat(this.#printed).includes(flat(whole)))
    // The beginning of an answer stands there already, and only its end is missing.
    for (const whole of missing)
      this.#print(whole.startsWith(this.#printed.trimEnd()) ? whole.slice(this.#printed.trimEnd().length).trimStart() : whole)
    if (this.#printed === '') this.#output.write('\n')
  }

  #print(text: string): void {
    if (text === '') return
    this.#output.write(`${this.#printed === '' ? '' : '\n'}${printable(text, 'lines')}\n`)
    this.#printed += `${text}\n\n`
  }
}

/** Where something lies is all that can be printed of it. */
const textOf = ({ text, media = [] }: Payload): string => [text ?? '', ...media].filter((part) => part !== '').join('\n')
const flat = (text: string): string => text.replace(/[\s`]+/g, ' ').trim()
