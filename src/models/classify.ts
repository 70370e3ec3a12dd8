/** From what a provider library throws to one of our codes, without a secret in it. */
import { definedOf } from '../contracts/defined.ts'
import { isRuntimeError, type RuntimeError } from '../contracts/errors.ts'
import { isRecord } from '../contracts/record.rules.ts'
import { redact, redactedError } from '../contracts/redact.ts'
import { saysOverflow } from './overflow-words.ts'
import { codeOfStatus, type ProviderCode, providerError } from './provider-error.ts'
import { retryDelayOf } from './retry-delay.rules.ts'

const messageCharsMax = 300
const bodyCharsMax = 2000
const retryAfterMsMax = 3_600_000
const causesMax = 5

type ClassifyOptions = {
  /** ms since the epoch, for a `Retry-After` that is a date */
  now: number
  /** Values to take out of every text, such as the key in use. */
  secrets?: readonly string[]
  /** How the message begins, where something other than a provider failed. */
  summary?: string
  /** A better hint than the general one of a code. */
  hints?: Hints
}

/** By code; a function where the status decides, undefined for the general one. */
export type Hints = (code: ProviderCode, status: number | undefined) => string | undefined

/**
 * Classifies an error of a model call. The message is short and safe to show; what the provider wrote stands, redacted and cut, in
 * `data.body`; `data.retryAfterMs` is set when the server named a delay.
 */
export const classify = (thrown: unknown, options: ClassifyOptions): RuntimeError => {
  if (isRuntimeError(thrown)) return redactedError(thrown)
  try {
    return classified(gather(thrown), options)
  } catch {
    // Its getters throw: nothing more can be known of it.
    return classified(noFacts(), options)
  }
}

const classified = (facts: Facts, { now, secrets = [], summary, hints = () => undefined }: ClassifyOptions): RuntimeError => {
  const code = codeOf(facts)
  const said = saidBy(facts, secrets)
  const begin = summary ?? summaries[code]
  const wait = retryDelayOf({ ...facts, isThrottled: code === 'provider_rate_limit', now })
  const hint = hints(code, facts.status) ?? generalHints[code]
  return providerError(code, said === '' ? begin : `${begin}: ${said}`, {
    hint,
    data: {
      ...definedOf({ status: facts.status }),
      ...definedOf({ retryAfterMs: wait === undefined ? undefined : bounded(wait) }),
      ...definedOf({ body: facts.body === '' ? undefined : redact(facts.body.slice(0, wordsMax), secrets).slice(0, bodyCharsMax) }),
    },
    // The thrown error is not kept as the cause: it carries the request with its headers, and a logger would print them.
  })
}

const summaries: Record<ProviderCode, string> = {
  provider_auth: 'the provider refused the key',
  provider_billing: 'the provider wants payment',
  provider_rate_limit: 'the provider asks to slow down',
  provider_timeout: 'the provider did not answer in time',
  provider_overflow: 'the conversation is too long for the model',
  provider_malformed: 'the provider answered with something unreadable',
  provider_unavailable: 'the provider cannot be reached or is down',
  provider_rejected: 'the provider refused the request',
  provider_unknown_model: 'the provider does not know this model',
}

const generalHints: Partial<Record<ProviderCode, string>> = {
  provider_auth: 'check the API key of this provider',
  provider_billing: 'check the plan and the balance of the account',
  provider_rate_limit: 'wait, or ask the provider for a higher limit',
  provider_timeout: 'try again; when it happens often, use a faster model or ask for less',
  provider_overflow: 'compact the conversation, or use a model that reads more',
  provider_malformed: 'try again; when it happens every time, check the address of the server and that it streams',
  provider_unavailable: 'check the network and the status page of the provider, then try again',
  provider_rejected: 'the provider says why; check the settings, tools and messages that were sent',
  provider_unknown_model: 'check the name of the model',
}

type Facts = { status: number | undefined; headers: Record<string, unknown>; body: string; text: string; names: string[]; systemCodes: string[] }

const noFacts = (): Facts => ({ status: undefined, headers: {}, body: '', text: '', names: [], systemCodes: [] })

/** Walks the chain of causes: `fetch failed` says nothing, its cause says ECONNREFUSED. */
const gather = (thrown: unknown): Facts => {
  const facts = noFacts()
  const texts: string[] = []
  let current: unknown = thrown
  for (let depth = 0; depth < causesMax && current !== undefined && current !== null; depth++) {
    if (typeof current === 'string') texts.push(current)
    if (typeof current !== 'object') break
    const error = current as Record<string, unknown>
    if (typeof error.name === 'string') facts.names.push(error.name)
    for (const key of ['code', 'type'] as const) if (typeof error[key] === 'string') facts.systemCodes.push(error[key])
    if (typeof error.message === 'string') texts.push(error.message)
    facts.status ??= statusOf(error)
    if (isRecord(error.responseHeaders)) facts.headers = error.responseHeaders
    if (facts.body === '') facts.body = bodyOf(error)
    // An error part of a stream is often the provider's own JSON: { error: { type, message } }.
    current = error.cause ?? error.lastError ?? error.error
  }
  facts.text = texts.join(' | ')
  return facts
}

