/** What of a running turn was shown, so that in the end what is missing is told, and nothing twice. Live text is a hint, the outcome is the truth. */

import { deltaOrder } from '../api/index.ts'
import { cleanText, parseModelDirectives, visibleText } from '../chat/index.ts'
import type { RunEvent } from '../runtime/index.ts'

type Delta = Extract<RunEvent, { type: 'delta' }>

/** A text as its author is heard in the end: the same wherever its spaces and line breaks were cut. */
const flat = (text: string): string => text.replace(/\s+/g, ' ').trim()
/** What the outcome holds of a text that was streamed. */
const asTold = (text: string): string => parseModelDirectives(cleanText(text), {}).text.trim()

export class Heard {
  #order = deltaOrder()
  #visible = visibleText()
  /** One by one what the model calls have said, as they said it; the last one may be on its way. */
  #steps: string[] = []

  /** A turn begins, or was come upon: then with what it has said before. */
  begin(shown: readonly string[] = []): void {
    this.#order = deltaOrder()
    this.#visible = visibleText()
    this.#steps = [...shown]
  }

  /**
   * @returns what of it is to be shown, `rest` of the model call before; of a call whose beginning was not heard nothing is, until all of it is known
   */
  take(delta: Delta): { rest: string; begins: boolean; text: string } {
    const { begins, follows } = this.#order.take(delta)
    const rest = begins ? this.end() : ''
    if (begins) this.#steps.push('')
    if (!follows || delta.kind !== 'text') return { rest, begins, text: '' }
    this.#steps.push((this.#steps.pop() ?? '') + delta.text)
    return { rest, begins, text: this.#visible.push(delta.text) }
  }

  /** @returns what was held back of the last model call, which is over */
  end(): string {
    const rest = this.#visible.end()
    this.#visible = visibleText()
    return rest
  }

  /** @param texts what the turn has said, all of it @returns what of it was not shown */
  unsaid(texts: readonly string[]): string[] {
    const whole = new Set(this.#steps.map((step) => flat(asTold(step))))
    const last = asTold(this.#steps.at(-1) ?? '')
    return texts.flatMap((text) => {
      if (text.trim() === '' || whole.has(flat(text))) return []
      return last !== '' && text.startsWith(last) ? [text.slice(last.length).trim()] : [text]
    })
  }
}
