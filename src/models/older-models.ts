/** Models of the older AI SDK specifications, V3 and V2, as the one that we read, V4. */
import type { LanguageModelV4CallOptions, LanguageModelV4FinishReason, LanguageModelV4Usage } from '@ai-sdk/provider'
import { RuntimeError } from '../contracts/errors.ts'
import type { LanguageModel } from './sdk-model.ts'

/** A part of a stream with its content unchecked: parts that we do not know must be ignored, not refused. */
export type StreamPart = { type: string } & Record<string, unknown>
type PartStream = (options: LanguageModelV4CallOptions) => PromiseLike<ReadableStream<StreamPart>>

/**
 * One way to stream for all versions. Prompts and tools, as far as we send them, have one shape in all three; V3 and V2 do not know the
 * option `reasoning`, and V2 counts and ends in its own way.
 * @throws RuntimeError unsupported for another specification
 */
export const partStream = (model: LanguageModel): PartStream => {
  switch (model.specificationVersion) {
    case 'v4':
      return async (options) => (await model.doStream(options)).stream as ReadableStream<StreamPart>
    case 'v3':
      return async (options) => (await model.doStream(withoutReasoning(options))).stream as ReadableStream<StreamPart>
    case 'v2':
      return async (options) => {
        const { stream } = await model.doStream(withoutReasoning(options))
        return (stream as ReadableStream<StreamPart>).pipeThrough(
          new TransformStream<StreamPart, StreamPart>({
            transform: (part, controller) => controller.enqueue(part.type === 'finish' ? finishOfV2(part) : part),
          }),
        )
      }
    default:
      throw new RuntimeError(
        'unsupported',
        `the model implements specification "${String((model as { specificationVersion: unknown }).specificationVersion)}"`,
        {
          hint: 'use a provider of the AI SDK 5 or later (LanguageModelV2, V3 or V4)',
        },
      )
  }
}

const withoutReasoning = ({ reasoning: _, ...options }: LanguageModelV4CallOptions): Omit<LanguageModelV4CallOptions, 'reasoning'> => options

const finishOfV2 = (part: StreamPart): StreamPart => {
  const { inputTokens, outputTokens, reasoningTokens, cachedInputTokens } = (part.usage ?? {}) as Record<string, number | undefined>
  const usage: LanguageModelV4Usage = {
    inputTokens: { total: inputTokens, noCache: undefined, cacheRead: cachedInputTokens, cacheWrite: undefined },
    outputTokens: { total: outputTokens, text: undefined, reasoning: reasoningTokens },
  }
  const reason = part.finishReason
  const finishReason: LanguageModelV4FinishReason =
    // V2 says `unknown` when the provider gave no reason for stopping: the stream was cut.
    reason === 'unknown'
      ? { unified: 'interrupted', raw: undefined }
      : { unified: reason as LanguageModelV4FinishReason['unified'], raw: String(reason) }
  return { ...part, type: 'finish', usage, finishReason }
}
