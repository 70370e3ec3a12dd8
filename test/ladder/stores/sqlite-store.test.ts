/** Sessions and runs in a database of the caller. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, expect, test } from 'vitest'
import { sqliteSnapshots, sqliteStore, sqliteVectors } from '../../../src/ladder/index.ts'
import { aRow } from './a-row.ts'
import { describeCheckpointStore, describeSnapshotStore } from './store.contract.ts'

const folder = mkdtempSync(join(tmpdir(), 'statecast-ladder-'))
const opened = (): DatabaseSync => {
  const database = new DatabaseSync(join(folder, 'sessions.sqlite'))
  database.exec('PRAGMA journal_mode = WAL; PRAGMA busy_timeout = 5000')
  return database
}
let database = opened()
const reopened = (): DatabaseSync => {
  database.close()
  database = opened()
  return database
}
database.exec(sqliteStore(database).schema())
database.exec(sqliteSnapshots(database).schema())
afterAll(() => {
  database.close()
  rmSync(folder, { recursive: true, force: true })
})

describeCheckpointStore({
  name: 'sessions in a SQLite database',
  open: async (clock) => sqliteStore(database, { clock }),
  reopen: async (clock) => sqliteStore(reopened(), { clock }),
})
describeSnapshotStore({
  name: 'runs in a SQLite database',
  open: async () => sqliteSnapshots(database),
  reopen: async () => sqliteSnapshots(reopened()),
})

test.each(['x; DROP TABLE y', '1st', 'a-b', 'a.b', '', 'a"', 'é', 'a\n', 'x'.repeat(64), 7 as unknown as string])(
  '[WL-045] %j is refused as the name of a table when the store is made',
  (table) => {
    const wrong = expect.objectContaining({ code: 'LADDER_CONFIG', category: 'validation' })
    expect(() => sqliteStore(database, { table })).toThrow(wrong)
    expect(() => sqliteSnapshots(database, { table })).toThrow(wrong)
    expect(() => sqliteVectors(database, { table })).toThrow(wrong)
  },
)

test('[WL-045] no table is made by itself: without them each call says what to run, and after it was run all is well', async () => {
  const fresh = new DatabaseSync(':memory:')
  const tables = () => fresh.prepare("SELECT count(*) AS count FROM sqlite_master WHERE type = 'table'").get()
  const store = sqliteStore(fresh, { table: 'Desk_1' })
  const missing = { code: 'STORE_FAILED', hint: 'run what schema() of the store returns, once and by hand' }

  await expect(store.save(aRow('desk'))).rejects.toMatchObject(missing)
  await expect(store.load('desk', 's')).rejects.toMatchObject(missing)
  const runs = sqliteSnapshots(fresh, { table: 'Runs_1' })
  await expect(runs.load('r')).rejects.toMatchObject(missing)
  expect(tables()).toEqual({ count: 0 })

  for (const { schema } of [store, store, runs, runs]) fresh.exec(schema())
  await store.save(aRow('desk'))
  expect(await store.load('desk', 's')).toEqual(aRow('desk'))
  expect(fresh.prepare('SELECT session_id, turn_index, state FROM Desk_1').get()).toMatchObject({ session_id: 's', turn_index: 0 })
  expect(await runs.list()).toEqual([])
  // It is the caller's, and still open.
  fresh.close()
  await expect(store.load('desk', 's')).rejects.toMatchObject({ code: 'STORE_FAILED' })
})

test('[WL-044] what a caller rolls back is gone, and what is refused leaves their transaction as it was', async () => {
  const own = new DatabaseSync(':memory:')
  const store = sqliteStore(own)
  own.exec(store.schema())
  await store.save(aRow('desk'))

  own.exec('BEGIN')
  await store.save(aRow('desk', { turn_index: 1 }))
  await expect(store.save(aRow('desk', { state: 'other' }))).rejects.toMatchObject({ code: 'STORE_FAILED' })
  expect(await store.rows('desk', 's')).toHaveLength(2)
  own.exec('ROLLBACK')

  expect(await store.rows('desk', 's')).toEqual([aRow('desk')])
  own.close()
})

test('[WL-043] of two connections that take one lock or store one turn, one is first', async () => {
  const other = opened()
  const stores = [sqliteStore(database), sqliteStore(other)]

  const locks = await Promise.all(stores.map((store, index) => store.lock('shared', 's', `connection ${index}`, 60_000)))
  const saved = await Promise.allSettled(stores.map((store, index) => store.save(aRow('shared', { state: index }))))

  expect(locks).toEqual([true, false])
  expect(saved.map(({ status }) => status)).toEqual(['fulfilled', 'rejected'])
  other.close()
})
