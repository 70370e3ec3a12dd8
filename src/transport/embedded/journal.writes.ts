/** The writing half of the journal. Every function runs inside the group's transaction and refuses before it changes anything. */
import type { DatabaseSync } from 'node:sqlite'
import { RuntimeError } from '../../contracts/errors.ts'
import type { Address } from '../../contracts/subjects.ts'
import { checkedKey } from '../address.ts'
import { chained, chainStart, corruptAt, fits } from '../checksum.ts'
import { checkFork, segmentsOf, takenError } from '../forking.ts'
import { Known } from '../known.ts'
import { framesMax } from '../limits.ts'
import { forksIn, forkWrites, type Shared } from './forks.ts'
import { checkProof, framesAt, listOf, placesIn, placesPerRow, proofOf, type Root, type RootRow, rootColumns, rootIn } from './places.ts'
import { appended, unchanged } from './requests.ts'

export const journalWrites = (database: DatabaseSync) => {
  const selectRoot = database.prepare(`SELECT ${rootColumns} FROM roots WHERE kind = ? AND id = ?`)
  selectRoot.setReturnArrays(true)
  const frameAt = framesAt(database)
  // A number beyond all that is there: of a root whose row was taken away behind our back, a snapshot may be left.
  const selectNumber = database.prepare(
    `SELECT 1 + max(coalesce((SELECT max(root) FROM roots), 0), coalesce((SELECT max(root) FROM places), 0),
       coalesce((SELECT max(root) FROM snapshots), 0), coalesce((SELECT max(root) FROM forks), 0)) AS root`,
  )
  const insertRoot = database.prepare(
    'INSERT INTO roots (root, kind, id, seq, first, checksum, wake_at, at, proof, tail) VALUES (?, ?, ?, ?, 1, ?, ?, ?, ?, ?)',
  )
  const updateRoot = database.prepare('UPDATE roots SET seq = ?, checksum = ?, wake_at = ?, at = ?, proof = ?, tail = ? WHERE root = ?')
  const insertFrame = database.prepare('INSERT INTO frames (root, seq, previous, checksum, groups, bytes) VALUES (?, ?, ?, ?, ?, ?)')
  // Only behind what was written last: if somebody else took that away, nothing is written, and nothing acknowledged.
  const insertNextFrame = database.prepare(
    `INSERT INTO frames (root, seq, previous, checksum, groups, bytes) SELECT root, seq + 1, checksum, ?, ?, ? FROM frames
     WHERE place = ? AND root = ? AND seq = ? AND checksum = ?`,
  )
  const insertPlaces = database.prepare('INSERT OR REPLACE INTO places (root, first, list) VALUES (?, ?, ?)')
  const selectPlaces = database.prepare('SELECT first, list FROM places WHERE root = ?')
  const selectRootBy = database.prepare(`SELECT ${rootColumns}, kind, id FROM roots WHERE root = ?`)
  selectRootBy.setReturnArrays(true)
  const forks = forksIn(database)
  const writes = forkWrites(database)
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

  // In the transaction that begins or removes it, so that a root that goes any other way is missed. Those above `up_to` are counted at the next start or
  // end: a commit that begins a root touches no page for it.
  const countRoot = database.prepare('UPDATE counter SET roots = roots + ?1, numbers = numbers + ?1 * ?2 WHERE up_to >= ?2')

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
    const own = placesIn(tip.tail).at(-1)
    // A fork that has written nothing continues what another root has: that is looked at when it is read.
    if (own === undefined && forks.shared(tip.root, address).segments.at(-1)?.upTo === tip.seq) return tip
    const frame = frameAt(own, tip.root, tip.seq)
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
    const place = Number(insertFrame.run(root, 1, previous, checksum, group, bytes).lastInsertRowid)
    const tail = listOf([place])
    const proof = proofOf({ seq: 1, first: 1, checksum, wakeAt, at, tail })
    insertRoot.run(root, address.kind, address.id, 1, checksum, wakeAt, at, proof, tail)
    countRoot.run(1, root)
    whole.set(checkedKey(address), root)
  }

  const goOn = (address: Address, tip: Root, wakeAt: number | null, at: number, bytes: Uint8Array, group: number): void => {
    const { root, seq: last, first } = tip
    const checksum = chained(bytes, tip.checksum)
    const places = placesIn(tip.tail)
    const before = places.at(-1)
    const { changes, lastInsertRowid } =
      before === undefined
        ? insertFrame.run(root, last + 1, tip.checksum, checksum, group, bytes)
        : insertNextFrame.run(checksum, group, bytes, before, root, last, tip.checksum)
    if (changes !== 1) throw corruptAt(address, last, 'it was there, and is gone')
    const full = places.length >= placesPerRow
    if (full) insertPlaces.run(root, last - places.length + 1, tip.tail)
    const tail = listOf(full ? [Number(lastInsertRowid)] : [...places, Number(lastInsertRowid)])
    const seq = last + 1
    updateRoot.run(seq, checksum, wakeAt, at, proofOf({ seq, first, checksum, wakeAt, at, tail }), tail, root)
  }

  const rootBy = (root: number): (Root & { address: Address }) | undefined => {
    const row = selectRootBy.get(root) as unknown as [...RootRow, kind: string, id: string] | undefined
    return row && { ...rootIn(row), address: { kind: row[8], id: row[9] } }
  }

  const placeIn = (root: Root, seq: number): number | undefined => {
    const list = placesOf(root).findLast(({ first, places }) => first <= seq && seq < first + places.length)
    return list?.places[seq - list.first]
  }

  /** @param holder number of the root that has the frame */
  const checksumAt = (source: Root, from: Address, holder: number, seq: number): number => {
    if (seq === source.seq) return source.checksum
    const has = holder === source.root ? source : rootBy(holder)
    const frame = has && frameAt(placeIn(has, seq), holder, seq)
    if (frame === undefined || !fits(frame[2], frame[0], frame[1])) throw corruptAt(from, seq, 'its checksum does not fit')
    return frame[1]
  }

  /** How many frames of a root others have. What is noted of it may be damaged: then they are looked for. */
  const sharedOf = ({ root, first }: Root, address: Address): number => {
    try {
      let count = 0
      let begins = first
      for (const { upTo, source } of forks.shared(root, address).segments) {
        if (source !== root) count += Math.max(0, upTo - begins + 1)
        begins = Math.max(first, upTo + 1)
      }
      return count
    } catch {
      return Number.NaN
    }
  }

  /** Copies to the forks of a root what they share with it. A frame that is damaged stays missing: they say so when they are read. */
  const keepForForks = (source: Root, group: number): void => {
    const sharing = writes.sharing(source.root)
    if (sharing.length === 0) return
    const frames = new Map(placesOf(source).flatMap(({ first, places }) => places.map((place, index) => [first + index, place] as const)))
    for (const { root, up_to } of sharing) {
      const fork = rootBy(root)
      if (fork === undefined) continue
      const { segments, origin } = forks.shared(root, fork.address)
      const index = segments.findIndex(({ upTo }) => upTo === up_to)
      const segment = segments[index] as Shared
      let list: number[] = []
      const begins = Math.max(fork.first, (segments[index - 1]?.upTo ?? 0) + 1)
      const flush = (next: number): void => {
        if (list.length > 0) insertPlaces.run(root, next - list.length, listOf(list))
        list = []
      }
      for (let seq = begins; seq <= up_to; seq += 1) {
        const frame = frameAt(frames.get(seq), source.root, seq)
        if (frame === undefined) flush(seq)
        else list.push(Number(insertFrame.run(root, seq, frame[0], frame[1], group, frame[2]).lastInsertRowid))
        if (list.length === placesPerRow) flush(seq + 1)
      }
      flush(up_to + 1)
      writes.put(root, { ...segment, source: root }, index === segments.length - 1 ? (origin ?? null) : null)
    }
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

    /** @param now ms since the epoch */
    fork(kind: string, fromId: string, toId: string, at: number, origin: string, wakeAt: number | null, now: number): number {
      const [from, to] = [
        { kind, id: fromId },
        { kind, id: toId },
      ]
      const source = tipOf(from)
      checkFork(from, at, to, source, source?.first ?? 1)
      if (source === undefined || find(to) !== undefined) throw takenError(to)
      const { segments } = forks.shared(source.root, from)
      const shared = segmentsOf(segments, { upTo: source.seq, source: source.root, of: from }, at)
      const checksum = checksumAt(source, from, shared.at(-1)?.source ?? source.root, at)
      const { root } = selectNumber.get() as { root: number }
      for (const [index, segment] of shared.entries()) writes.put(root, segment, index === shared.length - 1 ? origin : null)
      const tail = listOf([])
      insertRoot.run(root, kind, toId, at, checksum, wakeAt, now, proofOf({ seq: at, first: 1, checksum, wakeAt, at: now, tail }), tail)
      countRoot.run(1, root)
      return appended
    },

    truncate(address: Address, before: number, group: number): number {
      const found = tipOf(address)
      if (found === undefined) return unchanged
      const first = Math.max(found.first, Math.min(before, found.seq))
      if (first > found.first) keepForForks(found, group)
      for (const list of placesOf(found)) {
        if (list.first >= first) continue
        deleteFramesAt.run(listOf(list.places), found.root, first)
        if (list.first + list.places.length <= first) deletePlacesFrom.run(found.root, list.first)
      }
      raiseFirst.run(first, proofOf({ ...found, first }), found.root)
      return appended
    },

    /** Of a damaged root as well: to delete it is the way out. */
    remove(address: Address, group: number): number {
      whole.delete(checkedKey(address))
      const found = find(address)
      if (found === undefined) return unchanged
      const { root, seq, first } = found
      keepForForks(found, group)
      const elsewhere = sharedOf(found, address)
      writes.delete(root)
      let deleted = 0
      for (const { places } of placesOf(found)) deleted += Number(deleteFramesAt.run(listOf(places), root, Number.MAX_SAFE_INTEGER).changes)
      // Frames that no list leads to any more are looked for one by one: what was deleted must not stay readable in the file.
      if (deleted !== seq - first + 1 - elsewhere) deleteFrames.run(root)
      for (const statement of [deletePlaces, deleteSnapshot, deleteRoot]) statement.run(root)
      countRoot.run(-1, root)
      return appended
    },
  }
}
