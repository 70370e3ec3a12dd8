/** Whether what was said in a recording is an order to us: a command or a stop word, and nothing else. */
import { abortWord, parseDirectives } from '../directives/directives.rules.ts'

/** Who writes a recording down ends its sentences, and may write a slash as the word that was spoken. */
const asWritten = (text: string): string =>
  text
    .trim()
    .replace(/^slash\s+/i, '/')
    .replace(/(?<!\p{P})[.!?…]{1,3}$/u, '')

/** @param authorised of its sender: strangers give no orders @returns the order as it would be written */
export const spokenOrder = (text: string, authorised: boolean): string | undefined => {
  if (!authorised) return undefined
  const order = asWritten(text)
  return abortWord(order) || parseDirectives(order).only ? order : undefined
}
