/** What of a tool's answer goes over the wire to those who watch it: bounded text, the size of a file instead of its data. `chat.output` has all of it. */
import { withoutInlineData } from '../inline-data.rules.ts'

const textMax = 8000
const errorMax = 400

/** @returns the value itself where nothing is to be left out */
export const shownOutput = (output: unknown): unknown => {
  const light = withoutInlineData(output)
  const error = errorOf(light)
  if (error !== undefined) return { ...(light as object), error: { ...error, message: cut(error.message, errorMax) } }
  if (typeof light === 'string') return cut(light, textMax)
  const text = JSON.stringify(light) ?? ''
  return text.length <= textMax ? light : cut(text, textMax)
}

const cut = (text: string, charsMax: number): string => {
  if (text.length <= charsMax) return text
  const note = `… (${text.length} characters in all)`
  return `${text.slice(0, charsMax - note.length).toWellFormed()}${note}`
}

const errorOf = (output: unknown): { message: string } | undefined => {
  const { error } = (typeof output === 'object' && output !== null ? output : {}) as { error?: unknown }
  const { message } = (typeof error === 'object' && error !== null ? error : {}) as { message?: unknown }
  return typeof message === 'string' ? (error as { message: string }) : undefined
}
