/**
 * What a provider attaches to its own answer and wants back unchanged: signatures of reasoning and of calls, encrypted reasoning, fields of its own.
 * Opaque to everything but its provider. It stands in the journal beside the answer, and no page, log or redacted export shows it.
 */
import { z } from 'zod'

/** As the AI SDK has it: by the name of the provider, any JSON. */
const Metadata = z.record(z.string(), z.record(z.string(), z.unknown()))
export type Metadata = Record<string, Record<string, unknown>>

const metadata = Metadata.optional()

/** `text` of a reasoning is left out where the answer has only one: it is that of the message. `length` counts UTF-16 units of the text of the message. */
const Part = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('text'), length: z.int().min(0), metadata }),
  z.strictObject({ type: z.literal('reasoning'), text: z.string().optional(), metadata }),
  z.strictObject({ type: z.literal('call'), callId: z.string(), metadata }),
])

export const ProviderMetadata = z.strictObject({
  /** The provider and the family of the model that wrote it: no other gets it. */
  source: z.string(),
  /** The answer in its order. */
  parts: z.array(Part),
  /** Fields of the whole message on the wire of an OpenAI-compatible server. */
  fields: z.record(z.string(), z.unknown()).optional(),
  /** Names of such fields that hold the reasoning of the message. */
  reasoningFields: z.array(z.string()).optional(),
})
export type ProviderMetadata = z.infer<typeof ProviderMetadata>
export type AnswerPart = ProviderMetadata['parts'][number]

/** Characters of JSON that one answer may carry, beside its texts. Encrypted reasoning of a long step has some tens of thousands. */
export const metadataCharsMax = 512 * 1024
