/** A session as readers outside are shown it. */

import type { Directory } from '../actors/index.ts'
import type { PendingCall } from '../contracts/client-tools.ts'
import { definedOf } from '../contracts/defined.ts'
import { type errorBody, RuntimeError } from '../contracts/errors.ts'
import type { ModelSource } from '../contracts/profile.ts'
import type { DeskRecord, SessionRecord } from '../contracts/session.ts'
import type { Approval } from '../contracts/turn.ts'
import { kindsOf, type SessionContext, shownRecord } from '../machines/index.ts'

/** What a session knows of itself, as `sessions.get` shows it. */
export type SessionView = {
  key: string
  state: unknown
  run: { runId: string; ids: string[]; model: string; modelSource?: ModelSource; agent?: string; heartbeat?: true } | null
  queued: string[]
  /** Side questions that are being answered. */
  asides?: string[]
  approvals: Approval[]
  /** Calls with which the newest run has ended, and which wait for their client. */
  pendingCalls?: PendingCall[]
  messages: number
  record: SessionRecord & DeskRecord
  /** Tokens since it began, each of one kind; `hitRatio` is the share of what was read that came from the provider's cache. */
  cache: { read: number; write: number; input: number; output: number; hitRatio: number }
  seq: number
  epoch: number
  quarantine?: ReturnType<typeof errorBody>
}

/** @param read what its actor says, the whole of it @throws RuntimeError not_found */
export const viewOf = (key: string, read: Awaited<ReturnType<Directory['read']>>): SessionView => {
  const { snapshot, seq, epoch, quarantine } = read
  if (!snapshot) throw new RuntimeError('not_found', `there is no session '${key}'`, { hint: 'send it a message to create it' })
  const { run, queue, approvals, asides, pending, transcriptLength, record } = snapshot.context as SessionContext
  return {
    key,
    state: snapshot.value,
    run: run && {
      runId: run.runId,
      ids: run.ids,
      model: run.profile.model,
      ...definedOf({ modelSource: run.profile.modelSource }),
      ...(run.profile.heartbeat && { heartbeat: true, agent: run.profile.agent }),
    },
    queued: queue.map(({ id }) => id),
    approvals,
    ...definedOf({ asides: asides?.map(({ id }) => id), pendingCalls: pending?.calls }),
    messages: transcriptLength,
    record: withoutPrompt(shownRecord(record, snapshot.children)),
    cache: cacheOf(record),
    seq,
    epoch,
    ...definedOf({ quarantine }),
  }
}

/** `sessions.context` shows it. */
const withoutPrompt = ({ prompt: _, ...record }: SessionRecord & DeskRecord): SessionRecord & DeskRecord => record

const cacheOf = ({ spent: { usage } }: SessionRecord): SessionView['cache'] => {
  const { cacheRead: read, cacheWrite: write, input, output } = kindsOf(usage)
  return { read, write, input, output, hitRatio: usage.inputTokens === 0 ? 0 : Math.round((read / usage.inputTokens) * 1000) / 1000 }
}
