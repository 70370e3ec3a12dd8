/** Limits of texts that callers send, in characters, and how they are cleaned. */
import { z } from 'zod'

export const textMax = 200_000
/** Characters of the name of a tool call: it holds the key of its session and the id of its run. */
export const callIdMax = 4000
export const noteMax = 2000

/** A text that was cut between two UTF-16 units has half a character at its end, which no journal can hold. */
export const isWhole = (text: string): boolean => text.isWellFormed()
export const wholeOnly = 'must be well-formed Unicode, without half a character (a lone surrogate)'

export const nulMessage = 'must not contain a NUL character'

/** Tab, line feed and carriage return are part of what people write. */
const unseen = /(?![\t\n\r])\p{Cc}/gu
/** Most texts, which need no cleaning. */
const ascii = /^[\t\n\r -~]*$/

/** Composed Unicode (NFC) without control characters, which no screen shows. */
export const cleaned = (text: string): string => (ascii.test(text) ? text : text.normalize('NFC').replace(unseen, ''))

/** The text of a message to a session, on every interface (CH-09): well-formed, without NUL, and {@link cleaned}. @param max characters */
export const messageText = (max: number) =>
  z
    .string()
    .max(max)
    .check((text) => {
      const { value } = text
      if (ascii.test(value)) return
      if (!isWhole(value)) text.issues.push({ code: 'custom', input: value, message: wholeOnly })
      if (value.includes('\0')) text.issues.push({ code: 'custom', input: value, message: nulMessage })
      text.value = cleaned(value)
    })
