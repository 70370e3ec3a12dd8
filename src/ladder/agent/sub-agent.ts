/** `subAgent()`: a fresh agent for one task, which a caller hands out and survives. */
import { z } from 'zod'
import { LadderError } from '../errors.ts'
import { aboveZero, count, type KindsOf, optionsIn } from '../given.ts'
import { partlyWritten } from '../written.ts'
import { type Agent, agent } from './agent.ts'
import { type AgentDefinition, agentKinds } from './definition.ts'

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
export const subAgent = (given: SubAgentDefinition = {}): Agent<{ task: string }, string> => {
  const {
    name = 'sub-agent',
    description = 'Does one task by itself. It knows nothing but what the task says, and answers with what came of it.',
    budget = {},
    limits,
    ...definition
  } = partlyWritten<SubAgentDefinition>(given, 'subAgent', agentKinds)
  const { maxTokens, maxTrips, maxCostUSD, maxLatencyMs } = optionsIn<SubAgentBudget>(budget, budgetKinds, {
    who: `budget of '${name}'`,
    code: 'LADDER_CONFIG',
  })
  const own = ['input', 'prompt', 'output', 'maxTrips'].find((option) => option in definition)
  if (own !== undefined)
    throw new LadderError('LADDER_CONFIG', `'${name}' has '${own}', which subAgent() says itself`, {
      hint: own === 'maxTrips' ? 'write budget: { maxTrips }' : 'leave it out, or write the whole of it with agent()',
    })
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

const budgetKinds: KindsOf<SubAgentBudget> = { maxTokens: count(1), maxTrips: count(1), maxCostUSD: aboveZero, maxLatencyMs: count(1) }
