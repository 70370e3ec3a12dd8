/** Counts of tokens that a provider gets wrong on the wire: the AI SDK refuses such a chunk, and with it an answer that is otherwise fine. */
import { isRecord } from '../contracts/record.rules.ts'

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

/** With the count that its format asks for. */
const withCount = (usage: unknown, name: string): Fields => {
  const fields = repaired(usage)
  return typeof fields[name] === 'number' ? fields : { ...fields, [name]: 0 }
}

/**
 * One event of an answer, as Anthropic's messages or OpenAI's chat completions stream it: a count that is no number is left out, as if it had not been reported.
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
  const { type, message, usage } = event
  if (type === 'message_start') {
    if (!isRecord(message)) return undefined
    const counted = withCount(message.usage, 'input_tokens')
    return counted === message.usage ? undefined : JSON.stringify({ ...event, message: { ...message, usage: counted } })
  }
  if (type !== 'message_delta' && (usage === undefined || usage === null)) return undefined
  const counted = type === 'message_delta' ? withCount(usage, 'output_tokens') : repaired(usage)
  return counted === usage ? undefined : JSON.stringify({ ...event, usage: counted })
}
