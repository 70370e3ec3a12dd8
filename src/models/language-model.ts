/** Any model of an AI SDK provider as a model of ours. */
import { definedOf } from '../contracts/defined.ts'
import type { Clock } from '../contracts/environment.ts'
import type { RuntimeError } from '../contracts/errors.ts'
import { noUsage, tokensMax, type Usage } from '../contracts/message.ts'
import type { Model, ModelRequest, ModelResponse } from '../contracts/model.ts'
import type { Answer } from './answer.ts'
import { AnswerParts } from './answer-parts.ts'
import { boundedCall, type Production } from './bounded.ts'
import { classify, type Hints } from './classify.ts'
import { inWords, refusesFormat, refusesSchema } from './format-words.ts'
import { metadataSource } from './model-family.ts'
import { partStream, type StreamPart } from './older-models.ts'
import { callOptions, checksReasoning } from './prompt.ts'
import { providerError } from './provider-error.ts'
import type { LanguageModel } from './sdk-model.ts'
import { watchBytes } from './signs-of-life.ts'
import { usageFrom } from './usage-fields.ts'

type LanguageModelOptions = {
  ref: string
  clock: Clock
  contextTokens?: number
  /** Values that no error may repeat. */
  secrets?: readonly string[]
  /** What to do about an error of this provider. */
  hints?: Hints
}

/**
 * Streams one answer per call, with no retry of its own: the turn's machine decides about those. An answer counts only when the provider
 * says how it finished; a stream that just ends is provider_malformed.
 * @throws RuntimeError unsupported when the model implements a specification that we do not know
 */
export const languageModel = (model: LanguageModel, { ref, clock, contextTokens, secrets = [], hints }: LanguageModelOptions): Model => {
  const stream = partStream(model)
  const source = metadataSource(model.provider, model.modelId)
  /** Modes for JSON that its provider has refused: some have one for a schema only, or only without tools. */
  const refused = new Set<string>()
  return {
    ref,
    ...definedOf({ contextTokens, accepts: readsPdf(model) ? { pdf: true } : undefined }),
    call: (given, { signal, onDelta }) =>
      boundedCall({ ref, clock, request: given, signal, onDelta }, async (production) => {
        const hintsNow: Hints = (code, status) => (code === 'provider_malformed' && !production.answer.isEmpty ? brokenHint : hints?.(code, status))
        const ask = async (request: ModelRequest): Promise<ModelResponse> => {
          try {
            watchBytes(production.signal, production.alive)
            const options = callOptions(request, model)
            const parts = await stream({ ...options, abortSignal: production.signal })
            const attached = new AnswerParts({ source, isChecked: checksReasoning(options, model) })
            return await readParts(parts, production, attached, ref.slice(0, ref.indexOf('/')), hintsNow)
          } catch (thrown) {
            throw classify(thrown, { now: clock.now(), secrets, hints: hintsNow })
          }
        }
        if (given.format === undefined) return ask(given)
        const mode = `${given.format.schema === undefined ? 'any JSON' : 'schema'}${given.tools.length > 0 ? ' with tools' : ''}`
        if (refused.has(mode)) return ask(inWords(given))
        try {
          return await ask(given)
        } catch (error) {
          if (!refusesFormat(error) || !production.answer.isEmpty || production.signal.aborted) throw error
          // A strict schema was written for the provider, and its caller gets the error. For any other, the instructions describe the form.
          if (refusesSchema(error)) {
            if (given.format.strict) throw error
          } else refused.add(mode)
          return ask(inWords(given))
        }
      }),
  }
}

const readsPdf = ({ supportedUrls }: LanguageModel): boolean =>
  typeof supportedUrls === 'object' && supportedUrls !== null && Object.hasOwn(supportedUrls, 'application/pdf')

/** For an answer that had begun; one that never did may come from a server that is no model provider, or from a page in front of it. */
const brokenHint = 'try again; when it happens every time, look at the server, or a proxy in front of it, that closes connections'

const readParts = async (
  parts: ReadableStream<StreamPart>,
  { answer, signal, alive }: Production,
  attached: AnswerParts,
  provider: string,
  hints: Hints,
): Promise<ModelResponse> => {
  const reader = parts.getReader()
  const reading = new Reading(answer, attached, provider, hints)
  try {
    for (;;) {
      const { done, value } = await reader.read()
      // After an abort the caller has its answer; this only ends the loop.
      if (done || signal.aborted) throw reading.broken('the stream ended in mid-answer')
      alive()
      const finish = reading.take(value)
      if (finish !== undefined) return { ...answer.response(finish), ...definedOf({ providerMetadata: attached.result(answer.reasoned) }) }
    }
  } finally {
    // Also after `finish`: a server may leave the connection open.
    reader.cancel().catch(() => undefined)
  }
}

/** The parts of one stream. Blocks overlap freely; the one thing that is kept per block is how much of a tool input was counted. */
class Reading {
  private readonly answer: Answer
  private readonly attached: AnswerParts
  private readonly provider: string
  private readonly hints: Hints
  private readonly countedInputs = new Map<string, number>()
  /** Calls whose input has begun and not come to its end. */
  private readonly openCalls = new Set<string>()

  constructor(answer: Answer, attached: AnswerParts, provider: string, hints: Hints) {
    this.answer = answer
    this.attached = attached
    this.provider = provider
    this.hints = hints
  }

