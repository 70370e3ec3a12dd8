/** Runs in flight in a table of a SQLite database that belongs to the caller. */

import { anything } from '../given.ts'
import { jsonIn, jsonText } from './json.ts'
import { checkedRunId } from './keyed-snapshots.ts'
import { checkedTable, type SqlDatabase, sqlOf, sqlOptions } from './sql.ts'
import type { RunSnapshot, SnapshotStore } from './store.ts'

/**
 * The database is neither opened nor closed here, and no table is made: run `schema()` once.
 * @param options.table letters, digits and underscores, no digit at the beginning
 * @throws LadderError LADDER_CONFIG for what is no name of a table
 */
export const sqliteSnapshots = (database: SqlDatabase, options: { table?: string } = {}): SnapshotStore => {
  const { table = 'ladder_snapshots' } = sqlOptions<typeof options>(database, options, { table: anything }, 'sqliteSnapshots')
  const runs = checkedTable(table)
  const sql = sqlOf(database)
  return {
    async load(runId) {
      const found = sql.get<{ snapshot: string }>(`SELECT snapshot FROM ${runs} WHERE run_id = ?`, runId)
      return found && (jsonIn(found.snapshot, 'the snapshot of a run') as RunSnapshot)
    },
    async save(snapshot) {
      const { runId, name, status, at } = snapshot
      sql.run(
        `INSERT OR REPLACE INTO ${runs} (run_id, name, status, at, snapshot) VALUES (?, ?, ?, ?, ?)`,
        checkedRunId(runId),
        name,
        status,
        at,
        jsonText(snapshot, 'the snapshot'),
      )
    },
    async delete(runId) {
      sql.run(`DELETE FROM ${runs} WHERE run_id = ?`, runId)
    },
    async list(prefix = '') {
      const found = sql.all<{ run_id: string }>(`SELECT run_id FROM ${runs} WHERE run_id >= ? ORDER BY run_id`, prefix)
      return found.map(({ run_id }) => run_id).filter((runId) => runId.startsWith(prefix))
    },
    schema: () => `CREATE TABLE IF NOT EXISTS ${runs} (
  run_id TEXT PRIMARY KEY, name TEXT NOT NULL, status TEXT NOT NULL, at INTEGER NOT NULL, snapshot TEXT NOT NULL
);
`,
  }
}
