/** Sessions in two tables of a SQLite database that belongs to the caller. */

import { anything, clock as clockKind } from '../given.ts'
import { jsonIn, jsonText } from './json.ts'
import { checkedKeep, checkedRow, checkedSession, contentOf, type Now, noSuchRow, otherContent, recordAt, withRecord } from './rows.rules.ts'
import { checkedTable, type SqlDatabase, sqlOf, sqlOptions } from './sql.ts'
import type { CheckpointRow, CheckpointStore, SessionRecord } from './store.ts'

type Row = Omit<CheckpointRow, 'state' | 'last_route'> & { state: string; last_route: string }
type RecordRow = { summarized_through: number | null; lock_owner: string | null; lock_acquired_at: number; lock_expires_at: number }

const columns =
  'orchestrator_name, session_id, turn_index, state, last_route, signature, version, summarized_through, lock_acquired_at, lock_expires_at, saved_at'
const place = 'orchestrator_name = ? AND session_id = ?'

/**
 * The database is neither opened nor closed here, and no table is made: run `schema()` once.
 * @param options.table letters, digits and underscores, no digit at the beginning; `<table>_sessions` is the other one
 * @param options.clock ms since the epoch; default: that of the machine
 * @throws LadderError LADDER_CONFIG for what is no name of a table
 */
