/** `tools.result`: a client has run what the newest run ended with. */
import { randomUUID } from 'node:crypto'
import type { CommandInput } from '../contracts/commands.ts'
import { definedOf } from '../contracts/defined.ts'
import type { Session } from '../runtime/index.ts'
import { cleanMessage } from './said.rules.ts'

/** @throws RuntimeError conflict where no call waits for them */
export const giveResults = async (session: Session, { results, message, idempotencyKey, clientTools }: CommandInput<'tools.result'>) => {
  const id = idempotencyKey ?? `m-${randomUUID()}`
  const text = message === undefined ? '' : cleanMessage(message)
  const { seq, duplicate } = await session.command({ type: 'message', text, id, toolResults: results, ...definedOf({ clientTools }) })
  return { id, runId: id, status: duplicate ? 'in_flight' : 'started', seq, ...definedOf({ duplicate: duplicate || undefined }) }
}
