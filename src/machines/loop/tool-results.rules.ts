/** Results of tools as one request shows them: each bounded, with its head and, where the end matters, its tail. The history itself keeps all of them. */
import type { AssistantMessage, Message, ToolMessage } from '../../contracts/message.ts'
import type { ModelRequest } from '../../contracts/model.ts'

const charsPerToken = 4
/** Text of tools is denser than prose: where it decides alone it is counted so. */
const charsPerTokenOfResults = 2
const shownMax = 16_000
const shareMax = 0.3
const keptMin = 2000
const tailShare = 0.3
const tailMax = 4000
/** Of the end, to see whether it says something that the beginning does not. */
const endChars = 2000
/** A cut moves to the end of a line that is so near. */
const lineWithin = 200
const aloneMax = 0.5
const fullAt = 0.9
const imageChars = 8000

/** Characters of one result that a request shows. @param window tokens that the model can read, where known */
export const resultCharsMax = (window: number | undefined): number => {
  if (window === undefined) return shownMax
  const bounded = Math.max(keptMin, Math.min(shownMax, Math.floor(window * charsPerToken * shareMax)))
  return Math.min(bounded, Math.floor(window * charsPerTokenOfResults * aloneMax))
}

export const resultText = ({ output }: ToolMessage): string => (typeof output === 'string' ? output : (JSON.stringify(output) ?? ''))

const tells = /\b(?:error|exception|failed|failure|fatal|traceback|panic|errno|exit code|total|summary|result|done|finished|completed)\b/i
/** The end says how it came out: an error, a summary, or the rest of a JSON value. */
const endMatters = (text: string): boolean => {
  const end = text.slice(-endChars)
  return tells.test(end) || /[}\]]["']?\s*$/.test(end)
}

/** Cuts behind a line where one ends near by, and never through a character. */
const headOf = (text: string, length: number): string => {
  const head = text.slice(0, length)
  const line = head.lastIndexOf('\n')
  return (line >= length - lineWithin && line > 0 ? head.slice(0, line) : head).toWellFormed()
}
const tailOf = (text: string, length: number): string => {
  const tail = text.slice(-length)
  const line = tail.indexOf('\n')
  return (line !== -1 && line <= lineWithin && line < length - 1 ? tail.slice(line + 1) : tail).toWellFormed()
}

/** @param reference by which `read_output` finds all of it @returns the text itself where it is short enough */
export const shortenedResult = (text: string, charsMax: number, reference: string): string => {
  if (text.length <= charsMax) return text
  const note = (omitted: number): string =>
    `[… ${omitted} of ${text.length} characters are left out here; read_output with ref "${reference}" and an offset reads them …]`
  const room = Math.max(0, charsMax - note(text.length).length - 2)
  const tail = endMatters(text) ? tailOf(text, Math.min(tailMax, Math.floor(room * tailShare))) : ''
  const head = headOf(text, room - tail.length)
  return [head, note(text.length - head.length - tail.length), ...(tail === '' ? [] : [tail])].join('\n')
}

/** How a result is called in its session: by the answer that asked for it, and the place of its call there. */
const referenceOf = ({ id }: Pick<AssistantMessage, 'id'>, place: number): string => `${id}:${place + 1}`

/** The result that a reference means, as the conversation has it. */
export const resultIn = (messages: readonly Message[], reference: string): ToolMessage | undefined => {
  const index = messages.findIndex((message) => message.role === 'assistant' && reference.startsWith(`${message.id}:`) && placeIn(message, reference))
  const answer = messages[index]
  if (answer?.role !== 'assistant') return undefined
  const { callId } = answer.calls[(placeIn(answer, reference) as number) - 1] ?? {}
  for (const message of messages.slice(index + 1)) {
    if (message.role === 'assistant') return undefined
    if (message.role === 'tool' && message.callId === callId) return message
  }
  return undefined
}
const placeIn = ({ id }: AssistantMessage, reference: string): number | undefined => {
  const place = reference.slice(id.length + 1)
  return /^\d{1,4}$/.test(place) ? Number(place) : undefined
}

/** @returns the messages with each result bounded; those that fit are the same objects. `cut`: at least one did not */
export const boundedResults = (messages: readonly Message[], window: number | undefined): { messages: Message[]; cut: boolean } => {
  const charsMax = resultCharsMax(window)
  let answer: AssistantMessage | undefined
  let cut = false
  const bounded = messages.map((message) => {
    if (message.role === 'assistant') answer = message
    if (message.role !== 'tool') return message
    const text = resultText(message)
    if (text.length <= charsMax) return message
    cut = true
    const place = answer?.calls.findIndex(({ callId }) => callId === message.callId) ?? -1
    return { ...message, output: shortenedResult(text, charsMax, answer ? referenceOf(answer, place) : message.callId) }
  })
  return { messages: bounded, cut }
}

/** A picture costs what a page of text does, however many characters it is written with. */
const charsOf = (value: unknown): number => {
  if (typeof value === 'string') return value.length
  if (typeof value !== 'object' || value === null) return String(value).length
  const { type, mimeType, mediaType } = value as Record<string, unknown>
  const isImage =
    type === 'image' || type === 'input_image' || [mimeType, mediaType].some((one) => typeof one === 'string' && one.startsWith('image/'))
  if (isImage) return imageChars
  return Object.entries(value).reduce((sum, [name, inner]) => sum + (Array.isArray(value) ? 1 : name.length + 4) + charsOf(inner), 2)
}

const messageChars = (message: Message): number => {
  if (message.role === 'tool') return charsOf(message.output)
  if (message.role === 'assistant') return message.text.length + charsOf(message.calls)
  return message.text.length + (message.role === 'user' ? (message.before?.length ?? 0) + (message.after?.length ?? 0) : 0)
}

/** About how many tokens a request takes. */
export const estimatedTokens = ({ instructions, messages, tools }: Pick<ModelRequest, 'instructions' | 'messages' | 'tools'>): number => {
  const chars = messages.reduce((sum, message) => sum + messageChars(message), instructions.length + charsOf(tools))
  return Math.ceil(chars / charsPerToken)
}

/** It takes more than nine tenths of what the model can read: it is compacted before a provider refuses it. */
export const isTooFull = (request: Pick<ModelRequest, 'instructions' | 'messages' | 'tools'>, window: number | undefined): boolean =>
  window !== undefined && estimatedTokens(request) > window * fullAt
