/** An answer as its own provider gets it back: its parts in their order, each with what was attached to it. */
import type { SharedV4ProviderOptions } from '@ai-sdk/provider'
import { definedOf } from '../contracts/defined.ts'
import type { AssistantMessage } from '../contracts/message.ts'
import type { ModelMessage } from '../contracts/model.ts'
import type { AnswerPart, ProviderMetadata } from '../contracts/provider-metadata.ts'
import { familyOf, metadataSource } from './model-family.ts'
import { isAttached, isText } from './raw-fields.ts'
import type { LanguageModel } from './sdk-model.ts'

type Part = { options?: SharedV4ProviderOptions | undefined } & (
  | { type: 'text'; text: string }
  | { type: 'reasoning'; text: string }
  | { type: 'call'; callId: string }
)
/** @property options of the whole message */
export type SentBack = { parts: Part[]; options?: SharedV4ProviderOptions }

type Asked = Pick<LanguageModel, 'provider' | 'modelId'>

/** Whether a message carries what this model, or one of its family at the same provider, has attached. */
export const isFrom = (message: ModelMessage, { provider, modelId }: Asked): boolean =>
  message.role === 'assistant' && message.providerMetadata?.source === metadataSource(provider, modelId)

/** Whether it begins with reasoning that its provider has signed. */
export const isReasoned = (message: ModelMessage): boolean =>
  message.role === 'assistant' &&
  (message.providerMetadata?.parts.some(({ type, metadata }) => type === 'reasoning' && metadata !== undefined) ?? false)

/** Whether it was reasoned, and its provider signed none of that: it cannot go back. */
export const isUnsigned = (message: ModelMessage): boolean =>
  message.role === 'assistant' &&
  (message.providerMetadata?.parts.some(({ type, metadata }) => type === 'reasoning' && metadata === undefined) ?? false)

/**
 * What goes back with each answer of a conversation.
 *
 * What is signed or encrypted always does. Reasoning in plain text does in turns that called tools: there DeepSeek and Kimi refuse a step without it, and
 * elsewhere older models refuse it.
 * @returns undefined where nothing goes back with any
 */
export const sentBack = (
  messages: readonly ModelMessage[],
  model: Asked,
): ((message: AssistantMessage, index: number) => SentBack | undefined) | undefined => {
  const stand = standIn(model)
  if (stand === undefined && !messages.some((message) => message.role === 'assistant' && message.providerMetadata !== undefined)) return undefined
  const working = turnsWithCalls(messages)
  return (message, index) => {
    const isWorking = working.has(index)
    const standing = isWorking ? stand?.(message) : undefined
    if (message.providerMetadata === undefined || !isFrom(message, model)) return standing
    const own = restored(message, message.providerMetadata, isWorking)
    return standing ? completed(own, standing) : own
  }
}

/** An answer that brought less than its provider wants back, such as a step without a thought. */
const completed = (own: SentBack, { parts, options }: SentBack): SentBack => {
  const raw = own.options?.openaiCompatible ?? {}
  const hasReasoning = Object.entries(raw).some(([name, value]) => typeof value === 'string' && isText(name))
  const calls = new Map(parts.flatMap((part) => (part.type === 'call' ? [[part.callId, part.options]] : [])))
  return {
    parts: own.parts.map((part) => (part.type === 'call' && part.options === undefined ? { ...part, options: calls.get(part.callId) } : part)),
    ...definedOf({ options: options && !hasReasoning ? { openaiCompatible: { ...options.openaiCompatible, ...raw } } : own.options }),
  }
}

/** Places of the answers of turns in which tools were called. */
const turnsWithCalls = (messages: readonly ModelMessage[]): Set<number> => {
  const working = new Set<number>()
  let turn: number[] = []
  let calls = false
  for (const [index, message] of messages.entries()) {
    if (message.role === 'user') {
      turn = []
      calls = false
    }
    if (message.role !== 'assistant') continue
    turn.push(index)
    calls ||= message.calls.length > 0
    if (calls) for (const one of turn) working.add(one)
  }
  return working
}

const restored = (message: AssistantMessage, { parts, fields, reasoningFields }: ProviderMetadata, isWorking: boolean): SentBack => {
  const { text, reasoning = '' } = message
  const fits = parts.reduce((sum, part) => sum + (part.type === 'text' ? part.length : 0), 0) === text.length
  const raw = rawOf({ ...Object.fromEntries(reasoningFields?.map((name) => [name, reasoning]) ?? []), ...fields }, isWorking)
  let at = 0
  const sent = parts.flatMap((part): Part[] => {
    const options = optionsOf(part.metadata)
    switch (part.type) {
      case 'text':
        at += part.length
        return fits ? [{ type: 'text', text: text.slice(at - part.length, at), options }] : []
      case 'reasoning':
        // Fields of the message hold it as the server wrote it.
        return options === undefined && (fields !== undefined || reasoningFields !== undefined || !isWorking)
          ? []
          : [{ type: 'reasoning', text: part.text ?? reasoning, options }]
      default:
        return [{ type: 'call', callId: part.callId, options }]
    }
  })
  return { parts: fits ? sent : withText(sent, text), ...definedOf({ options: raw && { openaiCompatible: raw } }) }
}

/** It came as JSON, from the provider or from the journal. Of an imported one, fields of the wire such as `id` are left out. */
const optionsOf = (metadata: AnswerPart['metadata']): SharedV4ProviderOptions | undefined => {
  const options = metadata as SharedV4ProviderOptions | undefined
  if (options?.openaiCompatible === undefined) return options
  return { ...options, openaiCompatible: Object.fromEntries(Object.entries(options.openaiCompatible).filter(([name]) => isAttached(name))) }
}

/** Reasoning in plain text goes back in turns with calls only. An imported journal could name other fields, such as `role`. */
const rawOf = (fields: Record<string, unknown>, isWorking: boolean): SharedV4ProviderOptions[string] | undefined => {
  const sent = Object.entries(fields).filter(([name, value]) => isAttached(name) && (isWorking || typeof value !== 'string' || !isText(name)))
  return sent.length === 0 ? undefined : (Object.fromEntries(sent) as SharedV4ProviderOptions[string])
}

/** A text that an extension has changed stands before the calls, as a whole. */
const withText = (parts: Part[], text: string): Part[] => {
  const calls = parts.findIndex(({ type }) => type === 'call')
  return parts.toSpliced(calls === -1 ? parts.length : calls, 0, { type: 'text', text })
}

/**
 * What providers want with steps that another model has made. Gemini documents a word in place of the signature of the first call; DeepSeek and Kimi take a
 * space, and no empty text, as reasoning (NousResearch/hermes-agent#17341).
 */
const standIn = ({ provider, modelId }: Asked): ((message: AssistantMessage) => SentBack | undefined) | undefined => {
  // JavaScript may register a model without names.
  if (!String(provider).startsWith('openai-compatible')) return undefined
  switch (familyOf(modelId)) {
    case 'gemini':
      return /gemini-[3-9]/.test(modelId) ? unsigned : undefined
    case 'deepseek':
    case 'kimi':
      return ({ text, calls }) =>
        calls.length === 0 ? undefined : { parts: [{ type: 'text', text }], options: { openaiCompatible: { reasoning_content: ' ' } } }
    default:
      return undefined
  }
}

const unsigned = ({ text, calls: [first] }: AssistantMessage): SentBack | undefined =>
  first && {
    parts: [
      { type: 'text', text },
      {
        type: 'call',
        callId: first.callId,
        options: { openaiCompatible: { extra_content: { google: { thought_signature: 'skip_thought_signature_validator' } } } },
      },
    ],
  }
