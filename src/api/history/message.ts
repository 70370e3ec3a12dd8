/** One message of a conversation, all of it, in pieces: what a history has cut can be read here. */
import type { CommandInput } from '../../contracts/commands.ts'
import { definedOf } from '../../contracts/defined.ts'
import { RuntimeError } from '../../contracts/errors.ts'
import { type Message, typedText } from '../../contracts/message.ts'
import type { RuntimeParts, Session } from '../../runtime/index.ts'
import { beginningOf } from './cut.rules.ts'

const charactersMax = 100_000

/** @property next the `offset` of the next piece; null at the end. Offsets and lengths are UTF-16 units. */
type MessagePiece = {
  sessionKey: string
  messageId: string
  role: Message['role']
  text: string
  offset: number
  characters: number
  next: number | null
}

/** @throws RuntimeError not_found */
export const readMessage = async (
  { transcripts }: RuntimeParts,
  session: Session,
  { messageId, part = 'text', role, offset = 0, limit = charactersMax }: CommandInput<'chat.message'>,
): Promise<MessagePiece> => {
  const fits = (message: Message) => message.role !== 'tool' && message.id === messageId && (role === undefined || message.role === role)
  const all = [...(await transcripts.read(session.address)), ...(await transcripts.waiting(session.address))]
  const message = all.findLast(fits)
  if (message === undefined || message.role === 'tool')
    throw new RuntimeError('not_found', `the conversation has no message '${messageId.slice(0, 80)}'`, {
      field: 'messageId',
      hint: 'give the `id` of a message of chat.history; after a reset or a compaction, events.read and trace.read still have it',
    })
  const whole = partOf(message, part)
  const begin = startOf(whole, offset)
  const rest = whole.slice(begin)
  // A single character may be longer than that.
  const text = beginningOf(rest, Math.max(2, limit))
  const next = begin + text.length
  return {
    sessionKey: session.key,
    messageId,
    role: message.role,
    text,
    offset: begin,
    characters: whole.length,
    next: next < whole.length ? next : null,
  }
}

/** A piece does not begin within a character. */
const startOf = (text: string, offset: number): number => (offset > 0 && /[\udc00-\udfff]/.test(text.charAt(offset)) ? offset - 1 : offset)

const partOf = (message: Exclude<Message, { role: 'tool' }>, part: 'text' | 'reasoning' | 'calls'): string => {
  // As the history has it: the words of a person as they were typed.
  if (part === 'text') return message.role === 'user' ? typedText(message) : message.text
  const { reasoning = '', calls = [] } = message.role === 'assistant' ? message : definedOf({ reasoning: undefined, calls: undefined })
  return part === 'reasoning' ? reasoning : JSON.stringify(calls)
}
