/** How sessions and answers of this door are named. */
import { createHash, randomBytes } from 'node:crypto'
import { type Access, ownKeys } from '../../contracts/access.ts'
import { RuntimeError } from '../../contracts/errors.ts'

const standsAlone = 'v1:'
const headerPattern = /^[!-~](?:[ -~]{0,1022}[!-~])?$/

/** A token that is bound to sessions has those that are begun with it. */
const beginOf = (access: Access | undefined): string => (access?.sessions === undefined ? standsAlone : ownKeys(access))

/** The conversation of a request that names none: nobody can guess it. */
export const newKey = (access?: Access): string => `${beginOf(access)}${randomBytes(24).toString('base64url')}`
export const newId = (): string => `v1-${randomBytes(18).toString('base64url')}`

/** The same for each repetition of a request, and another one for any other that has the same idempotency key. */
export const keyFor = (facts: string[], access?: Access): string => `${beginOf(access)}${digest(facts)}`

/** Whether a session was made for a request, so that nobody else watches it. */
export const isMadeHere = (key: string): boolean => key.startsWith(standsAlone)

/** A name for a part of the answer to a message, the same whenever it is asked for. */
export const nameOf = (prefix: string, ...facts: string[]): string => `${prefix}${digest(facts)}`

/** The id of a tool call for its client: short enough for providers that it may be told to. */
export const callIdOf = (callId: string): string => nameOf('call_', callId).slice(0, 37)

const digest = (facts: string[]): string => createHash('sha256').update(JSON.stringify(facts)).digest('base64url')

/** Names the message that it answers: whoever continues a response finds it again, on any node and after any restart. */
export const responseIdOf = (key: string, id: string): string => `resp_${Buffer.from(JSON.stringify([key, id])).toString('base64url')}`

/** @throws RuntimeError not_found for what {@link responseIdOf} has not made */
export const parseResponseId = (text: string): { key: string; id: string } => {
  try {
    const [, encoded = ''] = /^resp_([\w-]{1,4000})$/.exec(text) ?? []
    const facts: unknown = JSON.parse(Buffer.from(encoded, 'base64url').toString())
    if (Array.isArray(facts)) {
      const [key, id] = facts as unknown[]
      if (typeof key === 'string' && typeof id === 'string' && responseIdOf(key, id) === text && headerPattern.test(key)) return { key, id }
    }
  } catch {
    // Somebody else's, or cut off.
  }
  throw noResponse(text)
}

/** The id of an item. It holds the id of the response, so that an `item_reference` names both. @param place among the items */
export const itemIdOf = (prefix: 'msg_' | 'rs_' | 'fc_', responseId: string, place: number): string =>
  `${prefix}${responseId.slice('resp_'.length)}-${place}`

/** @returns the id of the response; undefined for an id that {@link itemIdOf} did not make */
export const responseOfItem = (id: string): string | undefined => {
  const [, encoded] = /^(?:msg|rs|fc)_([\w-]{1,4000})-\d{1,6}$/.exec(id) ?? []
  return encoded === undefined ? undefined : `resp_${encoded}`
}

export const noResponse = (text: string): RuntimeError =>
  new RuntimeError('not_found', `there is no response '${text.slice(0, 80)}'`, {
    field: 'previous_response_id',
    hint: 'give the `id` of a response that was stored: those of store: false are deleted with their answer',
    data: { openai: 'previous_response_not_found' },
  })

/** The key of a conversation in a header. @throws RuntimeError bad_request */
export const sessionHeader = 'x-statecast-session'
export const checkedKey = (given: string | undefined): string | undefined => {
  if (given === undefined || headerPattern.test(given)) return given
  throw new RuntimeError('bad_request', `the header '${sessionHeader}' names no session`, {
    field: sessionHeader,
    hint: 'give a key of 1 to 1,024 characters that a header can carry: printable ASCII',
  })
}

/** @throws RuntimeError bad_request */
export const checkedIdempotencyKey = (given: string | undefined): string | undefined => {
  if (given === undefined || (given.length <= 200 && headerPattern.test(given))) return given
  throw new RuntimeError('bad_request', "the header 'Idempotency-Key' is none", {
    field: 'Idempotency-Key',
    hint: 'give 1 to 200 characters of printable ASCII, another one for each request',
  })
}
