/** An author's own model is trusted no more than a provider: its time is bounded, and its answer is checked before a turn sees it. */

import { z } from 'zod'
import { definedOf } from '../contracts/defined.ts'
import type { Clock } from '../contracts/environment.ts'
import { messageOf, RuntimeError } from '../contracts/errors.ts'
import { Usage } from '../contracts/message.ts'
import type { Model, ModelDelta, ModelInfo, ModelResponse } from '../contracts/model.ts'
import { detached } from '../contracts/plain.ts'
import { ProviderMetadata } from '../contracts/provider-metadata.ts'
import { type Answer, tooLong } from './answer.ts'
import { boundedMetadata } from './answer-parts.ts'
import { boundedCall, type Production } from './bounded.ts'
import { classify, type Hints } from './classify.ts'
import { providerError } from './provider-error.ts'
import { usageFrom } from './usage-fields.ts'

const Response = z.object({
  text: z.string(),
  reasoning: z.string(),
  calls: z.array(z.object({ callId: z.string(), name: z.string(), input: z.string() })),
  // A model that wraps a provider often hands on what the provider reports.
  usage: z.union([Usage, z.preprocess((reported) => usageFrom(reported) ?? reported, Usage)]),
  finish: z.enum(['stop', 'length', 'tool-calls', 'content-filter', 'other']),
  model: z.string(),
  partial: z.boolean(),
  providerMetadata: ProviderMetadata.optional(),
})

const tokens = z.int().min(1)
const usd = z.number().min(0).max(1_000_000)
const Info = z.strictObject({
  contextTokens: tokens.optional(),
  reasoning: z.boolean().optional(),
  xhigh: z.boolean().optional(),
  price: z.strictObject({ input: usd, output: usd, cacheRead: usd.optional(), cacheWrite: usd.optional() }).optional(),
})

/**
 * Under the limits of the request, as any provider: an answer that is late, too long or nonsense is an error, and an abort resolves at once
 * with the text of the deltas so far.
 * @throws RuntimeError bad_request for what is no model; from `call` provider_malformed, naming the field, or provider_timeout
 */
export const checked = (model: Pick<Model, 'call' | 'contextTokens' | 'info' | 'accepts'>, { ref, clock }: { ref: string; clock: Clock }): Model => {
  if (typeof model !== 'object' || model === null || typeof model.call !== 'function')
    throw new RuntimeError('bad_request', `what was registered as the model ${ref} is not a model`, {
      field: 'models',
      hint: 'register an object with call(request, { signal, onDelta }), a model of the AI SDK, or a script',
    })
  const { contextTokens } = model
  if (contextTokens !== undefined && !(Number.isSafeInteger(contextTokens) && contextTokens > 0))
    throw new RuntimeError('bad_request', `contextTokens of the model ${ref} is ${shown(contextTokens)}`, {
      field: 'contextTokens',
      hint: 'give the number of tokens that it can read, a whole number above 0, or leave it out',
    })
  const info = infoOf(model.info, ref)
  const { accepts } = model
  return {
    ref,
    ...definedOf({ contextTokens, info, accepts }),
    call: (request, { signal, onDelta }) =>
      boundedCall({ ref, clock, request, signal, onDelta }, async (production) => {
        const classified = (thrown: unknown) => classify(thrown, { now: clock.now(), summary: `the model ${ref} failed`, hints: hintsOfOwn })
        const deltas = new Deltas(ref, production.answer, (error) => production.refuse(classified(error)))
        try {
          // A copy: what it is asked with is the conversation itself, also for the calls to come.
          const response = await model.call(detached(request), { signal: production.signal, onDelta: (delta) => deltas.take(delta) })
          return responseOf(response, ref, production, request.limits.outputCharsMax)
        } catch (thrown) {
          throw classified(thrown)
        }
      }),
  }
}

const infoOf = (info: unknown, ref: string): ModelInfo | undefined => {
  if (info === undefined) return undefined
  const result = Info.safeParse(info)
  if (result.success) return result.data as ModelInfo
  const [issue] = result.error.issues
  const field = ['info', ...(issue?.path ?? [])].map(String).join('.')
  throw new RuntimeError('bad_request', `${field} of the model ${ref}: ${issue?.message}`, {
    field,
    hint: 'see ModelInfo in src/contracts/model.ts; prices are USD per million tokens',
  })
}

/** An error of an author's model tells the runtime little unless it has one of our codes. */
const hintsOfOwn: Hints = (code, status) =>
  code === 'provider_unavailable' && status === undefined
    ? "look at what the model's call() throws; a RuntimeError with a provider_… code tells the runtime what to do"
    : undefined

/** Takes deltas and never throws: they come from timers and listeners of the model, where an error would end the process. */
class Deltas {
  private readonly ref: string
  private readonly answer: Answer
  private readonly refuse: (error: unknown) => void
  private isRefused = false

  /** @param refuse ends the call, where a delta is nonsense or one too many */
  constructor(ref: string, answer: Answer, refuse: (error: unknown) => void) {
    this.ref = ref
    this.answer = answer
    this.refuse = refuse
  }

  take(delta: ModelDelta): void {
    if (this.isRefused) return
    try {
      const { kind, text } = (delta ?? {}) as Partial<ModelDelta>
      if (kind !== 'text' && kind !== 'reasoning') throw notDelta(this.ref, `kind: ${shown(kind)}`)
      if (typeof text !== 'string') throw notDelta(this.ref, `text: ${shown(text)}`)
      this.answer.add(kind, text)
    } catch (thrown) {
      this.isRefused = true
      this.refuse(thrown)
    }
  }
}

const responseOf = (response: unknown, ref: string, { answer, signal }: Production, charsMax: number): ModelResponse => {
  const { calls, providerMetadata, ...rest } = parsed(response, ref)
  if (rest.partial && !signal.aborted)
    throw providerError('provider_malformed', `the model ${ref} stopped before the end of its answer`, {
      hint: '`partial: true` is for a call that its signal has stopped; throw when the answer is incomplete',
    })
  const sizes = calls.map(({ callId, name, input }) => callId.length + name.length + input.length)
  // Counted anew: the deltas before were the same text.
  if (sizes.reduce((sum, size) => sum + size, rest.text.length + rest.reasoning.length) > charsMax) throw tooLong(charsMax)
  for (const call of calls) answer.addCall(call)
  const metadata = providerMetadata && boundedMetadata(providerMetadata, calls.length > 0)
  return { ...rest, calls: answer.response(rest.finish).calls, ...definedOf({ providerMetadata: metadata }) }
}

const parsed = (response: unknown, ref: string): z.infer<typeof Response> => {
  let problem: string
  try {
    const result = Response.safeParse(response)
    if (result.success) return result.data
    const [issue] = result.error.issues
    problem = `${issue?.path.join('.') || 'answer'}: ${issue?.message}`
  } catch (thrown) {
    problem = `it cannot be read: ${messageOf(thrown)}`
  }
  throw providerError('provider_malformed', `the model ${ref} answered with something else than a ModelResponse: ${problem}`, {
    hint: 'see ModelResponse in src/contracts/model.ts for what `call` must resolve to',
  })
}

const notDelta = (ref: string, problem: string): RuntimeError =>
  providerError('provider_malformed', `the model ${ref} emitted something else than a ModelDelta: ${problem}`, {
    hint: "call onDelta({ kind: 'text', text }) or onDelta({ kind: 'reasoning', text })",
  })

const shown = (value: unknown): string => {
  if (typeof value === 'string') return JSON.stringify(value.slice(0, 40))
  return typeof value === 'object' && value !== null ? 'an object' : String(value)
}
