/** What an adapter says: of a message that it has sent, and when it could not. */
import { type ErrorBody, errorBody } from '../../contracts/errors.ts'

const messageIdMax = 200

/** What an adapter answers may be anything; a name is a text or a number. */
export const messageNameOf = (given: unknown): string | undefined =>
  typeof given === 'string' || typeof given === 'number' ? String(given).slice(0, messageIdMax).toWellFormed() : undefined

/** The channel's own words, where it is no error of ours. */
export const saidBy = (error: unknown): Partial<ErrorBody> => {
  const body = errorBody(error)
  return body.code === 'internal' ? { message: body.message } : body
}
