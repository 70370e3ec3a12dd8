/** Whether the history itself is what a provider refuses, so that only another conversation helps. */
import type { ErrorBody } from '../../contracts/errors.ts'

/** Why a turn ends with a session that begins anew. */
export type ResetCause = 'compaction_failure' | 'overflow' | 'role_ordering' | 'corrupted_calls'

/** @returns undefined where the conversation can be gone on with */
export const resetCauseOf = (error: ErrorBody): ResetCause | undefined =>
  error.data?.compaction === true && aboutContent.has(error.code) ? 'compaction_failure' : refusedHistory(error)

/** Of a summary that failed for another reason, such as a key that was refused, another try may know better: the conversation stays. */
const aboutContent = new Set<string>(['provider_overflow', 'provider_rejected', 'provider_malformed'])

/** What a provider that refuses a request has against its history. */
export const refusedHistory = (error: ErrorBody): Exclude<ResetCause, 'compaction_failure'> | undefined => {
  if (error.code === 'provider_overflow') return 'overflow'
  if (error.code !== 'provider_rejected') return undefined
  const said = providerText(error)
  if (corruptedCalls.test(said)) return 'corrupted_calls'
  return roleOrdering.test(said) ? 'role_ordering' : undefined
}

/** What a provider wrote, the beginning of it. */
export const providerText = ({ message, data }: ErrorBody): string => `${message}\n${typeof data?.body === 'string' ? data.body : ''}`.slice(0, 5000)

const corruptedCalls =
  /function call turn comes immediately after|tool_use.{0,60}(?:without|missing).{0,60}tool_result|unexpected.{0,20}tool_use_id|tool_calls?.{0,20} must be followed by|role.{0,5}tool.{0,40}must be a response/is
const roleOrdering =
  /roles? must alternate|incorrect role information|alternate between .{0,3}user|first message must (?:use|be)|consecutive .{0,20}roles?/is
