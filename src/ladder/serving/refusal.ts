/** A request that is refused, before anything runs. */
import { isRuntimeError } from '../../index.ts'
import { type LadderCode, LadderError } from '../errors.ts'

type RefusalCode =
  | 'bad_request'
  | 'unauthorised'
  | 'forbidden'
  | 'not_found'
  | 'method_not_allowed'
  | 'conflict'
  | 'too_large'
  | 'unsupported_type'
  | 'unavailable'
  | 'internal'

const statuses: Record<RefusalCode, number> = {
  bad_request: 400,
  unauthorised: 401,
  forbidden: 403,
  not_found: 404,
  method_not_allowed: 405,
  conflict: 409,
  too_large: 413,
  unsupported_type: 415,
  unavailable: 503,
  internal: 500,
}

export class Refusal extends Error {
  override readonly name = 'Refusal'
  readonly code: RefusalCode
  readonly hint: string | undefined
  readonly context: Record<string, unknown> | undefined

  constructor(code: RefusalCode, message: string, { hint, context }: { hint?: string; context?: Record<string, unknown> } = {}) {
    super(message)
    this.code = code
    this.hint = hint
    this.context = context
  }

  /** @param headers that go with its status, such as `allow` */
  response(headers: Record<string, string> = {}): Response {
    const { code, message, hint, context } = this
    const error = { code, message, ...(hint !== undefined && { hint }), ...(context && { context }) }
    const extra = code === 'unauthorised' ? { 'www-authenticate': 'Bearer' } : code === 'method_not_allowed' ? { allow: 'POST' } : {}
    return Response.json({ error }, { status: statuses[code], headers: { 'cache-control': 'no-store', ...extra, ...headers } })
  }
}

/** What was thrown before a run began; faults of our own are not told outside. */
export const refusalOf = (thrown: unknown): Refusal => {
  if (thrown instanceof Refusal) return thrown
  if (thrown instanceof LadderError)
    return new Refusal(codeOf(thrown), thrown.message, {
      ...(thrown.hint !== undefined && { hint: thrown.hint }),
      context: { ...thrown.context, code: thrown.code },
    })
  if (!isRuntimeError(thrown)) return new Refusal('internal', 'the run could not be begun')
  const code = runtimeCodes[thrown.code] ?? (thrown.retryable ? 'unavailable' : 'internal')
  return new Refusal(code, thrown.message, { ...(thrown.hint !== undefined && { hint: thrown.hint }) })
}

/** Where no runtime has it, that one has ended, or has not begun yet. */
const codeOf = ({ code, category }: LadderError): RefusalCode => {
  return code === 'LADDER_CONFIG' ? 'unavailable' : (runtimeCodes[runtimeCodeOf({ code, category })] ?? 'internal')
}

const ofCallers: readonly LadderCode[] = ['SCHEMA_VALIDATION_FAILED', 'APPROVAL_UNKNOWN', 'ORCHESTRATOR_COMMAND_UNKNOWN', 'PLANNER_PLAN_INVALID']
/** In the words of the runtime. What whoever asked can mend is a bad request; other faults of what was written are those of an author. */
export const runtimeCodeOf = ({ code, category }: Pick<LadderError, 'code' | 'category'>): 'drift' | 'conflict' | 'bad_request' | 'internal' =>
  category === 'drift' ? 'drift' : code === 'INPUT_CONFLICT' ? 'conflict' : ofCallers.includes(code) ? 'bad_request' : 'internal'

const runtimeCodes: Record<string, RefusalCode> = {
  bad_request: 'bad_request',
  too_large: 'too_large',
  not_found: 'not_found',
  conflict: 'conflict',
  drift: 'conflict',
  overloaded: 'unavailable',
  closed: 'unavailable',
}
