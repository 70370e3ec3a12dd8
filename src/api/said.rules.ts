/** What somebody has typed, as it is kept: composed Unicode without characters that no screen shows. */
import { RuntimeError } from '../contracts/errors.ts'
import { cleaned } from '../contracts/text.ts'

/** @param more something goes with it @throws RuntimeError bad_request for a NUL, which no person types, and for a text of which nothing is left */
export const cleanMessage = (text: string, more = false): string => {
  if (text.includes('\0')) throw new RuntimeError('bad_request', 'the message has a NUL character', { field: 'message', hint: 'leave it out' })
  const clean = cleaned(text)
  if (clean.trim() === '' && more) return ''
  if (clean.trim() === '') throw new RuntimeError('bad_request', 'the message is empty', { field: 'message', hint: 'say something' })
  return clean
}
