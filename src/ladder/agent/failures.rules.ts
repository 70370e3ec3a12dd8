/** How an agent fails, in the codes of the ladder. Pure. */
import type { AskOutput, ErrorBody } from '../../index.ts'
import { errorBody, type LadderCode, type LadderErrorBody } from '../errors.ts'

const codes: Partial<Record<ErrorBody['code'], LadderCode>> = {
  budget_steps: 'AGENT_MAX_TRIPS',
  budget_tokens: 'BUDGET_EXCEEDED',
  budget_tool_calls: 'BUDGET_EXCEEDED',
  budget_time: 'BUDGET_EXCEEDED',
  provider_auth: 'PROVIDER_AUTH',
  provider_billing: 'PROVIDER_QUOTA_EXCEEDED',
  provider_rate_limit: 'PROVIDER_RATE_LIMIT',
  provider_timeout: 'PROVIDER_TIMEOUT',
  provider_overflow: 'CONTEXT_LENGTH_EXCEEDED',
  provider_malformed: 'PROVIDER_ERROR',
  provider_unavailable: 'PROVIDER_ERROR',
  provider_rejected: 'PROVIDER_INVALID_REQUEST',
  provider_unknown_model: 'PROVIDER_INVALID_REQUEST',
  cancelled: 'AGENT_CANCELLED',
}

/** @param spent what the agent has used in the question that failed */
export const errorOf = (
  { code, message, hint, data }: ErrorBody,
  spent: Pick<AskOutput, 'usage' | 'steps' | 'toolCalls' | 'model'>,
): LadderErrorBody => {
  const own = codes[code] ?? 'AGENT_EXEC_FAILED'
  return errorBody(own, message, { hint, context: { code, model: spent.model, ...data, ...factsOf({ code, ...(data && { data }) }, spent) } })
}

const factsOf = (
  { code, data }: Pick<ErrorBody, 'code' | 'data'>,
  { usage, steps, toolCalls }: Pick<AskOutput, 'usage' | 'steps' | 'toolCalls'>,
): Record<string, unknown> => {
  switch (code) {
    case 'budget_steps':
      return { unit: 'trips', actual: steps }
    case 'budget_tokens':
      return { unit: 'tokens', actual: usage.inputTokens + usage.outputTokens }
    case 'budget_tool_calls':
      return { unit: 'tool calls', actual: toolCalls }
    case 'budget_time':
      // Its timer fires when it is reached.
      return { unit: 'ms', ...(typeof data?.limit === 'number' && { actual: data.limit }) }
    case 'provider_rate_limit':
      return typeof data?.retryAfterMs === 'number' ? { retryAfter: data.retryAfterMs } : {}
    default:
      return {}
  }
}

/** An answer that its provider kept back, or cut off. */
export const finishError = (finish: AskOutput['finish']): LadderErrorBody | undefined =>
  finish === 'content-filter' ? errorBody('CONTENT_FILTER', 'the provider kept the answer back', { context: { finish } }) : undefined

export const cancelledError = (name: string, reason: string | null, trips: number): LadderErrorBody =>
  errorBody('AGENT_CANCELLED', `'${name}' was cancelled`, { context: { cancelledAt: trips, reason } })
