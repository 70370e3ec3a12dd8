/** Sessions in the memory of this process, for tests. */
import { isDeepStrictEqual } from 'node:util'
import { LadderError } from '../errors.ts'
import type { CheckpointRow, CheckpointStore, SessionRecord } from './store.ts'

type Kept = { rows: CheckpointRow[]; record: SessionRecord }

/** @param clock ms since the epoch */
export const memoryStore = ({ clock = () => Date.now() }: { clock?: () => number } = {}): CheckpointStore => {
  const kept = new Map<string, Kept>()
  const keyOf = (name: string, sessionId: string): string => JSON.stringify([name, sessionId])
  const at = (name: string, sessionId: string): Kept => {
    const key = keyOf(name, sessionId)
    const found = kept.get(key) ?? { rows: [], record: { summarizedThrough: null, lock: null } }
    kept.set(key, found)
    return found
  }
  const withRecord = (row: CheckpointRow, { summarizedThrough, lock }: SessionRecord): CheckpointRow => ({
    ...structuredClone(row),
    summarized_through: summarizedThrough,
    lock_acquired_at: lock && new Date(lock.acquiredAt).toISOString(),
    lock_expires_at: lock && new Date(lock.expiresAt).toISOString(),
  })
  return {
    async load(name, sessionId) {
      const { rows, record } = at(name, sessionId)
      const newest = rows.at(-1)
      return newest && withRecord(newest, record)
    },
    async rows(name, sessionId) {
      return structuredClone(at(name, sessionId).rows)
    },
    async save(row) {
      const { rows } = at(row.orchestrator_name, row.session_id)
      const before = rows.find(({ turn_index }) => turn_index === row.turn_index)
      if (before && isDeepStrictEqual(before, row)) return
      if (before)
        throw new LadderError('STORE_FAILED', `turn ${row.turn_index} of the session '${row.session_id}' is stored with other content`, {
          context: { turnIndex: row.turn_index },
        })
      rows.push(structuredClone(row))
      rows.sort((one, other) => one.turn_index - other.turn_index)
    },
    async replace(row) {
      const { rows } = at(row.orchestrator_name, row.session_id)
      const index = rows.findIndex(({ turn_index }) => turn_index === row.turn_index)
      if (index >= 0) rows[index] = structuredClone(row)
    },
    async record(name, sessionId) {
      return structuredClone(at(name, sessionId).record)
    },
    async lock(name, sessionId, owner, ttlMs) {
      const { record } = at(name, sessionId)
      if (record.lock && record.lock.owner !== owner && record.lock.expiresAt > clock()) return false
      record.lock = { owner, acquiredAt: clock(), expiresAt: clock() + ttlMs }
      return true
    },
    async unlock(name, sessionId, owner) {
      const { record } = at(name, sessionId)
      if (record.lock?.owner === owner) record.lock = null
    },
    async setSummarizedThrough(name, sessionId, index) {
      at(name, sessionId).record.summarizedThrough = index
    },
    async delete(name, sessionId) {
      kept.delete(keyOf(name, sessionId))
    },
    async list(name, prefix = '') {
      return [...kept].flatMap(([key, { rows }]) => {
        const [owner, sessionId] = JSON.parse(key) as [string, string]
        return owner === name && rows.length > 0 && sessionId.startsWith(prefix) ? [sessionId] : []
      })
    },
    async prune(name, sessionId, keep) {
      const { rows } = at(name, sessionId)
      const latest = rows.at(-1)?.turn_index ?? 0
      rows.splice(0, rows.filter(({ turn_index }) => turn_index < latest - keep + 1).length)
    },
    schema: () => '',
  }
}
