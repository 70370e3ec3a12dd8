/** `chat.send`: something is said in a session; the answer comes before any model is asked. */
import { randomUUID } from 'node:crypto'
import type { Access } from '../contracts/access.ts'
import type { CommandInput } from '../contracts/commands.ts'
import { definedOf } from '../contracts/defined.ts'
import { isRuntimeError, RuntimeError } from '../contracts/errors.ts'
import type { SessionOutput } from '../contracts/session.ts'
import { sideQuestion, sideUsage } from '../contracts/side-question.rules.ts'
import { stopwatch } from '../contracts/tracing.ts'
import type { Outcome, RuntimeParts, Session } from '../runtime/index.ts'
import { lastRoute } from './deliver.ts'
import { filesWith } from './files.ts'
import { cleanMessage } from './said.rules.ts'
import { withinScopes } from './scopes.ts'
import { chooseModel } from './session-settings.ts'

export const sendMessage = async (
  parts: RuntimeParts,
  { sessionKey, message, attachments = [], idempotencyKey, agent, model, deliver, ...more }: CommandInput<'chat.send'>,
  access?: Access,
) => {
  const session = parts.runtime.session(sessionKey, { agent })
  const id = idempotencyKey ?? `m-${randomUUID()}`
  const lap = stopwatch(parts.environment.tracing, { sessionKey, runId: id })
  const text = cleanMessage(message, attachments.length > 0)
  // How hard to think is said for words; a command may be about just that.
  const how = text.startsWith('/') ? { ...more, thinking: undefined } : more
  // A reference that no provider knows would only be noticed in the turn, when the sender may be gone.
  const named = model === undefined ? undefined : await chooseModel(parts, session.key, model, agent)
  const { files, warned } = await filesWith(parts, { sessionKey: session.key, text, attachments }, access)
  const told = [...(named?.warning === undefined ? [] : [named.warning]), ...warned]
  const warnings = told.length === 0 ? {} : { warnings: told }
  lap('validate')
  const origin = withinScopes((deliver ? await lastRoute(session) : undefined) ?? how.origin, access?.scopes)
  // Where it comes by a channel, the desk of the session sees to it.
  const question = origin === undefined ? sideQuestion(text) : undefined
  if (question === '') throw new RuntimeError('bad_request', 'there is no question behind /btw', { field: 'message', hint: sideUsage })
  const { emitted, duplicate, seq } = await session.command(
    question === undefined
      ? { type: 'message', text, id, ...files, ...definedOf({ model: named?.ref, ...how, origin }) }
      : { type: 'side', text: question, id, ...definedOf({ model: named?.ref }) },
  )
  if (duplicate) return { id, runId: id, seq, duplicate, ...warnings, ...(await endOf(session, id)) }
  const accepted = emitted.find(({ type }) => type === 'accepted') as Extract<SessionOutput, { type: 'accepted' }> | undefined
  const skipped = emitted.find(({ type }) => type === 'skipped') as Extract<SessionOutput, { type: 'skipped' }> | undefined
  const stopped = emitted.find(({ type }) => type === 'stopped') as Extract<SessionOutput, { type: 'stopped' }> | undefined
  const ended = stopped && { aborted: stopped.runIds.length > 0, runIds: stopped.runIds }
  return { id, runId: accepted?.runId || id, status: accepted?.status ?? skipped?.reason ?? 'queued', seq, ...ended, ...warnings }
}

/** What became of a message that is said once more: its run goes on, or has ended, and its outcome is the answer. */
const endOf = async (
  session: Session,
  id: string,
): Promise<{ status: 'in_flight' } | { status: 'ok' | 'error' | 'side'; cached: true; outcome: Outcome }> => {
  try {
    const outcome = await session.outcome(id)
    return { status: outcome.side ? 'side' : outcome.status === 'completed' ? 'ok' : 'error', cached: true, outcome }
  } catch (error) {
    if (isRuntimeError(error) && error.code === 'not_found') return { status: 'in_flight' }
    throw error
  }
}
