/** Puts short blocks of text together to longer ones; when it is idle, its owner says so (OC-60). */
import type { Payload } from '../../contracts/reply.ts'
import { isRenderable } from './blocks.rules.ts'

/** @property joiner what stands between two blocks that bring no white space of their own */
export type CoalesceLimits = { min: number; max: number; joiner: '\n\n' | '\n' | ' ' }
/** The settings and what is held: plain data. */
export type Coalescer = CoalesceLimits & { held?: Payload }
type Step = { state: Coalescer; send: Payload[] }

/** One that holds nothing. */
export const newCoalescer = ({ min, max, joiner }: CoalesceLimits): Coalescer => ({ min: Math.min(min, max), max, joiner })

/** Takes one block. @returns what is to be sent now, in this order */
export const coalesce = (state: Coalescer, block: Payload): Step => {
  if (!isRenderable(block)) return { state, send: [] }
  const before = flush(state, { force: true })
  if (!isPlain(block) || block.text.length > state.max) return { state: before.state, send: [...before.send, block] }

  const { held } = state
  const text = held?.text === undefined ? block.text : joined(held.text, block.text, state.joiner)
  const belongs = held !== undefined && held.replyTo === block.replyTo && held.voice === block.voice && text.length <= state.max
  const send = belongs ? [] : before.send
  const next: Coalescer = { ...state, held: belongs ? { ...held, ...block, text } : block }
  if ((next.held?.text?.length ?? 0) < state.max) return { state: next, send }
  const full = flush(next, { force: true })
  return { state: full.state, send: [...send, ...full.send] }
}

/** Sends what is held: when idle only if it is long enough, by force whatever it is. */
export const flush = (state: Coalescer, { force }: { force: boolean }): Step => {
  const { held, ...empty } = state
  if (held === undefined || (!force && (held.text?.length ?? 0) < state.min)) return { state, send: [] }
  return { state: empty, send: [held] }
}

/** Text alone, which others can be added to. */
const isPlain = (block: Payload): block is Payload & { text: string } =>
  block.text !== undefined && block.text.trim() !== '' && !block.media?.length && block.data === undefined && block.error === undefined

/** Blocks that were cut out of one text still have the white space between them. */
const joined = (before: string, next: string, joiner: string): string =>
  /\s$/.test(before) || /^\s/.test(next) ? before + next : before + joiner + next
