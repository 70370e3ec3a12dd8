/** Old results of tools, made short for one call of a model. The history itself stays as it is. */

import type { Message, ToolMessage } from '../../contracts/message.ts'
import { wildcard } from '../../contracts/wildcard.ts'

/** ms that a provider keeps its cache, unless somebody knows better. */
export const cacheTtlMs = 300_000
const trimFrom = 0.3
const clearFrom = 0.5
const trimChars = 4000
const keptChars = 1500
const clearCharsMin = 50_000
const charsPerToken = 4
/** Answers at the end whose results nobody touches. */
const protectedAnswers = 3
export const clearedResult = '[the result of this call was removed: it is old]'

export type Pruning = {
  /** ms since the epoch. */
  now: number
  /** When the model was called last; while its cache may still be warm nothing is changed, since any change would make it cold. */
  lastCallAt: number | undefined
  ttlMs?: number
  /** Tokens that the conversation takes as it is. */
  contextTokens: number
  /** Tokens that the model can read. */
  contextWindow: number
  /** Answers at the end, with all that follows them, that are left alone; default 3. */
  protect?: number
  /** Names of the tools whose results may be shortened, `*` for any text; default: all. */
  allow?: readonly string[]
  /** Names of those whose results may not; wins over `allow`. */
  deny?: readonly string[]
}

/**
 * From 0.3 of the window on, old results of more than 4,000 characters keep their first and last 1,500. When it is 0.5 even so, and there are
 * 50,000 characters or more in old results, these are taken out, oldest first, until it is less. Pictures stay.
 * @returns a new list; messages that did not change are the same objects
 */
export const pruned = (messages: readonly Message[], pruning: Pruning): Message[] => {
  const { now, lastCallAt, ttlMs = cacheTtlMs, contextTokens, contextWindow } = pruning
  const shortened = [...messages]
  if (lastCallAt === undefined || now - lastCallAt < ttlMs || !(contextWindow > 0)) return shortened
  let tokens = contextTokens
  const isUsed = (share: number): boolean => tokens / contextWindow >= share
  const replace = (place: number, output: string): void => {
    const message = shortened[place] as ToolMessage
    tokens -= (charsOf(message) - output.length) / charsPerToken
    shortened[place] = { ...message, output }
  }

  if (!isUsed(trimFrom)) return shortened
  const places = prunable(messages, pruning)
  for (const place of places) {
    const text = textOf(shortened[place] as ToolMessage)
    if (text.length > trimChars) replace(place, trimmed(text))
  }

  const chars = places.reduce((sum, place) => sum + charsOf(shortened[place] as ToolMessage), 0)
  if (chars < clearCharsMin) return shortened
  for (const place of places) {
    if (!isUsed(clearFrom)) break
    if (charsOf(shortened[place] as ToolMessage) > clearedResult.length) replace(place, clearedResult)
  }
  return shortened
}

/** Places of the results that may be shortened. */
const prunable = (messages: readonly Message[], { protect = protectedAnswers, allow = ['*'], deny = [] }: Pruning): number[] => {
  const answers = messages.flatMap(({ role }, place) => (role === 'assistant' ? [place] : []))
  const end = protect <= 0 ? messages.length : (answers.at(-protect) ?? 0)
  const [may, mayNot] = [allow.map(pattern), deny.map(pattern)]
  return messages.slice(0, end).flatMap((message, place) => {
    if (message.role !== 'tool') return []
    const { name, output } = message
    const fits = may.some((one) => one(name.toLowerCase())) && !mayNot.some((one) => one(name.toLowerCase()))
    return fits && !hasPicture(output) ? [place] : []
  })
}

const pattern = (name: string) => wildcard(name.toLowerCase())

const textOf = ({ output }: ToolMessage): string => (typeof output === 'string' ? output : (JSON.stringify(output) ?? ''))
const charsOf = (message: ToolMessage): number => textOf(message).length

// A cut may go through the middle of a character of two halves, which no provider takes.
const trimmed = (text: string): string => {
  const left = text.length - 2 * keptChars
  return `${text.slice(0, keptChars).toWellFormed()}\n[… ${left} characters were left out …]\n${text.slice(-keptChars).toWellFormed()}`
}

const depthMax = 4

/** Whether a result holds a part that is a picture, as MCP and the providers write it. */
const hasPicture = (value: unknown, depth = 0): boolean => {
  if (typeof value !== 'object' || value === null || depth > depthMax) return false
  const { type, mimeType, mediaType } = value as Record<string, unknown>
  if (type === 'image' || type === 'image_url' || type === 'input_image') return true
  if ([mimeType, mediaType].some((media) => typeof media === 'string' && media.startsWith('image/'))) return true
  return Object.values(value).some((part) => hasPicture(part, depth + 1))
}
