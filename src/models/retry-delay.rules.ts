/**
 * Reads the retry delay from an error response: from its headers, its JSON body or its message. `Retry-After` is the standard header (RFC 9110 §10.2.3).
 * Gemini, OpenAI, Azure, Groq, Codex and OpenRouter all send responses without it.
 */
import { isRecord } from '../contracts/record.rules.ts'
import { timeUnits } from '../contracts/time-units.ts'

/** @property isThrottled the response is a rate limit. Only then do the `x-ratelimit-*` headers count, which come with every response. */
type Response = { headers: Readonly<Record<string, unknown>>; body: string; text: string; isThrottled: boolean; now: number }

/** @returns ms, 0 or more; undefined when the response names no delay */
export const retryDelayOf = ({ headers, body, text, isThrottled, now }: Response): number | undefined => {
  const known = lowered(headers)
  const fields = body.length <= bodyCharsMax ? fieldsIn(body) : new Map<string, unknown>()
  return (
    retryAfterIn(known, now) ??
    firstOf(Object.entries(units), ([name, unit]) => waitOf(fields.get(name), unit, now)) ??
    retryAfterIn(fields, now) ??
    inWords(`${text.slice(0, wordsMax)} | ${body.slice(0, wordsMax)}`) ??
    (isThrottled ? (ofBudgets(known, now) ?? ofBudgets(fields, now)) : undefined)
  )
}

const bodyCharsMax = 100_000
const wordsMax = 20_000
const partsMax = 500

const firstOf = <Item>(items: readonly Item[], find: (item: Item) => number | undefined): number | undefined => {
  for (const item of items) {
    const found = find(item)
    if (found !== undefined) return found
  }
  return undefined
}

/** The standard headers. OpenRouter repeats those of the upstream server in the body (`error.metadata.headers`). */
const retryAfterIn = (fields: ReadonlyMap<string, unknown>, now: number): number | undefined =>
  waitOf(fields.get('retry-after-ms'), 1, now) ?? waitOf(fields.get('retry-after'), 1_000, now)

/** Fields of JSON bodies, and the ms that a plain number in them counts. */
const units: Readonly<Record<string, number>> = {
  // google.rpc.RetryInfo, a protobuf duration (googleapis/python-genai#1875, dcdpr/jp#1061, AtomicBot-ai/atomic-agent#106).
  retrydelay: 1_000,
  retry_delay: 1_000,
  // google.rpc.ErrorInfo, for responses without RetryInfo (router-for-me/CLIProxyAPI#449).
  quotaresetdelay: 1_000,
  // Codex (NousResearch/hermes-agent#26893, openai/codex#2695).
  resets_in_seconds: 1_000,
  retry_after_ms: 1,
  retryafterms: 1,
  retry_after_seconds: 1_000,
  retry_after: 1_000,
  retryafter: 1_000,
}

const lowered = (headers: Readonly<Record<string, unknown>>): Map<string, unknown> =>
  new Map(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))

/** The fields of a JSON body at any depth, by lower-case name. The outermost field of a name wins. */
const fieldsIn = (body: string): Map<string, unknown> => {
  const found = new Map<string, unknown>()
  const waiting: unknown[] = [parsed(body)]
  for (let parts = 0; parts < partsMax && parts < waiting.length; parts++) {
    const one = waiting[parts]
    if (Array.isArray(one)) waiting.push(...one.slice(0, partsMax))
    if (!isRecord(one)) continue
    for (const [name, value] of Object.entries(one).slice(0, partsMax)) {
      const key = name.toLowerCase()
      if (!found.has(key)) found.set(key, value)
      if (typeof value === 'object') waiting.push(value)
    }
  }
  return found
}

const parsed = (body: string): unknown => {
  try {
    return JSON.parse(body)
  } catch {
    return undefined
  }
}

/** A number of seconds this large is a timestamp: seconds, or ms, since the epoch. */
const epochSecondsMin = 1_000_000_000
const epochMsMin = 1_000_000_000_000

/** @param unit ms that a plain number counts */
const waitOf = (value: unknown, unit: number, now: number): number | undefined => {
  // A protobuf duration as an object.
  if (isRecord(value) && ('seconds' in value || 'nanos' in value))
    return waitOf(Number(value.seconds ?? 0) + Number(value.nanos ?? 0) / 1e9, 1_000, now)
  const text = typeof value === 'number' ? String(value) : typeof value === 'string' ? value.trim() : ''
  if (/^\d+(?:\.\d+)?$/.test(text)) {
    const number = Number(text)
    if (unit === 1 || number < epochSecondsMin) return number * unit
    return Math.max(0, (number < epochMsMin ? number * 1_000 : number) - now)
  }
  const spelt = spelling(text)
  if (spelt !== undefined) return spelt
  const date = /^[a-z]{3}, |^\d{4}-\d\d-\d\d/i.test(text) ? Date.parse(text) : Number.NaN
  return Number.isNaN(date) ? undefined : Math.max(0, date - now)
}

const part = /(\d+(?:\.\d+)?) ?(ms|milliseconds?|s|secs?|seconds?|m|mins?|minutes?|h|hrs?|hours?|d|days?)(?![a-z])/iy

/** Parses the duration at the start of a text, such as `45.837s`, `1m30.5s`, `6m0s` or `2 minutes`, to ms. */
const spelling = (text: string): number | undefined => {
  let at = 0
  let ms = 0
  for (let found = partAt(text, at); found; found = partAt(text, at)) {
    const [whole, number, unit = 's'] = found
    const short = /^(?:ms|milli)/i.test(unit) ? 'ms' : (unit[0] ?? 's').toLowerCase()
    ms += Number(number) * (timeUnits[short] ?? 1_000)
    at += whole.length
    if (text[at] === ' ') at++
  }
  return at === 0 ? undefined : ms
}

const partAt = (text: string, at: number): RegExpExecArray | null => {
  part.lastIndex = at
  return part.exec(text)
}

/** OpenAI and Groq: "Please try again in 5.289s" (Aider-AI/aider#3265); Azure: "Please retry after 33 seconds" (openai/openai-node#1108); Gemini: "Please retry in 53.01s". */
const inWords = (text: string): number | undefined =>
  firstOf([...text.matchAll(/(?:try again|retry|reset)(?: in| after) (?=\d)/gi)].slice(0, 10), ({ 0: match, index }) =>
    spelling(text.slice(index + match.length, index + match.length + 80)),
  )

const budgets = ['requests', 'tokens']
/**
 * The latest reset of an exhausted budget (vectorize-io/hindsight#3508, zed-industries/zed#31531). Azure writes `x-rate-limit` (openai/openai-python#937), and
 * OpenRouter has a single budget.
 */
const ofBudgets = (fields: ReadonlyMap<string, unknown>, now: number): number | undefined => {
  const waits = ['x-ratelimit', 'x-rate-limit'].flatMap((prefix) =>
    ['', ...budgets.map((budget) => `-${budget}`)].flatMap((budget) => {
      const left = fields.get(`${prefix}-remaining${budget}`)
      const wait = waitOf(fields.get(`${prefix}-reset${budget}`), 1_000, now)
      return wait === undefined || wait === 0 || Number(left ?? 0) > 0 ? [] : [wait]
    }),
  )
  return waits.length === 0 ? undefined : Math.max(...waits)
}
