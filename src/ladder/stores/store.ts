/** What is kept of sessions and of runs in flight: contracts, which drivers fulfil. */

/** A turn that has settled. Never written again with other content. */
export type CheckpointRow = {
  orchestrator_name: string
  session_id: string
  /** From 0. */
  turn_index: number
  /** JSON. */
  state: unknown
  last_route: string | readonly string[] | null
  signature: string
  version: string | null
  summarized_through: number | null
  lock_acquired_at: string | null
  lock_expires_at: string | null
  /** ISO 8601 */
  saved_at: string
}

/** Mutable, beside the rows: how far its history was summarised, and who does that now. Times are ms since the epoch. */
export type SessionRecord = { summarizedThrough: number | null; lock: { owner: string; acquiredAt: number; expiresAt: number } | null }

export interface CheckpointStore {
  /** The newest, with the fields of the record in it. */
  load(name: string, sessionId: string): Promise<CheckpointRow | undefined>
  /** Oldest first. */
  rows(name: string, sessionId: string): Promise<CheckpointRow[]>
  /** Appends. The same content again is fine. @throws LadderError STORE_FAILED where the same turn stands there with other content */
  save(row: CheckpointRow): Promise<void>
  /** By hand only, to mend a signature. */
  replace?(row: CheckpointRow): Promise<void>
  record(name: string, sessionId: string): Promise<SessionRecord>
  /** @returns false while somebody else has it */
  lock(name: string, sessionId: string, owner: string, ttlMs: number): Promise<boolean>
  unlock(name: string, sessionId: string, owner: string): Promise<void>
  setSummarizedThrough(name: string, sessionId: string, index: number): Promise<void>
  delete(name: string, sessionId: string): Promise<void>
  /** Ids of sessions. @param prefix taken literally */
  list?(name: string, prefix?: string): Promise<string[]>
  /** Drops all but the newest. */
  prune?(name: string, sessionId: string, keep: number): Promise<void>
  /** What has to be run by hand before it is used; empty where that is nothing. */
  schema(): string
  setOptions?(options: { ttlMs?: number }): void
}

/** A run in flight, written over with each of its steps. */
export type RunSnapshot = {
  runId: string
  type: 'supervisor' | 'workflow' | 'agent' | 'planner'
  name: string
  signature: string
  status: 'running' | 'completed' | 'cancelled' | 'failed'
  /** ms since the epoch */
  at: number
  next: unknown
  state: unknown
  iterations?: unknown
}

export interface SnapshotStore {
  load(runId: string): Promise<RunSnapshot | undefined>
  save(snapshot: RunSnapshot): Promise<void>
  delete(runId: string): Promise<void>
  list(prefix?: string): Promise<string[]>
  schema(): string
}
