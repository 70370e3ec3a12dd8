/** What somebody has typed, as it is kept: composed Unicode without characters that no screen shows. */
import { RuntimeError } from '../contracts/errors.ts'

// Tab, line feed and carriage return are part of what people write.
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const unseen = /[\u0001-\u0008\u000b\u000c\u000e-\u001f\u007f]/g

/** @throws RuntimeError bad_request for a NUL, which no person types, and for a text of which nothing is left */
export const cleanMessage = (text: string): string => {
  if (text.includes('\0')) throw new RuntimeError('bad_request', 'the message has a NUL character', { field: 'message', hint: 'leave it out' })
  const clean = text.normalize('NFC').replace(unseen, '')
  if (clean.trim() === '') throw new RuntimeError('bad_request', 'the message is empty', { field: 'message', hint: 'say something' })
  return clean
}
