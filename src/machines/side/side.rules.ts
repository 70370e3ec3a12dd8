/** What a model is told for a side question, and what people are told of one that was not answered. */
import type { ErrorBody, ErrorCode } from '../../contracts/errors.ts'
import type { Message, UserMessage } from '../../contracts/message.ts'
import { summaryMessage } from '../loop/compaction.rules.ts'

/** Tokens of the answer. */
export const answerTokensMax = 2_000
/** ms for the call. */
export const callMsMax = 60_000
/** Characters of the conversation where nobody knows how much the model can read. */
const contextCharsUsual = 200_000
const contextCharsMin = 4_000

export const sideInstructions = (instructions: string): string =>
  [
    instructions,
    'You are asked a side question about the conversation that you are shown. Answer it directly and briefly, from what stands there and what you know.' +
      ' You have no tools now. What goes on in the conversation goes on without you: do not continue it, and say so where you do not know.',
  ]
    .filter((part) => part !== '')
    .join('\n\n')

/**
 * The conversation and the question as one message: calls of tools and half a turn are nothing that providers take from a user without tools.
 * @param window tokens that the model can read, where known: half of them are for the conversation, the newest part of it
 */
export const sideMessage = (
  messages: readonly Message[],
  { id, question, window }: { id: string; question: string; window?: number | undefined },
): UserMessage => {
  // A token is about four characters.
  const max = window === undefined ? contextCharsUsual : Math.max(contextCharsMin, window * 2)
  const lines: string[] = []
  let chars = 0
  for (const message of messages.toReversed()) {
    const { text } = summaryMessage([message])
    chars += text.length
    if (chars > max) {
      lines.push('(what was said before is left out)')
      break
    }
    lines.push(text)
  }
  const said = lines.length === 0 ? 'Nothing was said in this conversation yet.' : `The conversation so far:\n\n${lines.reverse().join('\n\n')}`
  return { role: 'user', id, text: `${said}\n\n---\nThe side question:\n${question}` }
}

const told: Partial<Record<ErrorCode, string>> = {
  cancelled: 'It was stopped before it was answered.',
  provider_timeout: 'The model did not answer in time. Ask again, or ask less.',
  provider_rate_limit: 'The provider of the model asks to slow down. Ask again in a minute.',
  provider_overflow: 'The conversation is too long for the model. /compact shortens it.',
  provider_unavailable: 'The model cannot be reached. Ask again in a minute.',
  provider_auth: 'The provider of the model refused the key.',
  provider_billing: 'The provider of the model wants payment.',
}

export const unansweredText = ({ code, message }: ErrorBody): string => told[code] ?? `It was not answered: ${message}.`
