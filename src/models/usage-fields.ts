/** The tokens of a model call, however its provider spells them. */
import { definedOf } from '../contracts/defined.ts'
import { tokensMax, type Usage } from '../contracts/message.ts'
import { isRecord } from '../contracts/record.rules.ts'

/** The counts that were reported; the others are missing. `input` leaves out what came from a cache or went into one, `total` is as reported. */
type TokenCounts = { input?: number; output?: number; cacheRead?: number; cacheWrite?: number; total?: number }

/**
 * Paths into what a provider reports, without underscores and capitals: `prompt_tokens` and `promptTokens` are one spelling. The first that holds a count
 * above 0 is taken.
 */
const inputFields = ['inputtokens', 'inputtokens.total', 'prompttokens', 'input', 'prompttokencount', 'promptevalcount']
const outputFields = ['outputtokens', 'outputtokens.total', 'completiontokens', 'output', 'evalcount']
/** Gemini's answer without its thoughts. */
const answerFields = ['candidatestokencount', 'responsetokencount']
const totalFields = ['totaltokens', 'total', 'totaltokencount']
const reasoningFields = [
  'reasoningtokens',
  'outputtokens.reasoning',
  'completiontokensdetails.reasoningtokens',
  'outputtokensdetails.reasoningtokens',
  'outputtokensdetails.thinkingtokens',
  'thoughtstokencount',
]
/** Spellings of providers that count the cache beside the input. */
const readBeside = ['cachereadinputtokens', 'cacheread']
const writtenBeside = ['cachecreationinputtokens', 'cachewriteinputtokens', 'cachewrite']
/** Spellings of providers that count it as part of the input. */
const readWithin = [
  'cachedinputtokens',
  'prompttokensdetails.cachedtokens',
  'inputtokensdetails.cachedtokens',
  'promptcachehittokens',
  'cachedtokens',
  'inputtokens.cacheread',
  'cachedcontenttokencount',
]
const writtenWithin = [
  'cachewritetokens',
  'inputtokens.cachewrite',
  'prompttokensdetails.cachewritetokens',
  'prompttokensdetails.cachecreationtokens',
  'inputtokensdetails.cachewritetokens',
]

/** Sorts what a provider reports; an impossible number of tokens is left out. */
export const tokenCounts = (reported: unknown): TokenCounts => countsIn(fieldsOf(reported))

/** What was reported, as our usage; undefined when none of its fields is known. Of what is missing, the total tells the input. */
export const usageFrom = (reported: unknown): Usage | undefined => {
  const fields = fieldsOf(reported)
  const counts = countsIn(fields)
  if (Object.keys(counts).length === 0) return undefined
  const { output = 0, cacheRead = 0, cacheWrite = 0, total = 0 } = counts
  const input = counts.input ?? Math.max(0, total - output - cacheRead - cacheWrite)
  return {
    inputTokens: Math.min(Math.round(input + cacheRead + cacheWrite), tokensMax),
    outputTokens: Math.round(output),
    cachedInputTokens: Math.round(cacheRead),
    reasoningTokens: Math.round(find(fields, reasoningFields) ?? 0),
    cacheWriteTokens: Math.round(cacheWrite),
  }
}

/** A count of tokens, also in quotes. */
export const countOf = (value: unknown): number | undefined => {
  const count = typeof value === 'string' && /^\d{1,12}(?:\.\d{1,6})?$/.test(value) ? Number(value) : value
  return typeof count === 'number' && count >= 0 && count <= tokensMax ? count : undefined
}

type Fields = ReadonlyMap<string, number>

const fieldsOf = (reported: unknown): Fields => {
  const fields = new Map<string, number>()
  const add = (record: Record<string, unknown>, before: string): void => {
    for (const [key, value] of Object.entries(record)) {
      const path = `${before}${key.replaceAll('_', '').toLowerCase()}`
      const count = countOf(value)
      if (count !== undefined && !fields.has(path)) fields.set(path, count)
      else if (before === '' && isRecord(value)) add(value, `${path}.`)
    }
  }
  if (isRecord(reported)) add(reported, '')
  return fields
}

const find = (fields: Fields, paths: readonly string[]): number | undefined => {
  const counts = paths.flatMap((path) => fields.get(path) ?? [])
  return counts.find((count) => count > 0) ?? counts[0]
}

const countsIn = (fields: Fields): TokenCounts => {
  const [whole, answered, total] = [find(fields, inputFields), outputIn(fields), find(fields, totalFields)]
  const [read, written] = [find(fields, readBeside) ?? 0, find(fields, writtenBeside) ?? 0]
  const cacheRead = find(fields, [...readBeside, ...readWithin])
  const cacheWrite = find(fields, [...writtenBeside, ...writtenWithin])
  // A proxy may report the cache by the names of both kinds: the total, or the same count twice, shows that the input holds it.
  const isInside = (whole ?? 0) + (answered ?? 0) === total || (read > 0 && read === find(fields, readWithin))
  const inside = (isInside || read === 0 ? (cacheRead ?? 0) : 0) + (isInside || written === 0 ? (cacheWrite ?? 0) : 0)
  const input = whole === undefined ? undefined : Math.max(0, whole - inside)
  return definedOf({ input, output: withReasoning(fields, whole, answered, total), cacheRead, cacheWrite, total })
}

const outputIn = (fields: Fields): number | undefined => {
  const answer = find(fields, answerFields)
  return find(fields, outputFields) ?? (answer === undefined ? undefined : answer + (fields.get('thoughtstokencount') ?? 0))
}

/** xAI counts the reasoning beside the output. Only the total shows it. */
const withReasoning = (fields: Fields, whole = 0, output: number | undefined, total: number | undefined): number | undefined => {
  const reasoning = find(fields, reasoningFields)
  return output !== undefined && reasoning && whole + output + reasoning === total ? output + reasoning : output
}
