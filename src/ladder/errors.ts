/** How a rung of the ladder fails: codes that do not change, and coarse categories to branch on. */

/** By code, what kind of trouble it is: who has to do something, and whether trying again may help. */
export const ladderCodes = {
  LADDER_CONFIG: 'validation',
  SCHEMA_VALIDATION_FAILED: 'validation',
  INPUT_CONFLICT: 'validation',
  APPROVAL_UNKNOWN: 'validation',
  AGENT_EXEC_FAILED: 'execution',
  AGENT_CANCELLED: 'cancelled',
  AGENT_MAX_TRIPS: 'limit',
  AGENT_DRIFT: 'drift',
  BUDGET_EXCEEDED: 'limit',
  GUARDRAIL_VIOLATION: 'policy',
  CONTENT_FILTER: 'provider',
  CONTEXT_LENGTH_EXCEEDED: 'provider',
  PROVIDER_AUTH: 'provider',
  PROVIDER_ERROR: 'provider',
  PROVIDER_INVALID_REQUEST: 'provider',
  PROVIDER_QUOTA_EXCEEDED: 'provider',
  PROVIDER_RATE_LIMIT: 'provider',
  PROVIDER_TIMEOUT: 'timeout',
  TOOL_EXEC_FAILED: 'execution',
  SUPERVISOR_CONFIG: 'validation',
  SUPERVISOR_INTENT_MIXED_DISPATCH: 'validation',
  SUPERVISOR_INTENT_DESCRIPTION_REQUIRED: 'validation',
  SUPERVISOR_FAILED: 'execution',
  SUPERVISOR_MAX_ITERATIONS: 'limit',
  SUPERVISOR_INVALID_ROUTE: 'configuration',
  SUPERVISOR_CANCELLED: 'cancelled',
  SUPERVISOR_DRIFT: 'drift',
  SUPERVISOR_DISPATCH_CYCLE: 'configuration',
  ORCHESTRATOR_CONFIG: 'validation',
  ORCHESTRATOR_FAILED: 'execution',
  ORCHESTRATOR_CANCELLED: 'cancelled',
  ORCHESTRATOR_DRIFT: 'drift',
  ORCHESTRATOR_LOCKED: 'timeout',
  ORCHESTRATOR_LOCK_LOST: 'execution',
  ORCHESTRATOR_COMMAND_UNKNOWN: 'validation',
  PLANNER_FAILED: 'execution',
  PLANNER_PLAN_INVALID: 'validation',
  PLANNER_CANCELLED: 'cancelled',
  PLANNER_DRIFT: 'drift',
  BATCH_CONFIG: 'validation',
  BATCH_FAILED: 'execution',
  BATCH_CANCELLED: 'cancelled',
  BATCH_DRIFT: 'drift',
  STORE_FAILED: 'execution',
  MEMORY_CONFIG: 'validation',
  SCHEDULE_CONFIG: 'validation',
  SCHEDULE_FAILED: 'execution',
  WORKFLOW_ERROR: 'validation',
  WORKFLOW_DRIFT: 'drift',
  WORKFLOW_CANCELLED: 'cancelled',
  WORKFLOW_MAX_STEPS: 'limit',
  WORKFLOW_INVALID_GOTO: 'configuration',
  WORKFLOW_FAILED: 'execution',
  STEP_FAILED: 'execution',
  STEP_IN_DOUBT: 'execution',
  STEP_TIMEOUT: 'timeout',
} as const

export type LadderCode = keyof typeof ladderCodes
export type LadderCategory = (typeof ladderCodes)[LadderCode]

