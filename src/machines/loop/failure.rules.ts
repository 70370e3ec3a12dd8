/** What follows when a model fails: another attempt, another credential, another model, less thinking, or the end. */
import { definedOf } from '../../contracts/defined.ts'
import { type ErrorBody, errorBody, isRuntimeError, RuntimeError } from '../../contracts/errors.ts'
import { failoverReasons, retryableModelError } from '../../contracts/model.ts'
import type { ThinkingLevel } from '../../contracts/settings.ts'
import type { Attempt } from '../../contracts/turn.ts'
import { failoverReason, failureSummary } from '../../models/fallback.rules.ts'
import { candidate, type LoopContext } from './loop.context.ts'
import { nextThinking, supportedThinking } from './thinking-support.rules.ts'

/** A provider that asks for more patience than this is not asked again; the caller learns how long it would take. */
const retryAfterMaxMs = 120_000
const backoffMaxMs = 60_000

const retryAfterMs = (error: ErrorBody | null): number => (typeof error?.data?.retryAfterMs === 'number' ? error.data.retryAfterMs : 0)

export const retryDelayMs = ({ asked: { round }, error }: LoopContext): number =>
  Math.max(retryAfterMs(error), Math.min(backoffMaxMs, 500 * 2 ** (round - 1)))

export const mayRetry = ({ asked: { round }, input: { profile } }: LoopContext, error: ErrorBody): boolean =>
  retryableModelError(error) && round < profile.modelAttemptMax && retryAfterMs(error) <= retryAfterMaxMs

/** Its provider has another credential that has not failed in this turn. */
export const mayRotate = (error: ErrorBody): boolean => error.data?.otherCredentials === true && failoverReason(error) !== undefined

/** Whoever wished for a model that does not exist is told so. */
export const mayFallBack = ({ asked: { place, candidates, streamed }, input: { profile } }: LoopContext, error: ErrorBody): boolean => {
  const reason = failoverReason(error)
  const next = candidates[place + 1]
  if (next === undefined || reason === undefined || (reason === 'unknown_model' && next === profile.primary)) return false
  const { on = failoverReasons, midStream = true } = profile.failover ?? {}
  return on.includes(reason) && (midStream || !(streamed === true || hasStreamed(error)))
}

const hasStreamed = (error: ErrorBody): boolean => error.data?.streamed === true

/** Of a call of which a piece has been shown. */
export const afterPieces = (error: unknown): unknown => {
  if (!isRuntimeError(error)) return error
  const { data, ...body } = error.toJSON()
  return RuntimeError.from({ ...body, data: { ...data, streamed: true } })
}

type Failed = Pick<LoopContext, 'error' | 'attempts' | 'asked'>

export const attempted = (context: LoopContext, error: ErrorBody): Failed => {
  const { asked, attempts } = context
  const credential = typeof error.data?.credential === 'string' ? error.data.credential : undefined
  const attempt: Attempt = {
    model: candidate(context),
    ...definedOf({ credential }),
    reason: failoverReason(error) ?? 'other',
    // What the provider wrote stands in the journal as the result of the call.
    error: { code: error.code, message: error.message, retryable: error.retryable },
  }
  return {
    error,
    attempts: [...attempts, attempt].slice(-attemptsMax),
    asked: {
      ...asked,
      ...(credential !== undefined && { tried: [...asked.tried, credential] }),
      ...(hasStreamed(error) && { streamed: true }),
    },
  }
}
const attemptsMax = 50

/** Another credential or model is asked now, which has its own idea of what it can think. */
export const askedAnew = (context: LoopContext, error: ErrorBody, { next }: { next: 'credential' | 'model' }): Failed & { call: number } => {
  const failed = attempted(context, error)
  const asked = { ...failed.asked, thinking: context.input.profile.thinking ?? null, refusedThinking: [] }
  return { ...failed, call: context.call + 1, asked: next === 'model' ? { ...asked, place: asked.place + 1, tried: [] } : asked }
}

export const thinkingLeft = ({ asked: { thinking, refusedThinking } }: LoopContext, error: unknown): ThinkingLevel | undefined => {
  if (thinking === null) return undefined
  const supported = supportedThinking(errorBody(error))
  return supported && nextThinking(supported, [...refusedThinking, thinking])
}

/** What whoever waits is told: of several attempts all. */
export const failure = (context: LoopContext, error: ErrorBody): Partial<LoopContext> => {
  const { attempts } = attempted(context, error)
  return { attempts, error: context.asked.place > 0 ? failureSummary(attempts) : error }
}
