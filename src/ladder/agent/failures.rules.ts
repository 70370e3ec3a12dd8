/** How an agent fails, in the codes of the ladder. Pure. */
import type { AskOutput, ErrorBody } from '../../index.ts'
import { type LadderCode, type LadderErrorBody, ladderCodes } from '../errors.ts'

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
  return {
    code: own,
    category: ladderCodes[own],
    message,
    ...(hint !== undefined && { hint }),
    context: { code, model: spent.model, ...data, ...factsOf({ code, ...(data && { data }) }, spent) },
  }
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
    case 'provider_rate_limit':
      return typeof data?.retryAfterMs === 'number' ? { retryAfter: data.retryAfterMs } : {}
    default:
      return {}
  }
}

/** An answer that its provider kept back, or cut off. */
export const finishError = (finish: AskOutput['finish']): LadderErrorBody | undefined =>
  finish === 'content-filter'
    ? { code: 'CONTENT_FILTER', category: 'provider', message: 'the provider kept the answer back', context: { finish } }
    : undefined

export const cancelledError = (name: string, reason: string | null, trips: number): LadderErrorBody => ({
  code: 'AGENT_CANCELLED',
  category: 'cancelled',
  message: `'${name}' was cancelled`,
  hint: 'resume() goes on with it where it was stopped',
  context: { cancelledAt: trips, reason },
})
