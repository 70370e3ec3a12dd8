/** The inbox and the registry on SQLite: writes by the writer thread, reads here. */
import type { DatabaseSync } from 'node:sqlite'
import type { Clock } from '../../contracts/environment.ts'
import { RuntimeError } from '../../contracts/errors.ts'
import { fits } from '../checksum.ts'
import type { InboxStore } from '../inbox-store.ts'
import { duplicateWindowMs } from '../limits.ts'
import type { RegistryEntry, RegistryStore } from '../registry-watch.ts'
import type { FreeSpace } from './free-space.ts'
import { appended, unchanged } from './requests.ts'
import type { Writer } from './writer.ts'

type InboxRow = { row: number; subject: string; id: string; attempts: number; failures: number; ready_at: number }
type DataRow = { data: Uint8Array; checksum: number }
type DeadRow = { subject: string; id: string; data: Uint8Array; reason: string; settled_at: number }

/** How often ids past the window are looked for. */
const forgetEveryMs = 30_000

/** Runs a query with the store's errors translated. */
type Query = <T>(question: () => T) => T

export const sqliteInbox = (database: DatabaseSync, writer: Writer, query: Query, space: FreeSpace, clock: Pick<Clock, 'now'>): InboxStore => {
  const selectWaiting = database.prepare("SELECT row, subject, id, attempts, failures, ready_at FROM inbox WHERE state = 'waiting' ORDER BY row")
  const selectData = database.prepare('SELECT data, checksum FROM inbox WHERE row = ?')
  const selectDead = database.prepare("SELECT subject, id, data, reason, settled_at FROM inbox WHERE state = 'dead' ORDER BY row LIMIT ?")
  let forgottenAt = clock.now()

  return {
    async put(subject, id, data, at) {
      space.require(data.length)
      if (Math.abs(at - forgottenAt) >= forgetEveryMs) {
        forgottenAt = at
        // Nobody waits for it; what stays is tried again the next time.
        writer.write(['inboxForget', at - duplicateWindowMs]).catch(() => undefined)
      }
      const row = await writer.write(['inboxPut', subject, id, data])
      return row === unchanged ? undefined : row
    },
    done: async (row, at) => void (await writer.write(['inboxDone', row, at])),
    postpone: async (row, attempts, failures, readyAt) => void (await writer.write(['inboxPostpone', row, attempts, failures, readyAt])),
    bury: async (row, reason, at) => void (await writer.write(['inboxBury', row, reason, at])),
    waiting: () =>
      (query(() => selectWaiting.all()) as InboxRow[]).map(({ row, subject, id, attempts, failures, ready_at }) => ({
        row,
        subject,
        id,
        attempts,
        failures,
        readyAt: ready_at,
        leftOver: true,
      })),
    data(row) {
      const found = query(() => selectData.get(row)) as DataRow | undefined
      if (found !== undefined && fits(found.data, 0, found.checksum)) return found.data
      throw new RuntimeError('corrupt_at', `inbox message ${row} is damaged`, { data: { row } })
    },
    dead: async ({ limit = -1 } = {}) =>
      (query(() => selectDead.all(limit)) as DeadRow[]).map(({ subject, id, data, reason, settled_at }) => ({
        subject,
        id,
        data,
        reason,
        at: settled_at,
      })),
  }
}

type RegistryRow = { key: string; value: string; revision: number; expires_at: number | null }

/** Not held back by the free-space guard: a lease that cannot be renewed would move work about just when a node needs rest. */
export const sqliteRegistry = (database: DatabaseSync, writer: Writer, query: Query): RegistryStore => {
  const select = database.prepare('SELECT key, value, revision, expires_at FROM registry WHERE key = ?')
  const selectPrefix = database.prepare(
    'SELECT key, value, revision, expires_at FROM registry WHERE substr(key, 1, length(?1)) = ?1 AND key >= ?1 ORDER BY key',
  )
  const selectExpiring = database.prepare('SELECT key, revision, expires_at FROM registry WHERE expires_at IS NOT NULL')
  const entryOf = ({ key, value, revision, expires_at }: RegistryRow): RegistryEntry => ({ key, value, revision, expiresAt: expires_at })

  return {
    get(key) {
      const row = query(() => select.get(key)) as RegistryRow | undefined
      return row === undefined ? undefined : entryOf(row)
    },
    list: (prefix) => (query(() => selectPrefix.all(prefix)) as RegistryRow[]).map(entryOf),
    expiring: () =>
      (query(() => selectExpiring.all()) as Omit<RegistryRow, 'value'>[]).map(({ key, revision, expires_at }) => ({
        key,
        revision,
        expiresAt: expires_at,
      })),
    async put(key, value, expiresAt, expected) {
      const revision = await writer.write(['registryPut', key, value, expiresAt, expected])
      return revision === unchanged ? undefined : revision
    },
    delete: async (key, expected) => (await writer.write(['registryDelete', key, expected])) === appended,
  }
}
