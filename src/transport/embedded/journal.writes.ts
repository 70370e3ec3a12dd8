/** The writer thread's half of the journal. Every function runs inside the group's transaction and refuses before it changes anything. */
import type { DatabaseSync } from 'node:sqlite'
import { RuntimeError } from '../../contracts/errors.ts'
import type { Address } from '../../contracts/subjects.ts'
import { chained, chainStart, corruptAt, fits } from '../checksum.ts'
import { framesMax } from '../limits.ts'
import { appended, unchanged } from './requests.ts'

/** What the next append needs to know of a root. Kept in memory, since nobody else writes. */
type Tip = { root: number; seq: number; checksum: number }

const tipsMax = 50_000

export const journalWrites = (database: DatabaseSync) => {
  const selectRoot = database.prepare('SELECT root, seq, first, checksum FROM roots WHERE kind = ? AND id = ?')
  const selectFrame = database.prepare('SELECT previous, checksum, bytes FROM frames WHERE place = (? << 24) + ?')
  // A number beyond all that is there: of a root whose row was taken away behind our back, frames or a snapshot may be left.
  const insertRoot = database.prepare(
    `INSERT INTO roots (root, kind, id, seq, first, checksum, wake_at, at)
     VALUES (1 + max(
       coalesce((SELECT max(root) FROM roots), 0), coalesce((SELECT max(place) >> 24 FROM frames), 0), coalesce((SELECT max(root) FROM snapshots), 0)
     ), ?, ?, 1, 1, ?, ?, ?)`,
  )
  const updateRoot = database.prepare('UPDATE roots SET seq = ?, checksum = ?, wake_at = ?, at = ? WHERE root = ?')
  const insertFrame = database.prepare('INSERT INTO frames (place, previous, checksum, bytes) VALUES (? << 24 | 1, ?, ?, ?)')
  // Only behind what was written last: if somebody else took that away, nothing is written, and nothing acknowledged.
  const insertNextFrame = database.prepare(
    `INSERT INTO frames (place, previous, checksum, bytes) SELECT before.place + 1, before.checksum, ?, ? FROM roots
     JOIN frames before ON before.place = (roots.root << 24) + roots.seq AND before.checksum = roots.checksum
     WHERE roots.root = ? AND roots.seq = ? AND roots.checksum = ?`,
  )
  const upsertSnapshot = database.prepare(
    `INSERT INTO snapshots (root, seq, checksum, bytes) VALUES (?, ?, ?, ?)
     ON CONFLICT (root) DO UPDATE SET seq = excluded.seq, checksum = excluded.checksum, bytes = excluded.bytes WHERE excluded.seq >= snapshots.seq`,
  )
  const deleteFramesBefore = database.prepare('DELETE FROM frames WHERE place >= (?1 << 24) AND place < (?1 << 24) + ?2')
  const raiseFirst = database.prepare('UPDATE roots SET first = max(first, ?) WHERE root = ?')
  const deleteFrames = database.prepare('DELETE FROM frames WHERE place >= (?1 << 24) AND place < ((?1 + 1) << 24)')
  const deleteSnapshot = database.prepare('DELETE FROM snapshots WHERE root = ?')
  const deleteRoot = database.prepare('DELETE FROM roots WHERE root = ?')

  const tips = new Map<string, Tip>()
  const keep = (key: string, tip: Tip): Tip => {
    if (tips.size >= tipsMax) tips.clear()
    tips.set(key, tip)
    return tip
  }

  /** Looks the root up, and at the first time in this process checks that what we would chain to is whole. */
  const tipOf = (address: Address): Tip | undefined => {
    const key = `${address.kind}/${address.id}`
    const known = tips.get(key)
    if (known !== undefined) return known
    const row = selectRoot.get(address.kind, address.id) as (Tip & { first: number }) | undefined
    if (row === undefined) return undefined
    if (row.first <= row.seq) {
      const frame = selectFrame.get(row.root, row.seq) as { previous: number; checksum: number; bytes: Uint8Array } | undefined
      if (frame === undefined) throw corruptAt(address, row.seq, 'the last frame is missing')
      if (frame.checksum !== row.checksum || !fits(frame.bytes, frame.previous, frame.checksum))
        throw corruptAt(address, row.seq, 'the checksum of the last frame does not fit')
    }
    return keep(key, { root: row.root, seq: row.seq, checksum: row.checksum })
  }

  return {
    /** What was learnt in a transaction that was rolled back is not true. */
    forget: () => tips.clear(),

    append(address: Address, expected: number, wakeAt: number | null, at: number, bytes: Uint8Array): number {
      const tip = tipOf(address)
      const last = tip?.seq ?? 0
      if (last !== expected) return last
      if (last >= framesMax)
        throw new RuntimeError('too_large', `${address.kind}/${address.id} has ${last} entries and can have no more`, {
          hint: 'begin another one, or delete this one; see retention',
        })
      const previous = tip?.checksum ?? chainStart(address)
      const checksum = chained(bytes, previous)
      if (tip === undefined) {
        const root = Number(insertRoot.run(address.kind, address.id, checksum, wakeAt, at).lastInsertRowid)
        insertFrame.run(root, previous, checksum, bytes)
        keep(`${address.kind}/${address.id}`, { root, seq: 1, checksum })
      } else {
        const { changes } = insertNextFrame.run(checksum, bytes, tip.root, last, previous)
        if (changes !== 1) throw corruptAt(address, last, 'it was there, and is gone')
        updateRoot.run(last + 1, checksum, wakeAt, at, tip.root)
        tip.seq = last + 1
        tip.checksum = checksum
      }
      return appended
    },

    /** A late writer's snapshot of a root that is gone is dropped: losing one costs time only. */
    saveSnapshot(address: Address, seq: number, bytes: Uint8Array): number {
      const row = selectRoot.get(address.kind, address.id)
      if (row === undefined) return unchanged
      upsertSnapshot.run(row.root as number, seq, chained(bytes, chainStart(address)), bytes)
      return appended
    },

    truncate(address: Address, before: number): number {
      const row = selectRoot.get(address.kind, address.id)
      if (row === undefined) return unchanged
      const first = Math.min(before, row.seq as number)
      deleteFramesBefore.run(row.root as number, first)
      raiseFirst.run(first, row.root as number)
      return appended
    },

    remove(address: Address): number {
      tips.delete(`${address.kind}/${address.id}`)
      const row = selectRoot.get(address.kind, address.id)
      if (row === undefined) return unchanged
      for (const statement of [deleteFrames, deleteSnapshot, deleteRoot]) statement.run(row.root as number)
      return appended
    },
  }
}
