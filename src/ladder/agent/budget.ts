/** A budget as its author writes it. */
import { LadderError } from '../errors.ts'
import type { Budget } from './budget.rules.ts'

const limits = ['maxTokens', 'maxCostUSD', 'maxLatencyMs'] as const

/** @throws LadderError LADDER_CONFIG naming what is wrong */
export const checkedBudget = (agent: string, budget: Budget): Budget => {
  const wrong = (message: string, hint: string): LadderError => new LadderError('LADDER_CONFIG', message, { hint, context: { agent } })
  const { onViolation = 'abort', fallback, ...given } = budget
  const known: readonly string[] = limits
  const strange = Object.keys(given).find((limit) => !known.includes(limit))
  if (strange !== undefined) throw wrong(`the budget of '${agent}' has '${strange}'`, `it takes ${limits.join(', ')}, onViolation and fallback`)
  for (const limit of limits) {
    const value = given[limit]
    if (value !== undefined && !(typeof value === 'number' && Number.isFinite(value) && value > 0))
      throw wrong(`${limit} of '${agent}' is ${String(value)}`, 'it is a number above 0')
  }
  if (limits.every((limit) => given[limit] === undefined))
    throw wrong(`the budget of '${agent}' limits nothing`, `give it one of ${limits.join(', ')}`)
  if (onViolation !== 'abort' && onViolation !== 'fallback')
    throw wrong(`onViolation of '${agent}' is '${String(onViolation)}'`, "it is 'abort' or 'fallback'")
  if (onViolation === 'fallback' ? !(typeof fallback === 'string' && /^[^/]+\/./.test(fallback)) : fallback !== undefined)
    throw wrong(
      `the budget of '${agent}' ${onViolation === 'fallback' ? 'names no model to fall back to' : 'has a fallback, and aborts'}`,
      "write onViolation: 'fallback', fallback: 'provider/model-id'",
    )
  return budget
}
