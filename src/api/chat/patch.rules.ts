/** What somebody lacks who has been shown some of an answer. */
import type { ChatBlock, ChatEvent } from '../../contracts/gateway.ts'
import { textOf } from './run-view.rules.ts'

/** @param shown the blocks of the last event that this reader got of the run @returns the event with only what has changed since */
export const patchOf = (event: ChatEvent, shown: readonly ChatBlock[]): ChatEvent => {
  const { message } = event
  const content = message?.content ?? []
  if (shown.length === 0) return event
  const block = firstChange(shown, content)
  const [before, after] = [shown[block], content[block]]
  const offset = before && after ? commonStart(before, after) : 0
  const rest = content.slice(block)
  const first = offset > 0 && rest[0] ? [behind(rest[0], offset), ...rest.slice(1)] : rest
  return { ...event, message: { role: 'assistant', timestamp: message?.timestamp ?? 0, content: first }, from: { block, offset } }
}

/** Blocks are replaced where they change, so those that are the same object are the same. */
const firstChange = (shown: readonly ChatBlock[], content: readonly ChatBlock[]): number => {
  let at = 0
  while (at < shown.length && at < content.length && shown[at] === content[at]) at++
  return at
}

/** A text that only got longer goes on from its old end. */
const commonStart = (before: ChatBlock, after: ChatBlock): number => {
  if (before.id !== after.id) return 0
  if (before.type === 'text' && after.type === 'text' && after.text.startsWith(before.text)) return before.text.length
  if (before.type === 'thinking' && after.type === 'thinking' && after.thinking.startsWith(before.thinking)) return before.thinking.length
  return 0
}

const behind = (block: ChatBlock, offset: number): ChatBlock => {
  if (block.type === 'text') return { ...block, text: textOf(block).slice(offset) }
  if (block.type === 'thinking') return { ...block, thinking: textOf(block).slice(offset) }
  return block
}
