/** What is kept of sessions and of runs in flight: contracts, which drivers fulfil and `test/ladder/stores/store.contract.ts` checks. The comments carry the promises. */

/** A turn that has settled, as JSON. It is never written again with other content. */
export type CheckpointRow = {
  orchestrator_name: string
  session_id: string
  /** From 0. */
  turn_index: number
  /** JSON */
  state: unknown
  /** Who worked: one, several at once, or null where nobody did. */
  last_route: string | readonly string[] | null
  signature: string
  version: string | null
  /** For reading, as are the two below: what is true now stands in the {@link SessionRecord}. */
  summarized_through: number | null
  /** ISO 8601 */
  lock_acquired_at: string | null
  /** ISO 8601 */
  lock_expires_at: string | null
  /** ISO 8601 */
  saved_at: string
}

/** Mutable, beside the rows, so that no row is written again for it. Times are ms since the epoch, by the clock of the store. */
export type SessionRecord = {
  /** Index into the history of the caller, inclusive. */
  summarizedThrough: number | null
  lock: { owner: string; acquiredAt: number; expiresAt: number } | null
}

/** Sessions, by the name of their orchestrator and their id, which may hold any well-formed characters. Every method @throws LadderError STORE_FAILED */
export interface CheckpointStore {
  /** The newest row, with the fields of the record in it. What is changed in it changes nothing that is stored. */
  load(name: string, sessionId: string): Promise<CheckpointRow | undefined>
  /** As they were saved, oldest first. */
  rows(name: string, sessionId: string): Promise<CheckpointRow[]>
  /**
   * Appends, and is durable when it resolves. The same content again is fine; when it was saved, and what the record says better, is no content.
   * @throws LadderError STORE_FAILED where the row of that turn has other content, or this one is no JSON or too large
   */
  save(row: CheckpointRow): Promise<void>
  /** Writes over a row that is there, to mend it by hand: a signature, say. No turn does that. */
  replace?(row: CheckpointRow): Promise<void>
  /** Of a session without one: nothing summarised, no lock. A lock that has expired is none. */
  record(name: string, sessionId: string): Promise<SessionRecord>
  /** One owner has it at a time; who has it may take it again, for longer. @returns whether the lock is `owner`'s now */
  lock(name: string, sessionId: string, owner: string, ttlMs: number): Promise<boolean>
  /** Of somebody else's lock it takes no notice. */
  unlock(name: string, sessionId: string, owner: string): Promise<void>
  setSummarizedThrough(name: string, sessionId: string, index: number): Promise<void>
  /** All of it: the session begins anew. */
  delete(name: string, sessionId: string): Promise<void>
  /** Ids of sessions that have a row. @param prefix taken literally */
  list?(name: string, prefix?: string): Promise<string[]>
  /** Drops rows whose index is below latest − keep + 1. */
  prune?(name: string, sessionId: string, keep: number): Promise<void>
  /** What has to be run by hand before the store is used; empty where that is nothing. */
  schema(): string
  /** @param options.ttlMs a session that nothing was written to for so long is gone, without a timer; left out: it stays */
  setOptions?(options: { ttlMs?: number }): void
}

/** A run in flight, written over with each of its steps, as JSON. */
export type RunSnapshot = {
  runId: string
  type: 'supervisor' | 'workflow' | 'agent' | 'planner'
  name: string
  signature: string
  status: 'running' | 'completed' | 'cancelled' | 'failed'
  /** ms since the epoch */
  at: number
  /** What it does next. */
  next: unknown
  state: unknown
  /** Of a supervisor. */
  iterations?: unknown
  /** Of a workflow: what became of each step that has ended. */
  steps?: unknown
}

/** Runs by their id. Every method @throws LadderError STORE_FAILED: a run does not fail with it, and goes on */
export interface SnapshotStore {
  load(runId: string): Promise<RunSnapshot | undefined>
  /** In place of the one before. */
  save(snapshot: RunSnapshot): Promise<void>
  delete(runId: string): Promise<void>
  /** Ids of runs. @param prefix taken literally */
  list(prefix?: string): Promise<string[]>
  /** What has to be run by hand before the store is used; empty where that is nothing. */
  schema(): string
}
