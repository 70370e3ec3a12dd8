/** The writer thread's half of the inbox and the registry. Every function runs inside the group's transaction. */
import type { DatabaseSync } from 'node:sqlite'
import { chained } from '../checksum.ts'
import { appended, unchanged } from './requests.ts'

/** A row is `waiting` until it is settled; a `done` one stays a while, without its data, so that its id is recognised. */
export const inboxWrites = (database: DatabaseSync) => {
  const insert = database.prepare(
    `INSERT INTO inbox (subject, id, state, data, checksum, attempts, failures, ready_at) VALUES (?, ?, 'waiting', ?, ?, 0, 0, 0)
     ON CONFLICT (subject, id) DO NOTHING`,
  )
  const done = database.prepare("UPDATE inbox SET state = 'done', data = x'', settled_at = ? WHERE row = ? AND state = 'waiting'")
  const postpone = database.prepare("UPDATE inbox SET attempts = ?, failures = ?, ready_at = ? WHERE row = ? AND state = 'waiting'")
  const bury = database.prepare("UPDATE inbox SET state = 'dead', reason = ?, settled_at = ? WHERE row = ? AND state = 'waiting'")
  const forget = database.prepare("DELETE FROM inbox WHERE state = 'done' AND settled_at < ?")
  return {
    /** @returns the row, or `unchanged` for an id seen before */
    put(subject: string, id: string, data: Uint8Array): number {
      const { changes, lastInsertRowid } = insert.run(subject, id, data, chained(data, 0))
      return Number(changes) === 0 ? unchanged : Number(lastInsertRowid)
    },
    done: (row: number, at: number): number => Number(done.run(at, row).changes),
    postpone: (row: number, attempts: number, failures: number, readyAt: number): number =>
      Number(postpone.run(attempts, failures, readyAt, row).changes),
    bury: (row: number, reason: string, at: number): number => Number(bury.run(reason, at, row).changes),
    forget: (before: number): number => Number(forget.run(before).changes),
  }
}

/** A revision is the row number of the newest write; AUTOINCREMENT never gives one out twice, not even after a delete. */
export const registryWrites = (database: DatabaseSync) => {
  const select = database.prepare('SELECT revision FROM registry WHERE key = ?')
  const replace = database.prepare('INSERT OR REPLACE INTO registry (key, value, expires_at) VALUES (?, ?, ?)')
  const remove = database.prepare('DELETE FROM registry WHERE key = ?')
  const fits = (key: string, expected: number | null): boolean => expected === null || Number(select.get(key)?.revision ?? 0) === expected
  return {
    put: (key: string, value: string, expiresAt: number | null, expected: number | null): number =>
      fits(key, expected) ? Number(replace.run(key, value, expiresAt).lastInsertRowid) : unchanged,
    delete: (key: string, expected: number | null): number => (fits(key, expected) && Number(remove.run(key).changes) > 0 ? appended : unchanged),
  }
}
