/** How a rung of the ladder fails: codes that do not change, and coarse categories to branch on. */

/** By code, what kind of trouble it is: who has to do something, and whether trying again may help. */
export const ladderCodes = {
  LADDER_CONFIG: 'configuration',
  SCHEMA_VALIDATION_FAILED: 'validation',
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
  SUPERVISOR_CONFIG: 'configuration',
  SUPERVISOR_INTENT_MIXED_DISPATCH: 'configuration',
  SUPERVISOR_INTENT_DESCRIPTION_REQUIRED: 'configuration',
  SUPERVISOR_FAILED: 'execution',
  SUPERVISOR_MAX_ITERATIONS: 'limit',
  SUPERVISOR_INVALID_ROUTE: 'configuration',
  SUPERVISOR_CANCELLED: 'cancelled',
  SUPERVISOR_DRIFT: 'drift',
  SUPERVISOR_DISPATCH_CYCLE: 'configuration',
  ORCHESTRATOR_CONFIG: 'configuration',
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
  BATCH_CONFIG: 'configuration',
  BATCH_FAILED: 'execution',
  BATCH_CANCELLED: 'cancelled',
  BATCH_DRIFT: 'drift',
  STORE_FAILED: 'execution',
  MEMORY_CONFIG: 'configuration',
  SCHEDULE_CONFIG: 'configuration',
  SCHEDULE_FAILED: 'execution',
  WORKFLOW_ERROR: 'configuration',
  WORKFLOW_DRIFT: 'drift',
  WORKFLOW_CANCELLED: 'cancelled',
  WORKFLOW_MAX_STEPS: 'limit',
  WORKFLOW_INVALID_GOTO: 'configuration',
  WORKFLOW_FAILED: 'execution',
  STEP_FAILED: 'execution',
  STEP_TIMEOUT: 'timeout',
} as const

export type LadderCode = keyof typeof ladderCodes
export type LadderCategory = (typeof ladderCodes)[LadderCode]

/** An error as it stands in reports and journals. */
export type LadderErrorBody = {
  code: LadderCode
  category: LadderCategory
  message: string
  hint?: string
  /** Facts for programs, JSON only. */
  context: Record<string, unknown>
  /** What was thrown, in words. */
  cause?: string
}

type LadderErrorDetails = { hint?: string; context?: Record<string, unknown>; cause?: unknown }

export class LadderError extends Error {
  override readonly name = 'LadderError'
  readonly code: LadderCode
  readonly category: LadderCategory
  readonly hint: string | undefined
  readonly context: Record<string, unknown>

  constructor(code: LadderCode, message: string, { hint, context = {}, cause }: LadderErrorDetails = {}) {
    super(message, cause === undefined ? undefined : { cause })
    this.code = code
    this.category = ladderCodes[code]
    this.hint = hint
    this.context = context
  }

  toJSON(): LadderErrorBody {
    const { code, category, message, hint, context, cause } = this
    return { code, category, message, context, ...(hint !== undefined && { hint }), ...(cause !== undefined && { cause: wordsOf(cause) }) }
  }

  static from({ code, message, ...details }: LadderErrorBody): LadderError {
    return new LadderError(code, message, details)
  }
}

/** Whatever was thrown, in words; it may be anything, also what cannot be asked for any. */
export const wordsOf = (thrown: unknown): string => {
  try {
    return thrown instanceof Error ? thrown.message : String(thrown)
  } catch {
    return 'something that says nothing'
  }
}
