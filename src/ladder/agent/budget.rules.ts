/** What a run of an agent may use, and what is done when it has used more. Pure. */
import type { LadderUsage } from '../envelope.ts'
import { errorBody, type LadderErrorBody } from '../errors.ts'

/** Looked at after each answer of the model, before its tools run; a resumed run has it anew. */
export type Budget = {
  /** Of all models, those of runs inside of it too. */
  maxTokens?: number
  /** Of what has a price. */
  maxCostUSD?: number
  /** ms since it began. */
  maxLatencyMs?: number
} & (
  | { onViolation?: 'abort'; fallback?: never }
  /** The model goes on that is named here, from then on without a budget. */
  | { onViolation: 'fallback'; fallback: string }
)

/** Facts of `BUDGET_EXCEEDED`, in its `context`: what there may be, and what has been used; of limits `tool calls` and `ms` too. */
export type BudgetExceeded = { unit: 'tokens' | 'USD' | 'ms' | 'tool calls'; limit: number; actual: number }
export type Violation = BudgetExceeded & { unit: 'tokens' | 'USD' | 'ms' }
/** What had been used when it was last begun or gone on with. */
export type Spent = { tokens: number; costUsd: number; at: number }

export const spentAt = ({ total, cost }: LadderUsage, at: number): Spent => ({ tokens: total, costUsd: cost?.total ?? 0, at })

export const violationOf = ({ maxTokens, maxCostUSD, maxLatencyMs }: Budget, before: Spent, now: Spent): Violation | undefined => {
  const used: readonly [Violation['unit'], number | undefined, number][] = [
    ['tokens', maxTokens, now.tokens - before.tokens],
    ['USD', maxCostUSD, now.costUsd - before.costUsd],
    ['ms', maxLatencyMs, now.at - before.at],
  ]
  const [over] = used.flatMap(([unit, limit, actual]) => (limit !== undefined && actual > limit ? [{ unit, limit, actual }] : []))
  return over
}

export const budgetError = (agent: string, { unit, limit, actual }: Violation): LadderErrorBody =>
  errorBody('BUDGET_EXCEEDED', `'${agent}' has used ${actual} ${unit} of ${limit}`, {
    hint: 'raise its budget, or ask for less at a time; resume() goes on with as much again',
    context: { unit, limit, actual },
  })
