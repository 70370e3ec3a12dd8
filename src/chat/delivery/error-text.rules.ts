/** What a user reads when something failed: short, and nothing that a provider or a program wrote (OC-34, 55). */
import { type ErrorBody, type ErrorCode, errorCodes } from '../../contracts/errors.ts'
import { providerText, type ResetCause, refusedHistory } from '../../machines/turn/broken-history.rules.ts'

const errorCharsMax = 600

const resetTexts: Record<ResetCause, string> = {
  compaction_failure:
    'The conversation became too long, and summarising it failed. A new session has begun, so please try again. ' +
    'If this happens often, set a larger compaction reserve.',
  overflow:
    'The conversation is too long for the model. A new session has begun, so please try again. ' +
    'If this happens often, set a larger compaction reserve.',
  role_ordering: 'The model did not accept the order of the messages. The conversation was reset, so please try again.',
  corrupted_calls: 'The record of tool calls in this conversation was damaged. The conversation was reset, so please try again.',
}

/** What a user is told when the session began anew. */
export const resetText = (cause: ResetCause): string => resetTexts[cause]

const imageTooLarge = /image.{0,80}(?:too large|exceeds|maximum|too big)|(?:too large|exceeds).{0,40}image/is
const overload = /overloaded|at capacity|server is busy/i
const socketDrop = /socket hang up|econnreset|epipe|other side closed|connection (?:was )?(?:closed|reset|lost)|premature close|terminated/i

/** The text for an error, whatever is in it: one or two sentences without braces. */
export const errorText = (error: ErrorBody): string => {
  const fixed = fixedText(error)
  if (fixed !== undefined) return fixed
  const sentences = [errorCodes[error.code], ...(tellsItself(error.code) ? [error.message] : []), error.hint ?? ''].filter(isPlain)
  return safeText(sentences.map(asSentence).join(' '))
}

/** A text of unknown origin: what looks like data or markup is replaced, what is too long is cut. */
export const safeText = (text: string): string => {
  const line = text.replace(/\s+/g, ' ').trim()
  if (!isPlain(line)) return unknown
  return line.length <= errorCharsMax ? line : `${line.slice(0, errorCharsMax - 1).replace(/[\ud800-\udbff]$/, '')}…`
}

const unknown = 'Something went wrong while answering. Please try again.'

const fixedText = (error: ErrorBody): string | undefined => {
  const { code } = error
  const words = providerText(error)
  if (code === 'provider_rejected') {
    const refused = refusedHistory(error)
    if (refused === 'corrupted_calls') return 'The record of tool calls in this conversation is damaged. Please begin a new session and try again.'
    if (refused === 'role_ordering') return 'The model did not accept the order of the messages. Please try again, or begin a new session.'
    if (imageTooLarge.test(words)) return 'The image is too large for the model. Please send a smaller one.'
  }
  if (overload.test(words) && (code === 'provider_unavailable' || code === 'provider_rate_limit'))
    return 'The model is overloaded at the moment. Please try again in a while.'
  if (code === 'provider_unavailable' && socketDrop.test(words))
    return 'The connection to the model broke off. Its server may be down, or the conversation too long for it.'
  return texts[code]
}

const texts: Partial<Record<ErrorCode, string>> = {
  provider_auth: 'The model provider refused our key. Somebody who runs this service must check it.',
  provider_billing: 'The model provider wants payment first. Somebody who runs this service must check the account.',
  provider_rate_limit: 'The model is asked too often at the moment. Please wait a little and try again.',
  provider_timeout: 'The model did not answer in time. Please try again.',
  provider_overflow: 'The conversation is too long for the model. Compact it or begin a new session, then try again.',
  provider_malformed: 'The model gave an answer that could not be read. Please try again.',
  provider_unavailable: 'The model cannot be reached at the moment. Please try again in a while.',
  provider_rejected: 'The model refused this request.',
  provider_unknown_model: 'The chosen model does not exist. Please choose another one.',
  timeout: 'The answer took too long and was stopped. Please try again, or ask for less at a time.',
  budget_time: 'The answer took too long and was stopped. Please try again, or ask for less at a time.',
  cancelled: 'The answer was stopped.',
  internal: unknown,
}

/** Those of whose messages we are the author: not what a tool throws. */
const tellsItself = (code: ErrorCode): boolean => !code.startsWith('tool_')

const isPlain = (text: string): boolean => text.trim() !== '' && !/[{}<>]|\[\s*"|^[ \t]*at .+:\d/m.test(text)

const asSentence = (text: string): string => {
  const sentence = text.trim()
  return `${sentence.charAt(0).toUpperCase()}${sentence.slice(1)}${/[.!?…]$/.test(sentence) ? '' : '.'}`
}
