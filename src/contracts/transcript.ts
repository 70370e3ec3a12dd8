/** What stands in a journal for the transcript of a session, as a schema for journals that somebody else may have written. */
import { z } from 'zod'
import { FileRefs } from './file.ts'
import { ProviderMetadata } from './provider-metadata.ts'

const Call = z.looseObject({ callId: z.string(), name: z.string() })

const Message = z.discriminatedUnion('role', [
  z.looseObject({ role: z.literal('user'), id: z.string(), text: z.string(), before: z.string().optional(), files: FileRefs.optional() }),
  z.looseObject({
    role: z.literal('assistant'),
    id: z.string(),
    text: z.string(),
    reasoning: z.string().optional(),
    calls: z.array(Call),
    providerMetadata: ProviderMetadata.optional(),
  }),
  z.looseObject({ role: z.literal('tool'), callId: z.string(), name: z.string(), isError: z.boolean() }),
  z.looseObject({ role: z.literal('summary'), id: z.string(), text: z.string() }),
])

const Prompt = z.looseObject({
  ids: z.array(z.string()),
  dropped: z.looseObject({ count: z.number().int().min(0), lines: z.array(z.string()) }).optional(),
  before: z.string().optional(),
})

const Item = z.union([z.string(), Message, z.looseObject({ prompt: Prompt }), z.looseObject({ content: z.string() })])

const Payload = z.looseObject({ text: z.string().optional() })

/** A fact about the conversation: what becomes part of it, what goes, what became of messages. */
export const TranscriptNote = z.strictObject({
  type: z.literal('transcript'),
  add: z.array(Item).optional(),
  compact: z.strictObject({ keep: z.number().int().min(0), summary: z.string() }).optional(),
  clear: z.literal(true).optional(),
  drop: z.array(z.string()).optional(),
  ended: z
    .array(
      z.looseObject({
        runId: z.string(),
        status: z.enum(['completed', 'failed', 'cancelled']),
        outcome: z.string(),
        ids: z.array(z.string()),
        answerId: z.string().nullable(),
        reply: z.union([Payload, z.array(Payload)]).optional(),
      }),
    )
    .optional(),
})

/** What an effect answered, as far as the transcript takes it. */
export const TranscriptContent = z.discriminatedUnion('kind', [
  z.looseObject({
    kind: z.literal('model'),
    id: z.string(),
    text: z.string(),
    reasoning: z.string(),
    calls: z.array(Call),
    providerMetadata: ProviderMetadata.optional(),
  }),
  z.looseObject({ kind: z.literal('tool'), id: z.string(), callId: z.string(), name: z.string() }),
  z.looseObject({ kind: z.literal('summary'), id: z.string(), text: z.string() }),
])
