/** What a person decides about a tool call that waits, as the command that a session takes. */
import { definedOf } from '../contracts/defined.ts'
import { RuntimeError } from '../contracts/errors.ts'
import type { Approval } from '../contracts/turn.ts'

/** A tool call that waits for a person, as far as a decision names it. */
export type Question = Pick<Approval, 'callId' | 'inputHash' | 'attempt'>
/** Who decides, and why: kept in the journal. */
export type DecisionOptions = {
  by?: string | undefined
  note?: string | undefined
  /** With a yes: calls of this tool need no further one in this session. */
  remember?: 'session' | undefined
}

const isObject = (value: unknown): boolean => typeof value === 'object' && value !== null

/** @throws RuntimeError bad_request for what is no call or no options; the rest of it is for the schema of the command */
export const decisionCommand = (call: Question, decision: 'approve' | 'deny', options: DecisionOptions) => {
  if (!isObject(call))
    throw new RuntimeError('bad_request', 'a decision needs more than the id of a call', {
      field: 'call',
      hint: 'give the `approval` event, or an entry of (await session.view()).approvals: a decision is about these arguments and this attempt',
    })
  if (!isObject(options))
    throw new RuntimeError('bad_request', 'what stands beside the call must be an object', {
      field: 'options',
      hint: 'write { by, note } for who decides and why, or leave it out',
    })
  const { callId, inputHash, attempt } = call
  return { ...definedOf(options), type: 'approve' as const, callId, inputHash, attempt, decision }
}
