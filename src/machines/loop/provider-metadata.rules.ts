/** What a provider attached to its answers, where an extension has changed one of them, and where the provider no longer takes it. */
import { isRuntimeError } from '../../contracts/errors.ts'
import type { ModelMessage } from '../../contracts/model.ts'
import type { ProviderMetadata } from '../../contracts/provider-metadata.ts'
import { refusalText } from '../../contracts/refusal-text.ts'

/**
 * A provider wants its reasoning as it wrote it, also where an extension has changed what people are shown of it.
 * @param written the reasoning of the provider @param shown what stands in the message
 */
export const keepingReasoning = (metadata: ProviderMetadata, written: string, shown: string): ProviderMetadata => {
  if (written === shown) return metadata
  const { reasoningFields = [], fields, ...rest } = metadata
  const kept = { ...Object.fromEntries(reasoningFields.map((name) => [name, written])), ...fields }
  return {
    ...rest,
    parts: rest.parts.map((part) => (part.type === 'reasoning' ? { ...part, text: part.text ?? written } : part)),
    ...(Object.keys(kept).length > 0 && { fields: kept }),
  }
}

const hasMetadata = (message: ModelMessage): boolean => message.role === 'assistant' && message.providerMetadata !== undefined

/**
 * A signature ends with the key, the organisation or the version of the model that made it. The conversation does not: it goes on without.
 * @returns undefined where an error is about something else, or nothing was attached
 */
export const withoutRefusedMetadata = (error: unknown, messages: ModelMessage[]): ModelMessage[] | undefined =>
  isRuntimeError(error) && error.code === 'provider_rejected' && isAboutMetadata(refusalText(error)) && messages.some(hasMetadata)
    ? messages.map((message) => {
        if (message.role !== 'assistant') return message
        const { providerMetadata: _, ...rest } = message
        return rest
      })
    : undefined

const isAboutMetadata = (text: string): boolean =>
  /signature|encrypted|thinking.{0,3} block|redacted_thinking|thought_|reasoning_(?:content|details|text|opaque)|reasoning.{0,3} item|must be passed back/i.test(
    text,
  )
