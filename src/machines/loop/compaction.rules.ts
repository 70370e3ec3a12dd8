/** What compaction puts away and what it keeps. */
import { fileLine } from '../../contracts/file.ts'
import type { Message, UserMessage } from '../../contracts/message.ts'

const sizeOf = (message: Message): number =>
  message.role === 'tool'
    ? JSON.stringify(message.output ?? null).length
    : message.role === 'assistant'
      ? message.text.length + JSON.stringify(message.calls).length
      : message.text.length

/** A token is about four characters: enough to say how much shorter it became. */
export const tokensOf = (messages: Message[]): number => Math.ceil(messages.reduce((sum, message) => sum + sizeOf(message), 0) / 4)

/** Share of the conversation that stays as it is. */
const keptShare = 0.3
/** And at most about 20,000 tokens. */
const keptCharsMax = 80_000

/**
 * Cuts before a message that begins something (a user's message or a model's answer), so that no tool result loses its call.
 * @returns `old` for the summary, `keep` the number of newest messages that stay
 */
export const splitForSummary = (messages: Message[]): { old: Message[]; keep: number } => {
  const total = messages.reduce((sum, message) => sum + sizeOf(message), 0)
  let kept = 0
  let cut = messages.length
  for (let index = messages.length - 1; index > 0; index--) {
    const message = messages[index] as Message
    kept += sizeOf(message)
    if (kept > Math.min(total * keptShare, keptCharsMax) && cut < messages.length) break
    if (message.role === 'user' || message.role === 'assistant') cut = index
  }
  // The newest user message must stay: it is what the turn is about.
  const lastUser = messages.findLastIndex(({ role }) => role === 'user')
  if (lastUser > 0 && cut > lastUser) cut = lastUser
  return cut === messages.length ? { old: [], keep: messages.length } : { old: messages.slice(0, cut), keep: messages.length - cut }
}

/** Characters of one message that go into the summary's prompt; a long tool result says little more than its beginning. */
const shownMax = 4000
const shorten = (text: string): string => (text.length > shownMax ? `${text.slice(0, shownMax)} … (${text.length - shownMax} characters more)` : text)

const lineOf = (message: Message): string => {
  switch (message.role) {
    case 'user':
      return `User: ${shorten(message.text)}${(message.files ?? []).map((file) => `\n  sent the file ${fileLine(file)}`).join('')}`
    case 'assistant':
      return `Assistant: ${shorten(message.text)}${message.calls.map(({ name, input }) => `\n  called ${name} with ${shorten(JSON.stringify(input) ?? '')}`).join('')}`
    case 'tool':
      return `Tool ${message.name}${message.isError ? ' failed' : ''}: ${shorten(JSON.stringify(message.output) ?? '')}`
    case 'summary':
      return `Earlier summary: ${message.text}`
  }
}

export const summaryMessage = (old: Message[]): UserMessage => ({ role: 'user', id: 'summary-request', text: old.map(lineOf).join('\n\n') })
