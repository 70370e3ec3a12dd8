/** `chat.inject`: a message of the assistant that no model has said. */
import { randomUUID } from 'node:crypto'
import { injectedRun } from '../contracts/beside.ts'
import type { CommandInput } from '../contracts/commands.ts'
import { definedOf } from '../contracts/defined.ts'
import type { Session } from '../runtime/index.ts'
import { cleanMessage } from './said.rules.ts'

/** @throws RuntimeError bad_request, not_found where there is no such session, overloaded where too many wait for the end of a turn */
export const injectMessage = async (session: Session, { message, label, idempotencyKey }: CommandInput<'chat.inject'>) => {
  const id = idempotencyKey ?? randomUUID()
  const runId = injectedRun(id)
  const { seq, emitted, duplicate } = await session.command({ type: 'inject', id, text: cleanMessage(message), ...definedOf({ label }) })
  const names = { runId, messageId: `${runId}:1`, seq }
  if (duplicate) return { ...names, duplicate }
  return { ...names, status: emitted.some(({ type, runId: added }) => type === 'injected' && added === runId) ? 'added' : 'waiting' }
}
