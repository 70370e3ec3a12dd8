/**
 * A conversation as it goes out to clients: without what is meant for the model or the machine alone, and without what is too long to be read. What is
 * stored stays as it is.
 */
import { definedOf } from '../../contracts/defined.ts'
import { type AssistantMessage, type Message, noUsage, type ToolMessage, typedText, type UserMessage } from '../../contracts/message.ts'
import { isRecord } from '../../contracts/record.rules.ts'
import { allShown, type ShownText } from '../../contracts/shown.ts'
import { withoutDataIn, withoutInlineData } from '../inline-data.rules.ts'
import { beginningOf, cutTo } from './cut.rules.ts'

/** Characters that a part of a message had in the journal, by its part, where it has been cut. */
type Cut = { cut?: Record<string, number> }
/** @property at ms since the epoch when it was said, where it has been found */
export type OutgoingMessage = Message & Cut & { at?: number }

type Sanitising = {
  /** Characters of one part of a message: its text, its reasoning, the input or output of a call. */
  charsMax?: number
  shown?: ShownText
  /** Ids of messages that nobody has written, and whether those are hidden, with answers that say nothing. */
  heartbeats?: ReadonlySet<string>
  hidesHeartbeats?: boolean
  /** Ids of messages whose run has failed. */
  failed?: ReadonlySet<string>
}

const charsMaxDefault = 12_000

export const sanitised = (messages: readonly (Message & { at?: number })[], options: Sanitising = {}): OutgoingMessage[] => {
  const { charsMax = charsMaxDefault, shown = allShown, heartbeats, hidesHeartbeats = false } = options
  let inHeartbeat = false
  return withoutRepeats(messages, options.failed).flatMap((message): OutgoingMessage[] => {
    const { role, at } = message
    if (role === 'user') {
      inHeartbeat = heartbeats?.has(message.id) === true
      return inHeartbeat && hidesHeartbeats ? [] : [{ ...user(message, charsMax), ...definedOf({ at }) }]
    }
    if (role === 'tool') return inHeartbeat && hidesHeartbeats ? [] : [{ ...tool(message, charsMax), ...definedOf({ at }) }]
    if (role === 'summary') return [{ role, id: message.id, ...texts({ text: message.text }, charsMax), ...definedOf({ at }) }]
    const { calls, ...said } = message
    const quiet = inHeartbeat && hidesHeartbeats
    const text = shown.finished(message.text, { heartbeat: inHeartbeat, references: message.references, partial: message.partial })
    // What it did to find out whether there is something to say is no more to be seen than that there was nothing.
    const visible = quiet ? { ...said, calls: [], reasoning: '' } : { ...said, calls }
    if (text.trim() === '' && visible.calls.length === 0 && (message.text.trim() !== '' || quiet)) return []
    return [{ ...assistant({ ...visible, text }, charsMax), ...definedOf({ at }) }]
  })
}

/** Who says the same once more because it had failed has said it once. */
const withoutRepeats = (messages: readonly (Message & { at?: number })[], failed: ReadonlySet<string> = new Set()) =>
  messages.filter((message, index) => {
    const next = messages[index + 1]
    return !(message.role === 'user' && next?.role === 'user' && failed.has(message.id) && message.text === next.text)
  })

/** What the model is told ahead of it (time, sender, ids of the channel) its writer has not said. */
const user = ({ id, ...message }: UserMessage, max: number): UserMessage & Cut => {
  const rest = without(message, ['text', 'typed', 'before', 'after', 'usage', 'cost', 'costUsd', 'at'])
  return { ...rest, role: 'user', id, ...texts({ text: withoutDataIn(typedText(message)) }, max) }
}

const finite = (value: unknown): boolean => typeof value === 'number' && Number.isFinite(value)
const usageFields = ['inputTokens', 'outputTokens', 'cachedInputTokens', 'reasoningTokens', 'cacheWriteTokens']

/** Numbers that are known, and nothing else. */
export const knownUsage = (usage: unknown): Record<string, number> =>
  Object.fromEntries(Object.entries((usage ?? {}) as Record<string, number>).filter(([name, value]) => usageFields.includes(name) && finite(value)))

