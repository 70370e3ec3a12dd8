/** What was said in a conversation, step by step, as its history has it. */
import type { Message } from '../contracts/message.ts'
import type { Client } from './client.ts'

/** More than a turn has: it takes at most 50 steps and 200 tool calls unless its agent says otherwise. */
const messagesMax = 500

/** The conversation from one of these messages on; undefined where it does not reach back so far. */
const since = async (client: Pick<Client, 'command'>, sessionKey: string, ids: readonly string[]): Promise<Message[] | undefined> => {
  const { messages } = await client.command<{ messages: Message[] }>('chat.history', { sessionKey, limit: messagesMax })
  const first = messages.findLastIndex((message) => message.role === 'user' && ids.includes(message.id))
  return first === -1 ? undefined : messages.slice(first)
}

const textsOfSteps = (messages: readonly Message[]): string[] =>
  messages.flatMap((message) => (message.role === 'assistant' && message.text !== '' ? [message.text] : []))

/** What was said since the last of these messages. */
export const saidSince = async (client: Pick<Client, 'command'>, sessionKey: string, ids: readonly string[]): Promise<string[]> =>
  textsOfSteps((await since(client, sessionKey, ids)) ?? [])

/** What was said from a message to an answer; undefined where the history does not hold both. */
export const textsSince = async (
  client: Pick<Client, 'command'>,
  sessionKey: string,
  id: string,
  answerId: string | null,
): Promise<string[] | undefined> => {
  const messages = await since(client, sessionKey, [id])
  const last = messages?.findIndex((message) => message.role === 'assistant' && message.id === answerId) ?? -1
  return last === -1 ? undefined : textsOfSteps(messages?.slice(0, last + 1) ?? [])
}