/** What to do next, where whoever makes an error knows nothing better. */
export const ladderHints: Readonly<Record<LadderCode, string>> = {
  LADDER_CONFIG: 'mend it where it is written: see docs/guides',
  SCHEMA_VALIDATION_FAILED: 'the message says what does not fit: mend that, or the schema',
  INPUT_CONFLICT: 'give another name for another input',
  APPROVAL_UNKNOWN: 'pending() lists the calls that wait',
  AGENT_EXEC_FAILED: 'mend what threw, then resume(runId): the answers of the model until there are kept',
  AGENT_CANCELLED: 'resume(runId) goes on with it',
  AGENT_MAX_TRIPS: 'raise maxTrips, or ask for less at a time; resume(runId) goes on',
  AGENT_DRIFT: 'let runs end before their agent changes, or register both under different names',
  BUDGET_EXCEEDED: 'raise the limit, or ask for less at a time; resume(runId) goes on',
  GUARDRAIL_VIOLATION: 'context.reason says why: ask otherwise, or mend the guardrail; resume(runId) asks the model again',
  CONTENT_FILTER: 'ask otherwise, or ask another model: the provider gives no such answer',
  CONTEXT_LENGTH_EXCEEDED: 'give it less to read, a shorter history say, or a model that reads more',
  PROVIDER_AUTH: 'see whether the key of the provider is right, then resume(runId)',
  PROVIDER_ERROR: 'resume(runId) asks the provider again; name other models that may answer',
  PROVIDER_INVALID_REQUEST: 'the message says what the provider does not take: see model, settings and tools of the agent',
  PROVIDER_QUOTA_EXCEEDED: 'pay the provider, or ask another one; then resume(runId)',
  PROVIDER_RATE_LIMIT: 'wait for context.retryAfter ms, if it is said, then resume(runId)',
  PROVIDER_TIMEOUT: 'resume(runId) asks the provider again; give it more time, or another model',
  TOOL_EXEC_FAILED: 'mend the tool: the model was told, and may go on without it',
  SUPERVISOR_CONFIG: 'see docs/guides/supervisors.md',
  SUPERVISOR_INTENT_MIXED_DISPATCH: 'leave agent or run out',
  SUPERVISOR_INTENT_DESCRIPTION_REQUIRED: 'say of each intent when to choose it',
  SUPERVISOR_FAILED: 'cause says what was thrown: mend that, then resume(runId) goes on with the iteration that it stopped in',
  SUPERVISOR_MAX_ITERATIONS: 'raise maxIterations, or let route return END or evaluate { satisfied: true } sooner',
  SUPERVISOR_INVALID_ROUTE: 'choose one of context.availableKeys, several of them, or END',
  SUPERVISOR_CANCELLED: 'resume(runId) goes on with it',
  SUPERVISOR_DRIFT: 'let runs end before their supervisor changes, or register both under different names',
  SUPERVISOR_DISPATCH_CYCLE: 'begin it with start() and do not wait; a supervisor may choose it in another iteration',
  ORCHESTRATOR_CONFIG: 'see docs/guides/orchestrators.md',
  ORCHESTRATOR_FAILED: 'cause says what was thrown: mend that, then execute the turn again; nothing of it was stored',
  ORCHESTRATOR_CANCELLED: 'execute the turn again, with another requestId: nothing of it was stored',
  ORCHESTRATOR_DRIFT: 'execute with force: true, or delete the session',
  ORCHESTRATOR_LOCKED: 'execute the turn again later, or give the lock a longer maxWaitMs: nothing of it was stored',
  ORCHESTRATOR_LOCK_LOST: 'execute the turn again: nothing of it was stored; give the lock a longer ttlMs where it runs out too soon',
  ORCHESTRATOR_COMMAND_UNKNOWN: 'write it into commands of the orchestrator, or command one that is there',
  PLANNER_FAILED: 'the message says which step, cause what was thrown: mend that, then resume(runId) goes on with the plan',
  PLANNER_PLAN_INVALID: 'give the planner clearer descriptions or repair: 1, or approve a plan that can be followed',
  PLANNER_CANCELLED: 'resume(runId) goes on with the plan',
  PLANNER_DRIFT: 'let runs end before their planner changes, or register both under different names',
  BATCH_CONFIG: 'see docs/guides/planner-and-batch.md',
  BATCH_FAILED: 'report.children says why each did; resume(runId) runs those that failed once more',
  BATCH_CANCELLED: 'resume(runId) goes on with the items that have not ended',
  BATCH_DRIFT: 'let runs end before their batch changes, or register both under different names',
  STORE_FAILED: 'see whether the store can be reached; nothing was lost',
  MEMORY_CONFIG: 'see docs/guides/stores-and-memory.md',
  SCHEDULE_CONFIG: 'see docs/guides/schedules.md',
  SCHEDULE_FAILED: 'mend what it runs, or what makes its input; trigger() begins a run at once',
  WORKFLOW_ERROR: 'see docs/guides/workflows.md',
  WORKFLOW_DRIFT: 'let runs end before their steps change, or register both under different names',
  WORKFLOW_CANCELLED: 'resume(runId) goes on with the step that it stopped at',
  WORKFLOW_MAX_STEPS: 'raise maxSteps, or see why its steps go round in circles: report.children has them in their order',
  WORKFLOW_INVALID_GOTO: 'answer { goto: the name of a step }, { end: true }, or nothing',
  WORKFLOW_FAILED: 'mend output of the workflow, then resume(runId): its steps do not run again',
  STEP_FAILED: 'cause says what was thrown: mend the step, then resume(runId) goes on with it; retry and onFailure do so by themselves',
  STEP_IN_DOUBT: 'see whether it was done, then resume(runId) runs it once more; onFailure may look for it',
  STEP_TIMEOUT: 'give it more time with timeoutMs, or say with onFailure what then',
}

