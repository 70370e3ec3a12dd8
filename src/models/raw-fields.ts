/** Fields of their own that OpenAI-compatible servers put into an answer, beside those that OpenAI knows. */
import type { MetadataExtractor } from '@ai-sdk/openai-compatible'
import type { SharedV4ProviderMetadata } from '@ai-sdk/provider'
import { isRecord } from '../contracts/record.rules.ts'

/** Of the message, and of each of its calls. */
export type RawFields = { message: Record<string, unknown>; calls: { id: string; fields: Record<string, unknown> }[] }

/** Where the metadata of a finished stream holds them. */
export const rawFieldsKey = 'rawFields'

/**
 * By their names, since servers invent new ones. Seen: `reasoning_content` (DeepSeek, Kimi, Qwen, GLM), `reasoning` (vLLM, Ollama, Groq, Cerebras),
 * `reasoning_details` (OpenRouter, MiniMax), `reasoning_text` and `reasoning_opaque` (GitHub Copilot), `thinking_blocks` and `provider_specific_fields`
 * (LiteLLM), `thought_signature` and `extra_content` (Gemini).
 */
export const isAttached = (name: string): boolean =>
  /reasoning|think|thought|signature|encrypted|opaque|^extra_content$|^provider_specific_fields$/i.test(name)
/** Strings that come whole; other strings are increments. */
export const isWhole = (name: string): boolean => /signature|encrypted|opaque|id$|type$|format$|index$/i.test(name)

/** Reads them from the chunks of one stream. */
export const rawFieldsExtractor: MetadataExtractor = {
  extractMetadata: async () => undefined,
  createStreamExtractor: () => {
    const found = new Fields()
    return { processChunk: (chunk) => found.take(chunk), buildMetadata: () => found.metadata() as SharedV4ProviderMetadata | undefined }
  },
}

type Chunk = { choices?: { delta?: Record<string, unknown> | null }[] }
type CallDelta = Record<string, unknown> & { index?: unknown; id?: unknown }

class Fields {
  readonly #message: Record<string, unknown> = {}
  readonly #calls = new Map<unknown, { id: string; fields: Record<string, unknown> }>()

  take(chunk: unknown): void {
    const delta = (chunk as Chunk | null)?.choices?.[0]?.delta
    if (typeof delta !== 'object' || delta === null) return
    collect(this.#message, delta)
    const { tool_calls: calls } = delta
    if (Array.isArray(calls)) for (const call of calls) this.#takeCall(call)
  }

  #takeCall(call: CallDelta): void {
    if (typeof call !== 'object' || call === null) return
    const key = call.index ?? call.id ?? this.#calls.size
    let known = this.#calls.get(key)
    if (known === undefined) {
      known = { id: '', fields: {} }
      this.#calls.set(key, known)
    }
    if (typeof call.id === 'string' && known.id === '') known.id = call.id
    collect(known.fields, call)
  }

  metadata(): { [rawFieldsKey]: RawFields } | undefined {
    const calls = [...this.#calls.values()]
    const isEmpty = Object.keys(this.#message).length === 0 && calls.every(({ fields }) => Object.keys(fields).length === 0)
    return isEmpty ? undefined : { [rawFieldsKey]: { message: this.#message, calls } }
  }
}

const collect = (fields: Record<string, unknown>, delta: Record<string, unknown>): void => {
  for (const name in delta) {
    const value = delta[name]
    if (value === null || value === undefined || typeof value === 'number' || typeof value === 'boolean' || !isAttached(name)) continue
    fields[name] = joined(name, fields[name], value)
  }
}

/** One value of the stream so far with what has come now. */
const joined = (name: string, before: unknown, now: unknown): unknown => {
  if (before === undefined || before === null) return now
  if (now === undefined || now === null) return before
  if (typeof before === 'string' && typeof now === 'string') return isWhole(name) ? now : before + now
  if (Array.isArray(before) && Array.isArray(now)) return now.reduce(withEntry, before)
  if (isRecord(before) && isRecord(now)) return joinedObjects(before, now)
  return now
}

const joinedObjects = (before: Record<string, unknown>, now: Record<string, unknown>): Record<string, unknown> => {
  const all = { ...before }
  for (const [name, value] of Object.entries(now)) all[name] = joined(name, all[name], value)
  return all
}

/** An entry with an index goes on with that of the same index; one without goes on with the last, until that is signed. */
const withEntry = (entries: unknown[], entry: unknown): unknown[] => {
  const place = entries.findLastIndex((known) => continues(known, entry))
  const last = place === -1 || (indexOf(entry) === undefined && place < entries.length - 1) ? undefined : entries[place]
  if (!isRecord(last) || !isRecord(entry)) return [...entries, entry]
  return entries.with(place, joinedObjects(last, entry))
}

const continues = (known: unknown, entry: unknown): boolean => {
  if (!isRecord(known) || !isRecord(entry) || known.type !== entry.type) return false
  const index = indexOf(entry)
  if (index !== undefined || indexOf(known) !== undefined) return index === indexOf(known)
  return typeof known.signature !== 'string' && (entry.id === undefined || entry.id === known.id)
}
const indexOf = (entry: unknown): unknown => (isRecord(entry) ? entry.index : undefined)