const assistant = ({ id, text, reasoning, calls, partial, injected, label, ...rest }: AssistantMessage, max: number): AssistantMessage & Cut => {
  const { usage = injected && noUsage, costUsd } = rest as { usage?: unknown; costUsd?: unknown }
  const { cut, ...said } = texts({ text: withoutDataIn(text), ...definedOf({ reasoning: reasoning || undefined }) }, max)
  const inputs = calls.map(({ callId, name, input }) => ({ callId, name, ...part(clean(input), max) }))
  const cuts = { ...cut, ...Object.fromEntries(inputs.flatMap(({ callId, whole }) => (whole === undefined ? [] : [[callId, whole]]))) }
  return {
    role: 'assistant',
    id,
    ...said,
    calls: inputs.map(({ callId, name, value }) => ({ callId, name, input: value })),
    ...definedOf({
      partial: partial || undefined,
      injected,
      label,
      usage: usage === undefined ? undefined : knownUsage(usage),
      costUsd: finite(costUsd) ? costUsd : undefined,
      cut: Object.keys(cuts).length > 0 ? cuts : undefined,
    }),
  }
}

const tool = ({ callId, name, output, isError }: ToolMessage, max: number): ToolMessage & Cut => {
  const { value, whole } = part(clean(withoutDetails(output)), max)
  return { role: 'tool', callId, name, output: value, isError, ...definedOf({ cut: whole === undefined ? undefined : { output: whole } }) }
}

const texts = <Texts extends Record<string, string>>(said: Texts, max: number): Texts & Cut => {
  const long = Object.entries(said).filter(([, text]) => text.length > max)
  const shortened = Object.fromEntries(Object.entries(said).map(([name, text]) => [name, cutTo(text, max)])) as Texts
  return long.length === 0 ? shortened : { ...shortened, cut: Object.fromEntries(long.map(([name, { length }]) => [name, length])) }
}

/** @returns the value, or where it is too long the beginning of its text, and how long that was */
const part = (value: unknown, max: number): { value: unknown; whole?: number } => {
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? '')
  return text.length <= max ? { value } : { value: cutTo(text, max), whole: text.length }
}

const without = (value: Record<string, unknown>, names: readonly string[]): Record<string, unknown> =>
  Object.fromEntries(Object.entries(value).filter(([name]) => !names.includes(name)))

/** What a tool keeps beside the content that it gives the model is for the machine. */
const withoutDetails = (output: unknown): unknown =>
  isRecord(output) && Array.isArray(output.content) && 'details' in output ? without(output, ['details']) : output

const signatures = ['signature', 'thinkingSignature', 'thoughtSignature', 'thought_signature', 'encryptedContent', 'encrypted_content']
const isThinking = ({ type }: Record<string, unknown>): boolean => typeof type === 'string' && /thinking|reasoning|thought/.test(type)

/** Files stay with their type and size; signatures of thinking go. */
const clean = (value: unknown): unknown => withoutSignatures(withoutInlineData(value))

const withoutSignatures = (value: unknown, depth = 0): unknown => {
  if (depth > 50 || typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map((item) => withoutSignatures(item, depth + 1))
  const object = value as Record<string, unknown>
  const hidden = isThinking(object) ? signatures : ['thinkingSignature', 'thoughtSignature', 'thought_signature']
  return Object.fromEntries(
    Object.entries(object).flatMap(([name, one]) => (hidden.includes(name) ? [] : [[name, withoutSignatures(one, depth + 1)]])),
  )
}

/** Too large also when its parts have been cut: that it was there, whose and when. */
export const placeholderOf = (message: OutgoingMessage, bytes: number): OutgoingMessage => {
  const text = `(this message of ${bytes} bytes is too large to be shown here: ask for it with chat.message)`
  const at = definedOf({ at: message.at })
  if (message.role === 'tool') return { ...message, output: text, cut: { output: bytes }, ...at }
  if (message.role !== 'assistant') return { role: message.role, id: message.id, text, cut: { text: bytes }, ...at }
  // Results of its calls stand behind it.
  const calls = message.calls.map(({ callId, name }) => ({ callId: beginningOf(callId, 1000), name: beginningOf(name, 200), input: null }))
  return { role: 'assistant', id: message.id, text, calls: calls.slice(0, 100), cut: { text: bytes }, ...at }
}
