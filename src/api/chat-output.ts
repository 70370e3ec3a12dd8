/** `chat.output`: what a tool has answered, all of it, page by page. */
import type { CommandInput } from '../contracts/commands.ts'
import { RuntimeError } from '../contracts/errors.ts'
import type { RuntimeParts, Session } from '../runtime/index.ts'

const charsMax = 200_000

/** @returns characters in UTF-16 units from `offset` on; `next` where there are more @throws RuntimeError not_found */
export const readOutput = async (
  { transcripts }: RuntimeParts,
  { address }: Session,
  { callId, offset = 0, limit = charsMax }: CommandInput<'chat.output'>,
): Promise<{ callId: string; text: string; offset: number; total: number; next?: number }> => {
  const whole = await transcripts.outputOf(address, callId)
  if (whole === undefined)
    throw new RuntimeError('not_found', `no tool call '${callId.slice(0, 80)}' of this session has answered`, {
      field: 'callId',
      hint: 'give the callId of a session.tool event, or the ref that a shortened result names',
    })
  const end = Math.min(whole.length, offset + limit)
  return { callId, text: whole.slice(offset, end).toWellFormed(), offset, total: whole.length, ...(end < whole.length ? { next: end } : {}) }
}
