/** What to do where a turn has used up one of its limits; the guards in loop.setup.ts and turn.setup.ts find out that it has. */

/** Which limit each error of the loop is about. */
export const limitOf = { budget_steps: 'steps', budget_tokens: 'tokens', budget_tool_calls: 'toolCalls' } as const

/** @param limit by its name in the options of `agent()` */
export const budgetHint = (limit: 'steps' | 'tokens' | 'toolCalls' | 'wallTimeMs' | 'runTimeoutMs'): string =>
  `raise limits: { ${limit} } of agent(), or ask for less at a time`
