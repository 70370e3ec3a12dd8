/**
 * Counts of tokens that a provider gets wrong on the wire, or spells in its own way. The AI SDK refuses a chunk with a wrong one, and with it an answer that is
 * otherwise fine; it does not read other spellings.
 */
import { definedOf } from '../contracts/defined.ts'
import { isRecord } from '../contracts/record.rules.ts'
import { countOf, tokenCounts, usageFrom } from './usage-fields.ts'

type Fields = Record<string, unknown>

/** @returns the same object where nothing is wrong with it; else one without what is wrong */
const repaired = (usage: unknown): Fields => {
  if (!isRecord(usage)) return {}
  const fields = Object.entries(usage).flatMap(([name, value]): [string, unknown][] => {
    if (value === null) return [[name, value]]
    if (name.endsWith('_tokens')) return Number.isFinite(value) ? [[name, value]] : []
    if (name.endsWith('_details')) return isRecord(value) ? [[name, repaired(value)]] : []
    if (name === 'iterations') return Array.isArray(value) && value.every((one) => one === repaired(one)) ? [[name, value]] : []
    return name !== 'service_tier' || typeof value === 'string' ? [[name, value]] : []
  })
  const isSame = fields.length === Object.keys(usage).length && fields.every(([name, value]) => value === usage[name])
  return isSame ? usage : Object.fromEntries(fields)
}

/** With counts by the names of its format. @returns the same object where it has them */
const withCounts = (fields: Fields, counts: Fields): Fields =>
  Object.entries(counts).every(([name, count]) => fields[name] === count || (count === 0 && (fields[name] ?? null) === null))
    ? fields
    : { ...fields, ...counts }

/** Anthropic's names; it counts the cache beside the input. */
const inAnthropicNames = (usage: unknown, required: string): Fields => {
  const { input, output, cacheRead, cacheWrite } = tokenCounts(usage)
  const counts = definedOf({
    input_tokens: input,
    output_tokens: output,
    cache_read_input_tokens: cacheRead,
    cache_creation_input_tokens: cacheWrite,
  })
  const fields = withCounts(repaired(usage), counts)
  return typeof fields[required] === 'number' ? fields : { ...fields, [required]: 0 }
}

/** The names of OpenAI's chat completions, which count the cache as part of the input. */
const inChatNames = (usage: unknown): Fields => {
  const fields = repaired(usage)
  const counts = usageFrom(usage)
  if (counts === undefined) return fields
  const details = (name: string, more: Fields): Fields => {
    const given = isRecord(fields[name]) ? fields[name] : {}
    const full = withCounts(given, more)
    return full === given ? {} : { [name]: full }
  }
  return withCounts(
    {
      ...fields,
      ...details('prompt_tokens_details', { cached_tokens: counts.cachedInputTokens, cache_write_tokens: counts.cacheWriteTokens }),
      ...details('completion_tokens_details', { reasoning_tokens: counts.reasoningTokens }),
    },
    { prompt_tokens: counts.inputTokens, completion_tokens: counts.outputTokens },
  )
}

/** The usage in a chunk of chat completions, in each place where servers put it. */
const usageOf = ({ usage, usageMetadata, choices, x_groq, ...event }: Fields): unknown => {
  const choice = Array.isArray(choices) && isRecord(choices[0]) ? choices[0].usage : undefined
  const native = countOf(event.prompt_eval_count) === undefined ? undefined : event
  return [usage, choice, isRecord(x_groq) ? x_groq.usage : undefined, usageMetadata, native].find((one) => usageFrom(one) !== undefined) ?? usage
}

/**
 * One event of an answer, as Anthropic's messages or OpenAI's chat completions stream it: a count that is no number is left out, as if it had not been reported,
 * and a count by another name gets the name that the format has for it.
 * @returns undefined where nothing is wrong, or it is no event
 */
export const repairedEvent = (json: string): string | undefined => {
  let event: unknown
  try {
    event = JSON.parse(json)
  } catch {
    return undefined
  }
  if (!isRecord(event)) return undefined
  const { type, message } = event
  if (type === 'message_start') {
    if (!isRecord(message)) return undefined
    const counted = inAnthropicNames(message.usage, 'input_tokens')
    return counted === message.usage ? undefined : JSON.stringify({ ...event, message: { ...message, usage: counted } })
  }
  if (type === 'message_delta') {
    const counted = withoutZeros(inAnthropicNames(event.usage, 'output_tokens'))
    return counted === event.usage ? undefined : JSON.stringify({ ...event, usage: counted })
  }
  const usage = usageOf(event)
  if (usage === undefined || usage === null) return undefined
  const counted = inChatNames(usage)
  return counted === event.usage || same(counted, event.usage) ? undefined : JSON.stringify({ ...event, usage: counted })
}

/** Some servers repeat the input as 0 at the end of an answer: what they counted at its beginning stays. */
const withoutZeros = (usage: Fields): Fields => {
  if (usage.input_tokens !== 0) return usage
  const { input_tokens: _, ...fields } = usage
  return Object.fromEntries(Object.entries(fields).filter(([name, value]) => !(name.startsWith('cache_') && value === 0)))
}

const same = (one: Fields, other: unknown): boolean =>
  isRecord(other) && Object.keys(one).length === Object.keys(other).length && Object.entries(one).every(([name, value]) => other[name] === value)
