/** Which model answers where the one that was asked for cannot, and for which errors another one is tried at all. */
import { definedOf } from '../contracts/defined.ts'
import { type ErrorBody, RuntimeError } from '../contracts/errors.ts'
import { type FailoverReason, retryableModelError } from '../contracts/model.ts'
import type { Profile } from '../contracts/profile.ts'
import { refusalText } from '../contracts/refusal-text.ts'
import type { Attempt } from '../contracts/turn.ts'

/** The models to try, in this order and each once: the one that was asked for, the fallbacks, and the primary model where no fallbacks are listed. */
export const candidates = ({ model, fallbacks = [], primary }: Pick<Profile, 'model' | 'fallbacks' | 'primary'>): string[] => [
  ...new Set([model, ...fallbacks, ...(primary === undefined ? [] : [primary])]),
]

/** Fallbacks of the runtime, for an agent that lists none; those that its users may not choose are passed over. */
export const fallbacksFor = (all: readonly string[], allowed: readonly string[] | undefined): string[] =>
  all.filter((ref) => allowed === undefined || allowed.includes(ref))

/**
 * Everything that may pass is a reason (see `retryableModelError`); of the rest, errors of the credential or of the model. For a conversation
 * or a picture that is too large, a stop by a person, or a bound of our own another model is no help.
 * @returns undefined for an error that ends the run
 */
export const failoverReason = (error: ErrorBody): FailoverReason | undefined => {
  switch (error.code) {
    case 'provider_billing':
      return 'billing'
    case 'provider_rate_limit':
      return 'rate_limit'
    case 'provider_auth':
      return 'auth'
    case 'provider_timeout':
    // A deadline that passed; one that a person set off is `cancelled`.
    case 'timeout':
      return 'timeout'
    case 'provider_malformed':
      return 'format'
    case 'provider_unavailable':
      if (overload.test(refusalText(error))) return 'rate_limit'
      return brokenOff.test(refusalText(error)) ? 'timeout' : 'unavailable'
    case 'provider_unknown_model':
      return 'unknown_model'
    case 'provider_rejected':
      return reasonOfRefusal(error)
    default:
      return undefined
  }
}

/** A server that works and is overloaded. */
const overload = /overloaded|at capacity/i
/** A connection that was cut during a request, rather than a server that reports an error. */
const brokenOff = /econnreset|econnaborted|etimedout|esockettimedout|socket hang up|connection (?:was )?(?:reset|aborted)|tim(?:ed|e)[ -]?out/i
/** Providers have opinions on what an id may look like, and the ids in a conversation come from the provider that answered before. */
const toolId = /tool_(?:use|call|result)s?(?:\W{1,3}\d+)?\W{0,3}_?id\b|tool (?:use|call) ids?\b/i
const picture = /\bimages?\b/i

const reasonOfRefusal = (error: ErrorBody): FailoverReason | undefined => {
  if (error.data?.failover === 'context_window') return 'context_window'
  const text = refusalText(error)
  return toolId.test(text) && !picture.test(text) ? 'format' : undefined
}

type Failed = Omit<Attempt, 'reason'>

/**
 * What a run says that no model could answer: the error of its only attempt, or one error for all of them. That one has the code of the first
 * attempt that may pass, since then the whole may, else of the first; `data.attempts` tells each.
 * @throws TypeError without an attempt
 */
export const failureSummary = (attempts: readonly Failed[]): ErrorBody => {
  const [first] = attempts
  if (first === undefined) throw new TypeError('there was no attempt to sum up')
  if (attempts.length === 1) return first.error
  const passing = attempts.filter(({ error }) => retryableModelError(error))
  const { error } = passing[0] ?? first
  const models = new Set(attempts.map(({ model }) => model)).size
  return {
    code: error.code,
    message: `${models === 1 ? first.model : `all ${models} models`} failed: ${attempts.map(told).join(' | ')}`,
    retryable: passing.length > 0,
    hint: error.hint ?? 'data.attempts says what each of them answered',
    data: { ...patience(passing), attempts: attempts.map(entry) },
  }
}

const nameOf = ({ model, credential }: Failed): string => (credential === undefined ? model : `${model} (${credential})`)
const told = (attempt: Failed): string => `${nameOf(attempt)}: ${attempt.error.message}`

const entry = ({ model, credential, error }: Failed) => {
  const reason = failoverReason(error)
  return {
    model,
    code: error.code,
    message: error.message,
    ...definedOf({ credential, reason, status: typeof error.data?.status === 'number' ? error.data.status : undefined }),
  }
}

/** The shortest of the pauses that providers asked for: after it one of them may answer. Undefined where one asked for none. */
const patience = (passing: readonly Failed[]): { retryAfterMs?: number } => {
  const waits = passing.map(({ error }) => (typeof error.data?.retryAfterMs === 'number' ? error.data.retryAfterMs : 0))
  const shortest = waits.length === 0 ? 0 : Math.min(...waits)
  return shortest > 0 ? { retryAfterMs: shortest } : {}
}

/** Tokens that a model must be able to read, or it is not asked. */
const windowMin = 16_000
/** With fewer tokens an agent gets a warning. */
const windowLow = 32_000

/**
 * Whether a model reads enough to work with; what is not known is not held against it.
 * @returns `error` is a reason for the next model, `warning` is for the log
 */
export const windowGuard = (ref: string, contextTokens: number | undefined): { error?: ErrorBody; warning?: string } => {
  if (contextTokens === undefined || contextTokens >= windowLow) return {}
  const message = `the model ${ref} reads only ${contextTokens} tokens`
  if (contextTokens >= windowMin) return { warning: `${message}; with fewer than ${windowLow} an agent does not get far` }
  const data = { contextTokens, windowMin, failover: 'context_window' }
  const hint = `use a model that reads ${windowMin} or more, or correct its contextTokens`
  return { error: new RuntimeError('provider_rejected', `${message}: too few`, { hint, data }).toJSON() }
}
