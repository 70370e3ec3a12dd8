/** A session as readers outside are shown it. */

import type { Directory } from '../actors/index.ts'
import { definedOf } from '../contracts/defined.ts'
import { type errorBody, RuntimeError } from '../contracts/errors.ts'
import type { DeskRecord, SessionRecord } from '../contracts/session.ts'
import type { Approval } from '../contracts/turn.ts'
import { type SessionContext, shownRecord } from '../machines/index.ts'

/** What a session knows of itself, as `sessions.get` shows it. */
export type SessionView = {
  key: string
  state: unknown
  run: { runId: string; ids: string[]; model: string; agent?: string; heartbeat?: true } | null
  queued: string[]
  approvals: Approval[]
  messages: number
  record: SessionRecord & DeskRecord
  seq: number
  epoch: number
  quarantine?: ReturnType<typeof errorBody>
}

/** @param read what its actor says, the whole of it @throws RuntimeError not_found */
export const viewOf = (key: string, read: Awaited<ReturnType<Directory['read']>>): SessionView => {
  const { snapshot, seq, epoch, quarantine } = read
  if (!snapshot) throw new RuntimeError('not_found', `there is no session '${key}'`, { hint: 'send it a message to create it' })
  const { run, queue, approvals, transcriptLength, record } = snapshot.context as SessionContext
  return {
    key,
    state: snapshot.value,
    run: run && {
      runId: run.runId,
      ids: run.ids,
      model: run.profile.model,
      ...(run.profile.heartbeat && { heartbeat: true, agent: run.profile.agent }),
    },
    queued: queue.map(({ id }) => id),
    approvals,
    messages: transcriptLength,
    record: shownRecord(record, snapshot.children),
    seq,
    epoch,
    ...definedOf({ quarantine }),
  }
}
