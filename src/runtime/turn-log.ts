/** The turns of this node in the log: one line for each that ended, and one for whatever an operator is asked about afterwards. */
import type { Logger, LogLevel } from '../contracts/environment.ts'
import type { AnyEvent } from '../contracts/journal.ts'
import type { SessionOutput } from '../contracts/session.ts'

/** Where an event came from; `repeated` when it is told again after a restart, and may stand in the log already. */
export type Told = { actor: string; repeated?: true }

/**
 * Writes what an event of a session means for the operator of the node. Texts of users, models and tools stay out: they are in the journal, and the log
 * may be read by others.
 */
export const logTurn = (log: Logger, told: Told, event: SessionOutput): void => {
  const line = lineOf(event)
  if (line) log[line.level]({ ...told, ...line.facts }, line.message)
}

/** The same of a run that asks agents: a call in it waits for a person. */
export const logRun = (log: Logger, told: Told, event: AnyEvent): void => {
  if (!event.type.endsWith('approval.requested')) return
  const { runId, callId, tool } = event as AnyEvent & { runId?: string; callId?: string; tool?: string }
  log.info({ ...told, runId, callId, tool }, 'a tool call waits for approval')
}

type Line = { level: LogLevel; message: string; facts: object }
const line = (level: Line['level'], message: string, facts: object): Line => ({ level, message, facts })

const lineOf = (event: SessionOutput): Line | undefined => {
  switch (event.type) {
    case 'started':
      return line('debug', 'a turn started', { runId: event.runId, model: event.model })
    case 'final':
    case 'aborted':
      // What its session answers by itself ends without a step: no turn ran.
      return line(event.steps > 0 || event.type === 'aborted' ? 'info' : 'debug', 'a turn ended', summary(event))
    case 'error':
      return line('warn', event.side ? 'a side question was not answered' : 'a turn failed', { ...summary(event), error: event.error })
    case 'retry': {
      const { runId, attempt, delayMs, error } = event
      return line('warn', 'a model call failed and will be retried', { runId, attempt, delayMs, error })
    }
    case 'fallback':
      return line('warn', 'a turn fell back to another model', { runId: event.runId, model: event.model, failed: event.attempts })
    case 'approval': {
      const facts = { runId: event.runId, callId: event.callId, tool: event.name }
      return event.why === 'in_doubt'
        ? line('warn', 'a tool call may or may not have run: it waits for a person', facts)
        : line('info', 'a tool call waits for approval', facts)
    }
    case 'decided':
      return line('info', 'somebody decided about a tool call', { callId: event.callId, decision: event.decision, by: event.by })
    case 'flushed':
      return event.error && line('warn', 'notes could not be taken before a compaction', { runId: event.runId, error: event.error })
    case 'compacted':
      return line('info', 'a conversation was compacted', { runId: event.runId, kept: event.keep })
    case 'reset':
      return line('info', 'a conversation was reset', { reason: event.reason })
    case 'stuck':
      return line('warn', 'a turn is stuck: nothing was heard of it', { runId: event.runId, silentMs: event.ageMs })
    default:
      return undefined
  }
}

type Ending = Extract<SessionOutput, { type: 'final' | 'error' | 'aborted' }>

const summary = ({ runId, status, outcome, model, steps, toolCalls, durationMs, usage, undelivered }: Ending) => ({
  runId,
  status,
  outcome,
  model,
  steps,
  toolCalls,
  durationMs,
  usage,
  undelivered,
})
