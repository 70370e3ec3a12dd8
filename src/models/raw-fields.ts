/** Fields of their own that OpenAI-compatible servers put into an answer, beside those that OpenAI knows. */
import type { MetadataExtractor } from '@ai-sdk/openai-compatible'
import type { SharedV4ProviderMetadata } from '@ai-sdk/provider'
import { metadataCharsMax } from '../contracts/provider-metadata.ts'
import { isRecord } from '../contracts/record.rules.ts'
import { metadataTooLarge } from './metadata-limit.ts'

type RawCall = { id: string; fields: Record<string, unknown> }
/** Of the message, and of each of its calls. `chars` instead, where they were more than a journal should hold. */
export type RawFields = { message: Record<string, unknown>; calls: RawCall[]; chars?: number }

/** Where the metadata of a finished stream holds them. */
export const rawFieldsKey = 'rawFields'

/**
 * By their names, since servers invent new ones. Seen: `reasoning_content` (DeepSeek, Kimi, Qwen, GLM), `reasoning` (vLLM, Ollama, Groq, Cerebras),
 * `reasoning_details` (OpenRouter, MiniMax), `reasoning_text` and `reasoning_opaque` (GitHub Copilot), `thinking_blocks` and `provider_specific_fields`
 * (LiteLLM), `thought_signature` and `extra_content` (Gemini).
 */
export const isAttached = (name: string): boolean =>
  /reasoning|think|thought|signature|encrypted|opaque|^extra_content$|^provider_specific_fields$/i.test(name)
/** Text that comes in increments; any other string comes whole, and may be repeated. */
export const isText = (name: string): boolean =>
  /text|content|think|thought|summary|reason/i.test(name) && !/signature|encrypted|opaque|id$|type$|format$|index$/i.test(name)

/** Above so many times the limit the stream ends: no answer needs them. */
const endlessFactor = 8

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
  readonly #message = new Map<string, unknown>()
  readonly #lists = new Map<string, Entries>()
  readonly #calls: RawCall[] = []
  /** By index, the call that its deltas go on with. */
  readonly #open = new Map<unknown, RawCall>()
  #chars = 0

  /** @throws RuntimeError provider_rejected where a server does not stop */
  take(chunk: unknown): void {
    const delta = (chunk as Chunk | null)?.choices?.[0]?.delta
    if (typeof delta !== 'object' || delta === null) return
    for (const [name, value] of attachedIn(delta)) {
      if (this.#isTooMuch(name, value)) continue
      if (Array.isArray(value)) this.#listOf(name).take(value)
      else this.#message.set(name, joined(name, this.#message.get(name), value))
    }
    const { tool_calls: calls } = delta
    if (Array.isArray(calls)) for (const call of calls) this.#takeCall(call)
  }

  /** What is too much is counted, and not kept. Reasoning in plain text counts as part of the answer. */
  #isTooMuch(name: string, value: unknown): boolean {
    if (typeof value !== 'string' || !isText(name)) this.#chars += typeof value === 'string' ? value.length : JSON.stringify(value).length
    if (this.#chars > endlessFactor * metadataCharsMax) throw metadataTooLarge(this.#chars)
    return this.#chars > metadataCharsMax
  }

  #listOf(name: string): Entries {
    const known = this.#lists.get(name) ?? new Entries()
    this.#lists.set(name, known)
    return known
  }

  /** Some servers give all calls the same index: an id that is new begins another one. */
  #takeCall(call: CallDelta): void {
    if (typeof call !== 'object' || call === null) return
    const key = call.index ?? call.id
    const id = typeof call.id === 'string' ? call.id : ''
    let known = key === undefined ? undefined : this.#open.get(key)
    if (known === undefined || (id !== '' && known.id !== '' && known.id !== id)) {
      known = { id, fields: {} }
      this.#calls.push(known)
      if (key !== undefined) this.#open.set(key, known)
    }
    if (known.id === '') known.id = id
    for (const [name, value] of attachedIn(call)) if (!this.#isTooMuch(name, value)) known.fields[name] = joined(name, known.fields[name], value)
  }

  metadata(): { [rawFieldsKey]: RawFields } | undefined {
    if (this.#chars > metadataCharsMax) return { [rawFieldsKey]: { message: {}, calls: [], chars: this.#chars } }
    const lists = [...this.#lists].map(([name, { entries }]) => [name, entries] as const)
    // Servers open with what is empty, and a provider that checks it wants none of that back.
    const message = Object.fromEntries(
      [...this.#message, ...lists].filter(([, value]) => value !== '' && !(Array.isArray(value) && value.length === 0)),
    )
    const isEmpty = Object.keys(message).length === 0 && this.#calls.every(({ fields }) => Object.keys(fields).length === 0)
    return isEmpty ? undefined : { [rawFieldsKey]: { message, calls: this.#calls } }
  }
}

const attachedIn = (delta: Record<string, unknown>): [name: string, value: unknown][] =>
  Object.entries(delta).filter(
    ([name, value]) => value !== null && value !== undefined && typeof value !== 'number' && typeof value !== 'boolean' && isAttached(name),
  )

/** One value of the stream so far with what has come now. */
const joined = (name: string, before: unknown, now: unknown): unknown => {
  if (before === undefined || before === null) return now
  if (now === undefined || now === null) return before
  if (typeof before === 'string' && typeof now === 'string') return isText(name) ? before + now : now
  if (isRecord(before) && isRecord(now)) return joinedObjects(before, now)
  return now
}

const joinedObjects = (before: Record<string, unknown>, now: Record<string, unknown>): Record<string, unknown> => {
  const all = { ...before }
  for (const [name, value] of Object.entries(now)) all[name] = joined(name, all[name], value)
  return all
}

/** A list that comes piece by piece, such as blocks of reasoning. */
class Entries {
  readonly entries: unknown[] = []
  /** By index, where the entry stands that goes on. */
  readonly #places = new Map<unknown, number>()

  take(pieces: readonly unknown[]): void {
    for (const piece of pieces) {
      const index = isRecord(piece) ? piece.index : undefined
      const place = (index === undefined ? undefined : this.#places.get(index)) ?? this.entries.length - 1
      const known = this.entries[place]
      if (isRecord(known) && isRecord(piece) && continues(known, piece)) this.entries[place] = joinedObjects(known, piece)
      else {
        this.entries.push(piece)
        if (index !== undefined) this.#places.set(index, this.entries.length - 1)
      }
    }
  }
}

/** Whether a piece belongs to an entry: of its type, index and id, where both have them. What is encrypted comes whole, and a signature ends an entry without an index. */
const continues = (known: Record<string, unknown>, piece: Record<string, unknown>): boolean => {
  const differs = (name: string): boolean => known[name] !== undefined && piece[name] !== undefined && known[name] !== piece[name]
  if (differs('type') || differs('index') || differs('id')) return false
  if (known.data !== undefined && piece.data !== undefined) return false
  return piece.index !== undefined || typeof known.signature !== 'string' || known.signature === ''
}
