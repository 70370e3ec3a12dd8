/** `subAgent()`: a fresh agent for one task, which a caller hands out and survives. */
import { z } from 'zod'
import { LadderError } from '../errors.ts'
import { type Agent, agent } from './agent.ts'
import type { AgentDefinition } from './definition.ts'

/** What one task may take; then it fails with BUDGET_EXCEEDED or AGENT_MAX_TRIPS. */
export type SubAgentBudget = {
  /** Tokens, read and written. */
  maxTokens?: number
  /** Answers of its model. Default: 10. */
  maxTrips?: number
  /** US dollars, of what has a price. */
  maxCostUSD?: number
  /** ms that it may work, people who are asked not counted. */
  maxLatencyMs?: number
}

export type SubAgentDefinition = Omit<AgentDefinition<{ task: string }, undefined>, 'input' | 'prompt' | 'output' | 'maxTrips' | 'budget'> & {
  budget?: SubAgentBudget
}

/**
 * For the tools of an agent, whose model writes the task, or for a step of a workflow: each call is a run of its own with a conversation of its own, inside of
 * the run that calls it. Where its budget is spent, the call fails, and whoever called goes on.
 * @throws LadderError LADDER_CONFIG naming what is wrong with it
 */
export const subAgent = ({
  name = 'sub-agent',
  description = 'Does one task by itself. It knows nothing but what the task says, and answers with what came of it.',
  budget = {},
  limits,
  ...definition
}: SubAgentDefinition = {}): Agent<{ task: string }, string> => {
  const { maxTokens, maxTrips, maxCostUSD, maxLatencyMs, ...others } = budget
  for (const [field, value] of Object.entries({ maxTokens, maxTrips, maxLatencyMs }))
    if (value !== undefined && !(Number.isInteger(value) && value >= 1))
      throw wrong(name, `budget.${field} is ${String(value)}`, 'it is a whole number')
  if (maxCostUSD !== undefined && !(typeof maxCostUSD === 'number' && Number.isFinite(maxCostUSD) && maxCostUSD > 0))
    throw wrong(name, `budget.maxCostUSD is ${String(maxCostUSD)}`, 'it is a number above 0')
  const [other] = Object.keys(others)
  if (other !== undefined) throw wrong(name, `budget has '${other.slice(0, 40)}'`, 'it has maxTokens, maxTrips, maxCostUSD and maxLatencyMs')
  const bounds = {
    ...limits,
    ...(maxTokens !== undefined && { tokens: maxTokens }),
    ...(maxLatencyMs !== undefined && { runTimeoutMs: maxLatencyMs }),
  }
  return agent<{ task: string }>({
    ...definition,
    name,
    description,
    ...(Object.keys(bounds).length > 0 && { limits: bounds }),
    ...(maxTrips !== undefined && { maxTrips }),
    ...(maxCostUSD !== undefined && { budget: { maxCostUSD } }),
    input: z.object({ task: z.string().min(1).describe('what it is to do, with all that it has to know') }),
    prompt: ({ task }) => task,
  })
}

const wrong = (name: string, message: string, hint: string): LadderError => new LadderError('LADDER_CONFIG', `'${name}': ${message}`, { hint })
