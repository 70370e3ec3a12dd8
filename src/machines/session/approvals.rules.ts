/** Questions about tool calls that wait for a person. */
import type { Approval } from '../../contracts/turn.ts'

/** Whether just this is asked: a decision is about the arguments that were shown, and about one attempt. */
export const isAsked = (approvals: readonly Approval[], said: Pick<Approval, 'callId' | 'inputHash' | 'attempt'>): boolean =>
  approvals.some(({ callId, inputHash, attempt }) => callId === said.callId && inputHash === said.inputHash && attempt === said.attempt)
