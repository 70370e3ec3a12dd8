/** The text of an answer for a caller who only ever appends: in the end it has read the whole answer, whatever was lost on the way. */

/** `count` of deltas that were put together. */
export type TextDelta = { attempt: number; index: number; count?: number; kind: 'text' | 'reasoning'; text: string }

export const answerText = () => {
  let attempt: number | undefined
  let next = 0
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
      if (delta.attempt !== attempt) {
        attempt = delta.attempt
        next = 0
        said = ''
      }
      if (delta.index !== next) return ''
      next += delta.count ?? 1
      return delta.kind === 'text' ? append(delta.text) : ''
    },
    /** @param text the whole answer @returns what is still to be appended */
    rest(text: string): string {
      if (text.startsWith(said)) return append(text.slice(said.length))
      said = ''
      return append(text)
    },
  }
}
