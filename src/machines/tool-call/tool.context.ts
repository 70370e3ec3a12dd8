/** What a tool call knows, and the pure functions over it; the chart in tool.machine.ts says when they are used. */
import { definedOf } from '../../contracts/defined.ts'
import type { ErrorBody } from '../../contracts/errors.ts'
import type { ToolOutcome } from '../../contracts/tool.ts'
import type { ToolInput } from '../../contracts/tool-call.ts'
import type { Approval, TranscriptItem } from '../../contracts/turn.ts'
import { commitTime } from '../loop/work-time.rules.ts'

/** `attemptMax` is the tool's own, until a worker is lost. */
export type Context = ToolInput & { attempt: number; attemptMax: number; error: ErrorBody | null }

/** Attempts in all, once a worker was lost: with the pauses between them half a minute for another one to come up. */
export const attemptMaxOfLost = 8

/** Another input of a call, and the hash of it as canonical JSON. */
type Edited = { input: unknown; inputHash: string }

export type ToolEvent =
  | {
      type: 'approve'
      callId: string
      decision: 'approve' | 'deny'
      inputHash: string
      attempt: number
      remember?: 'session' | undefined
      by?: string | undefined
      note?: string | undefined
      /** It runs with that in the place of what the model wrote. */
      edited?: Edited | undefined
    }
  /** What became of a call that somebody else has run. */
  | { type: 'answer'; callId: string; output?: unknown; error?: ErrorBody }
  | { type: 'cancel' }

/** What a tool call tells its turn. `result` is what stands for it in the transcript: the tool's journalled answer, or what was made up in its place. */
export type ToolReport =
  | { type: 'tool.waiting'; approval: Approval }
  | { type: 'tool.decided'; callId: string }
  /** Whoever is above runs it, and sends an `answer`. */
  | { type: 'tool.delegated'; callId: string; name: string; input: unknown }
  /** `output` where a tool gave one: `result` only names it then. */
  | {
      type: 'tool.finished'
      callId: string
      status: ToolOutcome['status']
      result: TranscriptItem
      output?: unknown
      artifacts?: Record<string, unknown>
    }

/** The attempt that a person is asked about. */
export const asked = (context: Context): number => context.attempt + (isInDoubt(context) ? 1 : 0)

export const decides = (context: Context, event: ToolEvent, decision: 'approve' | 'deny'): boolean =>
  event.type === 'approve' && event.inputHash === context.call.inputHash && event.attempt === asked(context) && event.decision === decision
export const isInDoubt = ({ error }: Context): boolean => error?.code === 'tool_in_doubt'

/** ms that a person is waited for by a call of an earlier build, whose journal holds that timer. */
const earlierTimeoutMs = 120_000
export const longestPatienceMs = 86_400_000
/** ms that a person is waited for; 0 is without a deadline. */
export const patienceMs = ({ approval, pauses }: Context): number => approval?.timeoutMs ?? (pauses ? 0 : earlierTimeoutMs)
/** What a crash has left open is not decided by silence: a no would say that it did not run, which nobody knows. */
export const expires = (context: Context): boolean => !isInDoubt(context) && patienceMs(context) > 0

/** When a person was asked, and when silence decides. What earlier builds journalled has neither. */
export const questionTimes = (context: Context): Pick<Approval, 'at' | 'deadline' | 'onTimeout'> => {
  const at = context.pauses && commitTime()
  if (at === undefined || !expires(context)) return definedOf({ at: at || undefined })
  const { approval } = context
  return { at, deadline: at + patienceMs(context), ...(approval?.onTimeout === 'allow' && { onTimeout: 'allow' }) }
}

/** Who refuses may be a door that nobody can answer at. */
export const refusal = ({ by, note }: { by?: string | undefined; note?: string | undefined }): string =>
  `this call was refused${by ? ` by ${by}` : ''}${note ? `: ${note}` : ''}`

/** What the model reads of a silent call that went well. */
const unsaid = 'done'

/** What stands in the transcript of a call that went well. @param item where nothing is to be hidden */
export const shownResult = ({ call: { callId, name, silent } }: Context, item: TranscriptItem): TranscriptItem =>
  silent ? { role: 'tool', callId, name, output: unsaid, isError: false } : item

/** What the model reads in place of a result. */
export const failure = ({ error }: Context) => {
  const { code, message, hint } = error ?? { code: 'cancelled', message: 'the call was cancelled' }
  return { error: { code, message, ...definedOf({ hint }) } }
}

export const isDelegated = ({ call, delegates }: Context): boolean => call.delegated === true && delegates === true

/** The call as a person wants it. */
export const callSince = (context: Context, event: ToolEvent): Context['call'] =>
  event.type === 'approve' && event.edited && decides(context, event, 'approve') ? { ...context.call, ...event.edited } : context.call

/** A person has to agree, and has not done so for all calls of the tool. */
export const mustAsk = ({ call, allowed }: Context): boolean => call.needsApproval && allowed?.includes(call.name) !== true