const statusOf = (error: Record<string, unknown>): number | undefined => {
  for (const key of ['statusCode', 'status', 'code'] as const) {
    const value = error[key]
    if (typeof value === 'number' && value >= 400 && value <= 599) return value
  }
  return undefined
}

const bodyOf = (error: Record<string, unknown>): string => {
  if (typeof error.responseBody === 'string' && error.responseBody !== '') return error.responseBody
  if (typeof error.text === 'string') return error.text
  if (error instanceof Error) return ''
  try {
    return JSON.stringify(error) ?? ''
  } catch {
    return ''
  }
}

/** What the words say wins over the status where providers are known to use one status for several things. */
const codeOf = (facts: Facts): ProviderCode => {
  const { status, names, systemCodes } = facts
  const words = `${facts.text.slice(0, wordsMax)}\n${facts.body.slice(0, wordsMax)}\n${systemCodes.join(' ')}`.toLowerCase()
  const isRefusal = status === undefined || status < 500
  if (saysOverflow(words, status)) return 'provider_overflow'
  if (isRefusal && /insufficient_quota|billing_error|billing_hard_limit|credit balance is too low|insufficient credits|payment required/.test(words))
    return 'provider_billing'
  if ((status === 404 || status === 400) && namesNoModel(words)) return 'provider_unknown_model'
  if (status !== undefined) return codeOfStatus(status)
  return codeWithoutStatus(words, names)
}

/** Characters of a provider's text that are looked at. */
const wordsMax = 20_000

/** What follows is looked for once, behind the first such word: behind each of them it would take minutes in a text of nothing else. */
const namesNoModel = (words: string): boolean => {
  const after = (word: string): string => words.slice(words.includes(word) ? words.indexOf(word) + word.length : words.length)
  return (
    /model_not_found|model_not_exist/.test(words) || after('not_found_error').includes('model') || /does not exist|not found/.test(after('model'))
  )
}

const codeWithoutStatus = (words: string, names: string[]): ProviderCode => {
  if (
    names.some((name) => /^AI_(?:JSONParse|TypeValidation|InvalidResponseData|EmptyResponseBody|NoContentGenerated)Error$/.test(name)) ||
    names.includes('SyntaxError')
  )
    return 'provider_malformed'
  if (names.some((name) => name === 'AI_LoadAPIKeyError') || /authentication_error|permission_error|invalid_api_key|incorrect api key/.test(words))
    return 'provider_auth'
  if (/rate_limit|overloaded|too many requests/.test(words)) return 'provider_rate_limit'
  if (names.includes('TimeoutError') || /etimedout|und_err_(?:headers|body|connect)_timeout|timed? ?out|timeout_error/.test(words))
    return 'provider_timeout'
  if (
    /econn|eai_again|enotfound|epipe|ehostunreach|enetunreach|und_err|socket|fetch failed|cannot connect|terminated|network|premature close|api_error|server_error|internal error|service.?unavailable|stream error/.test(
      words,
    )
  )
    return 'provider_unavailable'
  if (
    /invalid_request|invalid_argument|not_found_error/.test(words) ||
    names.some((name) => /^AI_(?:InvalidPrompt|InvalidArgument|UnsupportedFunctionality|LoadSetting)Error$/.test(name))
  )
    return 'provider_rejected'
  // A bare error in mid-stream: what a provider does when it breaks. Taken as such, since trying again is bounded and harmless.
  return 'provider_unavailable'
}

/** The provider's own sentence, if it has one. */
const saidBy = ({ body, text }: Facts, secrets: readonly string[]): string => {
  const sentence = sentenceIn(body) ?? text.split(' | ')[0] ?? ''
  return redact(sentence.slice(0, wordsMax), secrets).replace(/\s+/g, ' ').trim().slice(0, messageCharsMax)
}

const sentenceIn = (body: string): string | undefined => {
  try {
    const parsed: unknown = JSON.parse(body)
    const inner = isRecord(parsed) && isRecord(parsed.error) ? parsed.error : parsed
    return isRecord(inner) && typeof inner.message === 'string' ? inner.message : undefined
  } catch {
    return undefined
  }
}

const bounded = (ms: number): number => Math.round(Math.min(ms, retryAfterMsMax))
