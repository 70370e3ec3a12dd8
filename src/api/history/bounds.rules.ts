/** How much of a conversation one answer holds. */
import { bytesOf } from './cut.rules.ts'
import { type OutgoingMessage, placeholderOf } from './sanitise.rules.ts'

export const historyLimits = {
  messageBytesMax: 128 * 1024,
  bytesMax: 6 * 1024 * 1024,
}
type HistoryLimits = typeof historyLimits

/** The newest for which there is room; one that has none for itself alone gives its place to a word about it. */
export const bounded = (
  messages: readonly OutgoingMessage[],
  { messageBytesMax, bytesMax }: Pick<HistoryLimits, 'messageBytesMax' | 'bytesMax'> = historyLimits,
): OutgoingMessage[] => {
  const kept: OutgoingMessage[] = []
  let bytes = 0
  for (const message of messages.toReversed()) {
    const size = bytesOf(message)
    const one = size > Math.min(messageBytesMax, bytesMax) ? placeholderOf(message, size) : message
    bytes += one === message ? size : bytesOf(one)
    if (bytes > bytesMax && kept.length > 0) break
    kept.unshift(one)
  }
  return kept
}

/** A page begins with a message that has a name, to go back from: results stand with their call. */
export const pageStart = (messages: readonly { role: string }[], start: number): number => {
  let from = start
  while (from < messages.length && messages[from]?.role === 'tool') from++
  if (from < messages.length) return from
  from = start
  while (from > 0 && messages[from]?.role === 'tool') from--
  return from
}
