/** A model of somebody's own is believed no more than a provider: what it answers is checked before a turn sees it. */
import { z } from 'zod'
import { Usage } from '../contracts/message.ts'
import type { Model, ModelResponse } from '../contracts/model.ts'
import { providerError } from './provider-error.ts'

const Response = z.object({
  text: z.string(),
  reasoning: z.string(),
  calls: z.array(z.object({ callId: z.string(), name: z.string(), input: z.string() })),
  usage: Usage,
  finish: z.enum(['stop', 'length', 'tool-calls', 'content-filter', 'other']),
  model: z.string(),
  partial: z.boolean(),
})

/** @throws RuntimeError provider_malformed from `call`, naming the field */
export const checked = (model: Pick<Model, 'call' | 'contextTokens'>, ref: string): Model => ({
  ref,
  ...(model.contextTokens === undefined ? {} : { contextTokens: model.contextTokens }),
  call: async (request, options): Promise<ModelResponse> => {
    const parsed = Response.safeParse(await model.call(request, options))
    if (parsed.success) return parsed.data
    const [issue] = parsed.error.issues
    throw providerError(
      'provider_malformed',
      `the model ${ref} answered with something else than a ModelResponse: ${issue?.path.join('.') || 'answer'}: ${issue?.message}`,
      {
        hint: 'see ModelResponse in src/contracts/model.ts for what `call` must resolve to',
      },
    )
  },
})
