/** Reads what a provider attaches to the parts of an answer while it streams, in the order of the answer. */
import { definedOf } from '../contracts/defined.ts'
import { type AnswerPart, type Metadata, metadataCharsMax, type ProviderMetadata } from '../contracts/provider-metadata.ts'
import { isRecord } from '../contracts/record.rules.ts'
import { metadataTooLarge } from './metadata-limit.ts'
import { type RawFields, rawFieldsKey } from './raw-fields.ts'

type Options = {
  /** The provider and the family of the model. */
  source: string
  /** The provider checks in a later request that the answer was reasoned: one with calls is noted, also where nothing is attached. */
  isChecked: boolean
}

export class AnswerParts {
  readonly #options: Options
  readonly #parts: AnswerPart[] = []
  /** Parts in flight, by kind and id: providers use ids again. */
  readonly #open = new Map<string, AnswerPart>()
  /** Ids of calls as the provider wrote them, with ours. */
  readonly #calls: { id: string; callId: string }[] = []
  #raw: RawFields | undefined

  constructor(options: Options) {
    this.#options = options
  }

  /** `…-start`, `…-delta` or `…-end` of a text or a reasoning. */
  take(kind: 'text' | 'reasoning', id: string, delta: string, metadata: unknown): void {
    const key = `${kind} ${id}`
    const last = this.#parts.at(-1)
    // Overlapping texts have no places of their own in the text of the message: they count as one.
    let part = this.#open.get(key) ?? (kind === 'text' && last?.type === 'text' && delta !== '' ? last : undefined)
    if (part === undefined) {
      part = kind === 'text' ? { type: 'text', length: 0 } : { type: 'reasoning', text: '' }
      this.#parts.push(part)
      this.#open.set(key, part)
    }
    if (part.type === 'text') part.length += delta.length
    else if (part.type === 'reasoning') part.text += delta
    attach(part, metadata)
  }

  end(kind: 'text' | 'reasoning', id: string, metadata: unknown): void {
    const part = this.#open.get(`${kind} ${id}`)
    if (part !== undefined) attach(part, metadata)
    this.#open.delete(`${kind} ${id}`)
  }

  /** @param id as the provider wrote it @param callId ours */
  call(id: string, callId: string, metadata: unknown): void {
    const part: AnswerPart = { type: 'call', callId }
    attach(part, metadata)
    this.#parts.push(part)
    this.#calls.push({ id, callId })
  }

  /** What came with the end of the stream. */
  finish(metadata: unknown): void {
    const raw = isRecord(metadata) ? metadata[rawFieldsKey] : undefined
    if (raw !== undefined) this.#raw = raw as RawFields
  }

  /**
   * @returns undefined where there is nothing to send back
   * @throws RuntimeError provider_rejected as {@link boundedMetadata}
   */
  result(reasoning: string): ProviderMetadata | undefined {
    this.#attachCalls()
    const { source, isChecked } = this.#options
    const { fields, reasoningFields } = this.#raw === undefined ? {} : messageFields(this.#raw.message, reasoning)
    const hasCalls = this.#calls.length > 0
    const chars = this.#raw?.chars
    if (chars !== undefined) {
      if (hasCalls) throw metadataTooLarge(chars)
      return undefined
    }
    const parts = this.#parts.filter((part) => part.metadata !== undefined || part.type !== 'text' || part.length > 0)
    const isAttached = parts.some(({ type, metadata }) => metadata !== undefined || type === 'reasoning') || fields !== undefined
    if (!isAttached && reasoningFields === undefined && !(isChecked && hasCalls)) return undefined
    return boundedMetadata({ source, parts: withoutOnlyText(parts), ...definedOf({ fields, reasoningFields }) }, hasCalls)
  }

  /** The fields of calls come at the end of the stream, by their ids; by their places where a server gives them none, or one to several. */
  #attachCalls(): void {
    const raw = this.#raw?.calls ?? []
    for (const [place, { id, fields }] of raw.entries()) {
      const named = this.#calls.filter((call) => call.id === id)
      const { callId } = (named.length === 1 ? named[0] : raw.length === this.#calls.length ? this.#calls[place] : undefined) ?? {}
      const part = this.#parts.find((one) => one.type === 'call' && one.callId === callId)
      if (part !== undefined && Object.keys(fields).length > 0) part.metadata = { openaiCompatible: fields }
    }
  }
}

/**
 * The steps of a tool loop depend on what was attached to those before them, whole: above the limit the loop ends. Nothing depends on that of an answer
 * without calls, so such an answer stays, and what was attached goes.
 * @throws RuntimeError provider_rejected
 */
export const boundedMetadata = (metadata: ProviderMetadata, hasCalls: boolean): ProviderMetadata | undefined => {
  const { parts, fields } = metadata
  const chars = JSON.stringify([fields, ...parts.map((part) => part.metadata)]).length
  if (chars <= metadataCharsMax) return metadata
  if (hasCalls) throw metadataTooLarge(chars)
  return undefined
}

const withoutOnlyText = (parts: AnswerPart[]): AnswerPart[] => {
  const reasoned = parts.filter(({ type }) => type === 'reasoning')
  const isSeveral = reasoned.length > 1
  return parts.map((part) => {
    if (part.type !== 'reasoning' || isSeveral) return part
    const { text: _, ...rest } = part
    return rest
  })
}

/** Text that is the reasoning of the message is not kept twice. */
const messageFields = (message: Record<string, unknown>, reasoning: string): Pick<ProviderMetadata, 'fields' | 'reasoningFields'> => {
  const entries = Object.entries(message)
  const same = entries.filter(([, value]) => value === reasoning && reasoning !== '').map(([name]) => name)
  const rest = entries.filter(([name]) => !same.includes(name))
  return definedOf({
    fields: rest.length > 0 ? Object.fromEntries(rest) : undefined,
    reasoningFields: same.length > 0 ? same : undefined,
  })
}

/** Later values win, but for null: providers fill in at the end what they had left open at the start. */
const attach = (part: AnswerPart, given: unknown): void => {
  if (!isRecord(given)) return
  for (const [provider, values] of Object.entries(given)) {
    if (!isRecord(values)) continue
    const known = Object.entries(values).filter(([, value]) => value !== null && value !== undefined)
    if (known.length === 0) continue
    const metadata: Metadata = part.metadata ?? {}
    metadata[provider] = { ...metadata[provider], ...Object.fromEntries(known) }
    part.metadata = metadata
  }
}