export const sqliteStore = (database: SqlDatabase, options: { table?: string; clock?: Now } = {}): CheckpointStore => {
  const { table = 'ladder_checkpoints', clock = Date.now } = sqlOptions<typeof options>(
    database,
    options,
    { table: anything, clock: clockKind },
    'sqliteStore',
  )
  const rows = checkedTable(table)
  const sessions = `${rows}_sessions`
  const sql = sqlOf(database)
  let ttlMs: number | undefined

  const rowOf = ({ state, last_route, ...row }: Row): CheckpointRow =>
    checkedRow({ ...row, state: jsonIn(state, 'a state'), last_route: jsonIn(last_route, 'a route') as CheckpointRow['last_route'] })
  const valuesOf = (row: CheckpointRow) =>
    [
      row.orchestrator_name,
      row.session_id,
      row.turn_index,
      jsonText(row.state, 'state'),
      jsonText(row.last_route, 'last_route'),
      row.signature,
      row.version,
      row.summarized_through,
      row.lock_acquired_at,
      row.lock_expires_at,
      row.saved_at,
    ] as const
  const rowAt = (name: string, sessionId: string, turn: number): CheckpointRow | undefined => {
    const found = sql.get<Row>(`SELECT ${columns} FROM ${rows} WHERE ${place} AND turn_index = ?`, name, sessionId, turn)
    return found && rowOf(found)
  }

  /** What was touched last then, or before, is over. */
  const overAt = (): number => (ttlMs === undefined ? Number.MIN_SAFE_INTEGER : clock() - ttlMs)
  const isOver = (name: string, sessionId: string): boolean =>
    ttlMs !== undefined && sql.get(`SELECT 1 FROM ${sessions} WHERE ${place} AND touched_at <= ?`, name, sessionId, overAt()) !== undefined
  const clear = (name: string, sessionId: string): void => {
    sql.run(`DELETE FROM ${rows} WHERE ${place}`, name, sessionId)
    sql.run(`DELETE FROM ${sessions} WHERE ${place}`, name, sessionId)
  }
  /** Whatever is written is written to a session that is not over. The first statement writes, so that two processes wait and do not fail. */
  const writing = <Result>(name: string, sessionId: string, write: () => Result): Result =>
    sql.atomically(() => {
      sql.run(`UPDATE ${sessions} SET touched_at = touched_at WHERE ${place}`, name, checkedSession(sessionId))
      if (isOver(name, sessionId)) clear(name, sessionId)
      sql.run(
        `INSERT INTO ${sessions} (orchestrator_name, session_id, touched_at) VALUES (?, ?, ?)
         ON CONFLICT (orchestrator_name, session_id) DO UPDATE SET touched_at = excluded.touched_at`,
        name,
        sessionId,
        clock(),
      )
      return write()
    })
  const recordOf = (name: string, sessionId: string): SessionRecord => {
    const found = sql.get<RecordRow>(
      `SELECT summarized_through, lock_owner, lock_acquired_at, lock_expires_at FROM ${sessions} WHERE ${place} AND touched_at > ?`,
      name,
      sessionId,
      overAt(),
    )
    const lock = found &&
      found.lock_owner !== null && { owner: found.lock_owner, acquiredAt: found.lock_acquired_at, expiresAt: found.lock_expires_at }
    return recordAt({ summarizedThrough: found?.summarized_through ?? null, lock: lock || null }, clock())
  }

  return {
    async load(name, sessionId) {
      if (isOver(name, sessionId)) return undefined
      const found = sql.get<Row>(`SELECT ${columns} FROM ${rows} WHERE ${place} ORDER BY turn_index DESC LIMIT 1`, name, sessionId)
      return found && withRecord(rowOf(found), recordOf(name, sessionId))
    },
    async rows(name, sessionId) {
      if (isOver(name, sessionId)) return []
      return sql.all<Row>(`SELECT ${columns} FROM ${rows} WHERE ${place} ORDER BY turn_index`, name, sessionId).map(rowOf)
    },
    async save(given) {
      const row = checkedRow(given)
      const { orchestrator_name: name, session_id: sessionId, turn_index: turn } = row
      const values = valuesOf(row)
      writing(name, sessionId, () => {
        const marks = values.map(() => '?').join(', ')
        const added = sql.run(`INSERT INTO ${rows} (${columns}) VALUES (${marks}) ON CONFLICT DO NOTHING`, ...values)
        if (added > 0) return
        const before = rowAt(name, sessionId, turn)
        if (!before || contentOf(before) !== contentOf(row)) throw otherContent(row)
      })
    },
    async replace(given) {
      const row = checkedRow(given)
      const values = valuesOf(row)
      const set = columns.replaceAll(',', ' = ?,')
      const where = `${place} AND turn_index = ?`
      const changed = sql.run(`UPDATE ${rows} SET ${set} = ? WHERE ${where}`, ...values, row.orchestrator_name, row.session_id, row.turn_index)
      if (changed === 0) throw noSuchRow(row)
    },
    async record(name, sessionId) {
      return recordOf(name, sessionId)
    },
    async lock(name, sessionId, owner, forMs) {
      return writing(name, sessionId, () => {
        const held = recordOf(name, sessionId).lock
        if (held && held.owner !== owner) return false
        const set = 'lock_owner = ?, lock_acquired_at = ?, lock_expires_at = ?'
        sql.run(`UPDATE ${sessions} SET ${set} WHERE ${place}`, owner, held?.acquiredAt ?? clock(), clock() + forMs, name, sessionId)
        return true
      })
    },
    async unlock(name, sessionId, owner) {
      sql.run(`UPDATE ${sessions} SET lock_owner = NULL WHERE ${place} AND lock_owner = ?`, name, sessionId, owner)
    },
    async setSummarizedThrough(name, sessionId, index) {
      writing(name, sessionId, () => sql.run(`UPDATE ${sessions} SET summarized_through = ? WHERE ${place}`, index, name, sessionId))
    },
    async delete(name, sessionId) {
      sql.atomically(() => clear(name, sessionId))
    },
    async list(name, prefix = '') {
      const found = sql.all<{ session_id: string }>(
        `SELECT DISTINCT session_id FROM ${rows} AS row WHERE orchestrator_name = ? AND session_id >= ? AND NOT EXISTS
         (SELECT 1 FROM ${sessions} AS one WHERE one.orchestrator_name = row.orchestrator_name AND one.session_id = row.session_id AND touched_at <= ?)`,
        name,
        prefix,
        overAt(),
      )
      return found.map(({ session_id }) => session_id).filter((sessionId) => sessionId.startsWith(prefix))
    },
    async prune(name, sessionId, keep) {
      const first = `(SELECT max(turn_index) FROM ${rows} WHERE ${place}) - ? + 1`
      sql.run(`DELETE FROM ${rows} WHERE ${place} AND turn_index < ${first}`, name, sessionId, name, sessionId, checkedKeep(keep))
    },
    schema: () => `CREATE TABLE IF NOT EXISTS ${rows} (
  orchestrator_name TEXT NOT NULL, session_id TEXT NOT NULL, turn_index INTEGER NOT NULL,
  state TEXT NOT NULL, last_route TEXT NOT NULL, signature TEXT NOT NULL, version TEXT,
  summarized_through INTEGER, lock_acquired_at TEXT, lock_expires_at TEXT, saved_at TEXT NOT NULL,
  PRIMARY KEY (orchestrator_name, session_id, turn_index)
);
CREATE TABLE IF NOT EXISTS ${sessions} (
  orchestrator_name TEXT NOT NULL, session_id TEXT NOT NULL, summarized_through INTEGER,
  lock_owner TEXT, lock_acquired_at INTEGER, lock_expires_at INTEGER, touched_at INTEGER NOT NULL,
  PRIMARY KEY (orchestrator_name, session_id)
);
`,
    setOptions(options) {
      ttlMs = options.ttlMs
    },
  }
}
