/** The text of an answer for a caller who only ever appends: in the end it has read the whole answer, whatever was lost on the way. */

import { deltaOrder, type NumberedDelta } from './delta-order.ts'

type TextDelta = NumberedDelta & { kind: 'text' | 'reasoning'; text: string }

export const answerText = () => {
  const order = deltaOrder()
  /** Of this attempt, without a gap. */
  let said = ''
  let saidBefore = false

  const append = (text: string): string => {
    if (text === '') return ''
    const paragraph = said === '' && saidBefore ? '\n\n' : ''
    said += text
    saidBefore = true
    return paragraph + text
  }

  return {
    /** @returns what is to be appended now: nothing after a gap, and nothing twice */
    delta(delta: TextDelta): string {
      const { begins, follows } = order.take(delta)
      if (begins) said = ''
      return follows && delta.kind === 'text' ? append(delta.text) : ''
    },
    /** @param text the whole answer @returns what is still to be appended */
    rest(text: string): string {
      if (text.startsWith(said)) return append(text.slice(said.length))
      said = ''
      return append(text)
    },
  }
}
