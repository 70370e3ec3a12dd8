/** The writing half of the journal. Every function runs inside the group's transaction and refuses before it changes anything. */
import type { DatabaseSync } from 'node:sqlite'
import { RuntimeError } from '../../contracts/errors.ts'
import type { Address } from '../../contracts/subjects.ts'
import { checkedKey } from '../address.ts'
import { chained, chainStart, corruptAt, fits } from '../checksum.ts'
import { Known } from '../known.ts'
import { framesMax } from '../limits.ts'
import { checkProof, framesAt, listOf, placesIn, placesPerRow, proofOf, type Root, type RootRow, rootColumns, rootIn } from './places.ts'
import { appended, unchanged } from './requests.ts'

export const journalWrites = (database: DatabaseSync) => {
  const selectRoot = database.prepare(`SELECT ${rootColumns} FROM roots WHERE kind = ? AND id = ?`)
  selectRoot.setReturnArrays(true)
  const frameAt = framesAt(database)
  // A number beyond all that is there: of a root whose row was taken away behind our back, a snapshot may be left.
  const selectNumber = database.prepare(
    `SELECT 1 + max(coalesce((SELECT max(root) FROM roots), 0), coalesce((SELECT max(root) FROM places), 0),
       coalesce((SELECT max(root) FROM snapshots), 0)) AS root`,
  )
  const insertRoot = database.prepare(
    'INSERT INTO roots (root, kind, id, seq, first, checksum, wake_at, at, proof, tail) VALUES (?, ?, ?, 1, 1, ?, ?, ?, ?, ?)',
  )
  const updateRoot = database.prepare('UPDATE roots SET seq = ?, checksum = ?, wake_at = ?, at = ?, proof = ?, tail = ? WHERE root = ?')
  const insertFrame = database.prepare('INSERT INTO frames (root, seq, previous, checksum, groups, bytes) VALUES (?, 1, ?, ?, ?, ?)')
  // Only behind what was written last: if somebody else took that away, nothing is written, and nothing acknowledged.
  const insertNextFrame = database.prepare(
    `INSERT INTO frames (root, seq, previous, checksum, groups, bytes) SELECT root, seq + 1, checksum, ?, ?, ? FROM frames
     WHERE place = ? AND root = ? AND seq = ? AND checksum = ?`,
  )
  const insertPlaces = database.prepare('INSERT OR REPLACE INTO places (root, first, list) VALUES (?, ?, ?)')
  const selectPlaces = database.prepare('SELECT first, list FROM places WHERE root = ?')
  const upsertSnapshot = database.prepare(
    `INSERT INTO snapshots (root, seq, checksum, bytes) VALUES (?, ?, ?, ?)
     ON CONFLICT (root) DO UPDATE SET seq = excluded.seq, checksum = excluded.checksum, bytes = excluded.bytes WHERE excluded.seq >= snapshots.seq`,
  )
  const deleteFramesAt = database.prepare('DELETE FROM frames WHERE place IN (SELECT value FROM json_each(?)) AND root = ? AND seq < ?')
  const deletePlacesFrom = database.prepare('DELETE FROM places WHERE root = ? AND first = ?')
  const raiseFirst = database.prepare('UPDATE roots SET first = ?, proof = ? WHERE root = ?')
  const deleteFrames = database.prepare('DELETE FROM frames WHERE root = ?')
  const deletePlaces = database.prepare('DELETE FROM places WHERE root = ?')
  const deleteSnapshot = database.prepare('DELETE FROM snapshots WHERE root = ?')
  const deleteRoot = database.prepare('DELETE FROM roots WHERE root = ?')

  /** Roots whose last frame was found whole in this process; what was appended since then is our own. */
  const whole = new Known<number>()

  const find = (address: Address): Root | undefined => {
    const row = selectRoot.get(address.kind, address.id) as unknown as RootRow | undefined
    return row === undefined ? undefined : rootIn(row)
  }

  /** Looks the root up, and at the first time in this process checks that what we would chain to is whole. */
  const tipOf = (address: Address): Root | undefined => {
    const tip = find(address)
    if (tip === undefined) return undefined
    checkProof(address, tip)
    const key = checkedKey(address)
    if (whole.get(key) === tip.root) return tip
    const frame = frameAt(placesIn(tip.tail).at(-1), tip.root, tip.seq)
    if (frame === undefined) throw corruptAt(address, tip.seq, 'the last frame is missing')
    const [previous, checksum, bytes] = frame
    if (checksum !== tip.checksum || !fits(bytes, previous, checksum))
      throw corruptAt(address, tip.seq, 'the checksum of the last frame does not fit')
    whole.set(key, tip.root)
    return tip
  }

  /** All places of a root that are known, by the sequence that the first of each list has. */
  const placesOf = ({ root, seq, tail }: Root): { first: number; places: number[] }[] => {
    const newest = placesIn(tail)
    const rows = selectPlaces.all(root) as { first: number; list: string }[]
    return [...rows.map(({ first, list }) => ({ first, places: placesIn(list) })), { first: seq - newest.length + 1, places: newest }]
  }

  const begin = (address: Address, wakeAt: number | null, at: number, bytes: Uint8Array, group: number): void => {
    const { root } = selectNumber.get() as { root: number }
    const previous = chainStart(address)
    const checksum = chained(bytes, previous)
    const place = Number(insertFrame.run(root, previous, checksum, group, bytes).lastInsertRowid)
    const tail = listOf([place])
    const proof = proofOf({ seq: 1, first: 1, checksum, wakeAt, at, tail })
    insertRoot.run(root, address.kind, address.id, checksum, wakeAt, at, proof, tail)
    whole.set(checkedKey(address), root)
  }

  const goOn = (address: Address, tip: Root, wakeAt: number | null, at: number, bytes: Uint8Array, group: number): void => {
    const { root, seq: last, first } = tip
    const checksum = chained(bytes, tip.checksum)
    const places = placesIn(tip.tail)
    const { changes, lastInsertRowid } = insertNextFrame.run(checksum, group, bytes, places.at(-1) ?? 0, root, last, tip.checksum)
    if (changes !== 1) throw corruptAt(address, last, 'it was there, and is gone')
    const full = places.length >= placesPerRow
    if (full) insertPlaces.run(root, last - places.length + 1, tip.tail)
    const tail = listOf(full ? [Number(lastInsertRowid)] : [...places, Number(lastInsertRowid)])
    const seq = last + 1
    updateRoot.run(seq, checksum, wakeAt, at, proofOf({ seq, first, checksum, wakeAt, at, tail }), tail, root)
  }

  return {
    /** What was learnt in a transaction that was rolled back is not true. */
    forget: () => whole.clear(),

    /** @param group that it is committed with */
    append(address: Address, expected: number, wakeAt: number | null, at: number, bytes: Uint8Array, group: number): number {
      const tip = tipOf(address)
      const last = tip?.seq ?? 0
      if (last !== expected) return last
      if (last >= framesMax)
        throw new RuntimeError('too_large', `${address.kind}/${address.id} has ${last} entries and can have no more`, {
          hint: 'begin another one, or delete this one; see retention',
        })
      if (tip === undefined) begin(address, wakeAt, at, bytes, group)
      else goOn(address, tip, wakeAt, at, bytes, group)
      return appended
    },

    /** A late writer's snapshot of a root that is gone is dropped: losing one costs time only. */
    saveSnapshot(address: Address, seq: number, bytes: Uint8Array): number {
      const found = find(address)
      if (found === undefined) return unchanged
      upsertSnapshot.run(found.root, seq, chained(bytes, chainStart(address)), bytes)
      return appended
    },

    truncate(address: Address, before: number): number {
      const found = tipOf(address)
      if (found === undefined) return unchanged
      const first = Math.max(found.first, Math.min(before, found.seq))
      for (const list of placesOf(found)) {
        if (list.first >= first) continue
        deleteFramesAt.run(listOf(list.places), found.root, first)
        if (list.first + list.places.length <= first) deletePlacesFrom.run(found.root, list.first)
      }
      raiseFirst.run(first, proofOf({ ...found, first }), found.root)
      return appended
    },

    /** Of a damaged root as well: to delete it is the way out. */
    remove(address: Address): number {
      whole.delete(checkedKey(address))
      const found = find(address)
      if (found === undefined) return unchanged
      const { root, seq, first } = found
      let deleted = 0
      for (const { places } of placesOf(found)) deleted += Number(deleteFramesAt.run(listOf(places), root, Number.MAX_SAFE_INTEGER).changes)
      // Frames that no list leads to any more are looked for one by one: what was deleted must not stay readable in the file.
      if (deleted !== seq - first + 1) deleteFrames.run(root)
      for (const statement of [deletePlaces, deleteSnapshot, deleteRoot]) statement.run(root)
      return appended
    },
  }
}
