/** A conversation as a provider takes it: every call with its result, no question that was given up, no more history than wanted. */
import { definedOf } from '../../contracts/defined.ts'
import type { AssistantMessage, Message, ToolMessage, UserMessage } from '../../contracts/message.ts'

type Preparation = {
  /** Turns of the user that are sent, the newest included; 0 or nothing means all. */
  historyTurns?: number
  /** Ids of the messages that the present turn answers. Without them it is the last one, if it is the user's. */
  prompt?: readonly string[]
}

/**
 * The messages to send; those that are kept stay as they are. What changes, in this order:
 * - results stand right behind their call, in the order of the calls; a call without one gets an error, a result without a call or a second one
 *   for the same call goes;
 * - messages of the user right before the prompt have got no answer and will get none: they go, unless they belong to the prompt;
 * - elsewhere, messages of the user in a row become one: some providers refuse two;
 * - all turns before the newest `historyTurns` go; the newest summary stays in their place. What belongs to the present turn is never cut.
 */
export const prepared = (messages: readonly Message[], { historyTurns = 0, prompt }: Preparation = {}): Message[] => {
  const last = messages.at(-1)
  const ids = new Set(prompt ?? (last?.role === 'user' ? [last.id] : []))
  const isPrompt = (message: Message | undefined): boolean => message?.role === 'user' && ids.has(message.id)
  const { merged, begin } = merge(withoutOrphans(paired(messages), isPrompt), isPrompt)
  return Number.isFinite(historyTurns) && historyTurns >= 1 ? newest(merged, Math.floor(historyTurns), begin) : merged
}

/** Providers want the user to speak first: what was put in before that is told with what the user said. */
export const beginsWithUser = (messages: Message[]): Message[] => {
  const at = messages.findIndex((message) => message.role !== 'assistant' || !message.injected)
  const first = messages[at]
  if (at < 1 || first?.role !== 'user') return messages
  const told = messages.slice(0, at).flatMap((message) => (message.role === 'assistant' ? [message.text] : []))
  const text = `[You have told the user before:]\n${told.join('\n\n')}`
  return [joined({ role: 'user', id: first.id, text }, first), ...messages.slice(at + 1)]
}

/** Every call with exactly one result, right behind it. A server may number its calls anew: an id counts up to where it is used again. */
export const paired = (messages: readonly Message[]): Message[] =>
  messages.flatMap((message, index): Message[] => {
    if (message.role === 'tool') return []
    if (message.role !== 'assistant' || message.calls.length === 0) return [message]
    return [message, ...resultsOf(message, messages, index + 1)]
  })

const resultsOf = ({ calls }: AssistantMessage, messages: readonly Message[], from: number): ToolMessage[] => {
  const open = new Set(calls.map(({ callId }) => callId))
  const found = new Map<string, ToolMessage>()
  for (let index = from; index < messages.length && open.size > 0; index++) {
    const message = messages[index] as Message
    if (message.role === 'assistant') for (const { callId } of message.calls) open.delete(callId)
    if (message.role === 'tool' && open.delete(message.callId)) found.set(message.callId, message)
  }
  return calls.map(({ callId, name }) => found.get(callId) ?? lost(callId, name))
}

const lost = (callId: string, name: string): ToolMessage => ({
  role: 'tool',
  callId,
  name,
  output: { error: { code: 'tool_lost', message: 'there is no result of this call' } },
  isError: true,
})

const withoutOrphans = (messages: readonly Message[], isPrompt: (message: Message) => boolean): Message[] => {
  const begin = messages.findIndex(isPrompt)
  let end = begin
  while (end > 0 && messages[end - 1]?.role === 'user') end--
  return begin === -1 ? [...messages] : [...messages.slice(0, end), ...messages.slice(begin)]
}

/** @returns `begin`: the place of the first message of the present turn, or the end */
const merge = (messages: readonly Message[], isPrompt: (message: Message) => boolean): { merged: Message[]; begin: number } => {
  const merged: Message[] = []
  let begin: number | undefined
  for (const message of messages) {
    const before = merged.at(-1)
    const joins = message.role === 'user' && before?.role === 'user'
    if (joins) merged[merged.length - 1] = joined(before, message)
    else merged.push(message)
    if (isPrompt(message)) begin ??= merged.length - 1
  }
  return { merged, begin: begin ?? merged.length }
}

/** What stands behind the older text and before the newer one was meant for these alone: it comes between the two. */
const joined = (before: UserMessage, after: UserMessage): UserMessage => {
  const { before: notes, ...rest } = after
  const text = [before.text, before.after ?? '', notes ?? '', after.text].filter((part) => part !== '').join('\n\n')
  const files = [...(before.files ?? []), ...(after.files ?? [])]
  return { ...rest, text, ...definedOf({ before: before.before, files: files.length > 0 ? files : undefined }) }
}

/** A turn begins with the user, so that no call is cut off from its result. */
const newest = (messages: readonly Message[], turns: number, begin: number): Message[] => {
  let left = turns
  let cut = messages.length
  for (let index = messages.length - 1; index >= 0 && left > 0; index--)
    if (messages[index]?.role === 'user') {
      cut = index
      left--
    }
  // Fewer turns than that: all of it stays.
  if (left > 0) return [...messages]
  const start = Math.min(cut, begin)
  const summary = messages.slice(0, start).findLast(({ role }) => role === 'summary')
  return [...(summary === undefined ? [] : [summary]), ...messages.slice(start)]
}