/** An error as it stands in reports and journals. */
export type LadderErrorBody = {
  code: LadderCode
  category: LadderCategory
  message: string
  /** What to do next. */
  hint: string
  /** Facts for programs, JSON only. */
  context: Record<string, unknown>
  /** What was thrown, in words. */
  cause?: string
}

type LadderErrorDetails = { hint?: string | undefined; context?: Record<string, unknown>; cause?: unknown }

export class LadderError extends Error {
  override readonly name = 'LadderError'
  readonly code: LadderCode
  readonly category: LadderCategory
  /** What to do next. */
  readonly hint: string
  readonly context: Record<string, unknown>

  constructor(code: LadderCode, message: string, { hint = ladderHints[code], context = {}, cause }: LadderErrorDetails = {}) {
    super(message, cause === undefined ? undefined : { cause })
    this.code = code
    this.category = ladderCodes[code]
    this.hint = hint
    this.context = context
  }

  toJSON(): LadderErrorBody {
    const { code, category, message, hint, context, cause } = this
    return { code, category, message, hint, context, ...(cause !== undefined && { cause: wordsOf(cause) }) }
  }

  static from({ code, message, ...details }: LadderErrorBody): LadderError {
    return new LadderError(code, message, details)
  }
}

/** The same where no object is wanted: in what a machine remembers. */
export const errorBody = (
  code: LadderCode,
  message: string,
  { hint = ladderHints[code], context = {}, cause }: LadderErrorDetails = {},
): LadderErrorBody => ({
  code,
  category: ladderCodes[code],
  message,
  hint,
  context,
  ...(cause !== undefined && { cause: wordsOf(cause) }),
})

/** Whatever was thrown, in words; it may be anything, also what cannot be asked for any. */
export const wordsOf = (thrown: unknown): string => {
  try {
    if (thrown instanceof Error) return thrown.message
    const said = (thrown as { message?: unknown } | null | undefined)?.message
    if (typeof said === 'string') return said
    const words = String(thrown)
    return words === '[object Object]' ? inShort(thrown, 1_000) : words
  } catch {
    return 'something that says nothing'
  }
}

/** What somebody's code has answered, as JSON of a length that can be read; in words where it is none. */
export const inShort = (value: unknown, lengthMax = 80): string => {
  try {
    return (JSON.stringify(value) ?? String(value)).slice(0, lengthMax)
  } catch {
    return 'an object that is no JSON'
  }
}
