/** The tokens of a model call, however its provider spells them. */
import { definedOf } from '../contracts/defined.ts'
import { tokensMax, type Usage } from '../contracts/message.ts'

/** The counts that were reported; the others are missing. `input` leaves out what came from a cache or went into one, `total` is as reported. */
type TokenCounts = { input?: number; output?: number; cacheRead?: number; cacheWrite?: number; total?: number }

/** Paths into what a provider reports, the first that holds a number counts. */
const inputFields = ['inputTokens', 'inputTokens.total', 'input_tokens', 'promptTokens', 'prompt_tokens', 'input']
const outputFields = ['outputTokens', 'outputTokens.total', 'output_tokens', 'completionTokens', 'completion_tokens', 'output']
const totalFields = ['totalTokens', 'total_tokens', 'total']
const reasoningFields = [
  'reasoningTokens',
  'reasoning_tokens',
  'outputTokens.reasoning',
  'completion_tokens_details.reasoning_tokens',
  'output_tokens_details.reasoning_tokens',
]
/** Spellings of providers that count the cache beside the input. */
const readBeside = ['cache_read_input_tokens', 'cacheRead', 'cache_read']
const writtenBeside = ['cache_creation_input_tokens', 'cacheWrite', 'cache_write']
/** Spellings of providers that count it as part of the input. */
const readWithin = [
  'cachedInputTokens',
  'cached_tokens',
  'prompt_tokens_details.cached_tokens',
  'input_tokens_details.cached_tokens',
  'inputTokens.cacheRead',
]
const writtenWithin = ['cacheWriteTokens', 'inputTokens.cacheWrite']

/** Sorts what a provider reports; an impossible number of tokens is left out. */
export const tokenCounts = (reported: unknown): TokenCounts => {
  const find = finder(reported)
  const whole = find(inputFields)
  const output = find(outputFields)
  const total = find(totalFields)
  const [read, written] = [find(readBeside), find(writtenBeside)]
  const [readInside, writtenInside] = [read === undefined ? find(readWithin) : undefined, written === undefined ? find(writtenWithin) : undefined]
  const cacheRead = read ?? readInside
  const cacheWrite = written ?? writtenInside
  const input = whole === undefined ? undefined : Math.max(0, whole - (readInside ?? 0) - (writtenInside ?? 0))
  return definedOf({ input, output, cacheRead, cacheWrite, total })
}

/** What was reported, as our usage; undefined when none of its fields is known. Of what is missing, the total tells the input. */
export const usageFrom = (reported: unknown): Usage | undefined => {
  const counts = tokenCounts(reported)
  if (Object.keys(counts).length === 0) return undefined
  const { output = 0, cacheRead = 0, cacheWrite = 0, total = 0 } = counts
  const input = counts.input ?? Math.max(0, total - output - cacheRead - cacheWrite)
  return {
    inputTokens: Math.min(Math.round(input + cacheRead + cacheWrite), tokensMax),
    outputTokens: Math.round(output),
    cachedInputTokens: Math.round(cacheRead),
    reasoningTokens: Math.round(finder(reported)(reasoningFields) ?? 0),
    cacheWriteTokens: Math.round(cacheWrite),
  }
}

const finder =
  (reported: unknown) =>
  (paths: readonly string[]): number | undefined => {
    for (const path of paths) {
      let value = reported
      for (const key of path.split('.')) value = typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[key] : undefined
      if (typeof value === 'number' && value >= 0 && value <= tokensMax) return value
    }
    return undefined
  }