  broken(message: string): RuntimeError {
    return providerError('provider_malformed', message, { hint: this.hints('provider_malformed', undefined) ?? brokenHint })
  }

  /** @returns how the answer finished, once it has; unknown parts are passed over */
  take(part: StreamPart): ModelResponse['finish'] | undefined {
    switch (part.type) {
      case 'text-start':
      case 'text-delta':
        this.takeDelta('text', part)
        return undefined
      case 'reasoning-start':
      case 'reasoning-delta':
        this.takeDelta('reasoning', part)
        return undefined
      case 'text-end':
        this.attached.end('text', textIn(part.id), part.providerMetadata)
        return undefined
      case 'reasoning-end':
        this.attached.end('reasoning', textIn(part.id), part.providerMetadata)
        return undefined
      case 'tool-input-start':
        this.openCalls.add(textIn(part.id))
        return undefined
      case 'tool-input-delta':
        this.countInput(textIn(part.id), textIn(part.delta).length)
        return undefined
      case 'tool-call':
        this.takeCall(part)
        return undefined
      case 'response-metadata':
        if (typeof part.modelId === 'string' && part.modelId !== '') this.answer.model = `${this.provider}/${part.modelId}`
        return undefined
      case 'error':
        throw part.error
      case 'finish':
        this.answer.usage = usageOf(part.usage)
        this.attached.finish(part.providerMetadata)
        return this.requireAnswer(this.finishOf(part.finishReason))
      default:
        return undefined
    }
  }

  private takeDelta(kind: 'text' | 'reasoning', { id, delta, providerMetadata }: StreamPart): void {
    const text = textIn(delta)
    this.answer.add(kind, text)
    this.attached.take(kind, textIn(id), text, providerMetadata)
  }

  private takeCall(part: StreamPart): void {
    this.openCalls.delete(textIn(part.toolCallId))
    // The provider has run it itself, or will: web search and the like.
    if (part.providerExecuted === true) return
    const callId = textIn(part.toolCallId)
    const input = typeof part.input === 'string' ? part.input : (JSON.stringify(part.input) ?? '')
    this.countInput(callId, Math.max(0, input.length - (this.countedInputs.get(callId) ?? 0)))
    this.attached.call(callId, this.answer.addCall({ callId, name: textIn(part.toolName), input }), part.providerMetadata)
  }

  private countInput(id: string, chars: number): void {
    this.countedInputs.set(id, (this.countedInputs.get(id) ?? 0) + chars)
    this.answer.count(chars)
  }

  /** @throws RuntimeError provider_malformed when a tool call broke off and nothing else was said: it would look like an empty answer */
  private requireAnswer(finish: ModelResponse['finish']): ModelResponse['finish'] {
    if (this.openCalls.size === 0 || this.answer.hasText || this.answer.hasCalls) return finish
    if (finish !== 'length') throw this.broken('a tool call broke off, and there is nothing else in the answer')
    throw providerError('provider_malformed', 'a tool call broke off at the limit of output tokens, and there is nothing else in the answer', {
      hint: 'raise maxOutputTokens of the agent, or ask for less in one call',
    })
  }

  /** @throws RuntimeError provider_malformed or provider_unavailable when this is no regular end */
  private finishOf(reason: unknown): ModelResponse['finish'] {
    const { unified, raw } = (typeof reason === 'object' && reason !== null ? reason : { unified: reason }) as { unified?: unknown; raw?: unknown }
    switch (unified) {
      // Several servers say `stop` although the answer consists of calls.
      case 'stop':
        return this.answer.hasCalls ? 'tool-calls' : 'stop'
      case 'length':
      case 'content-filter':
      case 'tool-calls':
        return unified
      case 'error':
        throw providerError('provider_unavailable', 'the provider ended the answer with an error', { hint: 'try again; it did not say why' })
      case 'interrupted':
        throw this.broken('the stream ended in mid-answer')
      default:
        // Older providers of the AI SDK report a cut stream as `other` without any reason of the server.
        if (raw === undefined) throw this.broken('the stream ended without saying how')
        return 'other'
    }
  }
}

const textIn = (value: unknown): string => (typeof value === 'string' ? value : '')

/** What the package of the AI SDK reads of a provider's report, and what it passes over: each leaves something out that the other has. */
const usageOf = (usage: unknown): Usage => {
  const { inputTokens, outputTokens, raw } = (usage ?? {}) as Record<string, Record<string, unknown> | undefined>
  const reported = usageFrom(raw) ?? noUsage
  return {
    inputTokens: Math.max(tokens(inputTokens?.total), reported.inputTokens),
    outputTokens: Math.max(tokens(outputTokens?.total), reported.outputTokens),
    cachedInputTokens: Math.max(tokens(inputTokens?.cacheRead), reported.cachedInputTokens),
    reasoningTokens: Math.max(tokens(outputTokens?.reasoning), reported.reasoningTokens),
    cacheWriteTokens: Math.max(tokens(inputTokens?.cacheWrite), reported.cacheWriteTokens),
  }
}

/** An impossible number of tokens counts as none reported. */
const tokens = (value: unknown): number => (typeof value === 'number' && value > 0 && value <= tokensMax ? Math.round(value) : 0)
