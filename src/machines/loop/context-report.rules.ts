/** What a conversation takes up of the window of its model: what stands before it, and its own messages. */
import type { Message } from '../../contracts/message.ts'
import type { ContextReport, PromptReport } from '../../contracts/prompt.ts'

const roles = ['summary', 'user', 'assistant', 'tool'] as const

/** @param prompt as it was sent last, or would be now */
export const contextReport = (prompt: PromptReport, messages: readonly Message[]): ContextReport => {
  const history = roles.map((role) => {
    const some = messages.filter((message) => message.role === role)
    const chars = some.reduce((sum, message) => sum + JSON.stringify(message).length, 0)
    return { role, count: some.length, chars, tokens: Math.ceil(chars / 4) }
  })
  const chars = history.reduce((sum, part) => sum + part.chars, prompt.chars)
  return { prompt, history, chars, tokens: Math.ceil(chars / 4) }
}
