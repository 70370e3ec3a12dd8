/** Queries on the main thread, each one consistent view. Nothing leaves here without its checksum having been checked. */
import type { DatabaseSync } from 'node:sqlite'
import type { RuntimeError } from '../../contracts/errors.ts'
import { isDamage } from '../../contracts/shorter.ts'
import type { Address } from '../../contracts/subjects.ts'
import type { Frame, Head } from '../../contracts/transport.ts'
import { chainStart, corruptAt, fits } from '../checksum.ts'
import { placesIn, proofOf } from './places.ts'

/** In the order of the columns selected: arrays cost half of what row objects do. */
type RootRow = [
  root: number,
  kind: string,
  id: string,
  seq: number,
  first: number,
  checksum: number,
  wakeAt: number | null,
  at: number,
  proof: number,
  tail: string,
]
type Root = { root: number; head: Head; first: number; checksum: number; tail: string }
type FrameRow = [previous: number, checksum: number, bytes: Uint8Array]

const rootColumns = 'root, kind, id, seq, first, checksum, wake_at, at, proof, tail'

export const journalReads = (database: DatabaseSync) => {
  const select = (text: string) => {
    const statement = database.prepare(text)
    statement.setReturnArrays(true)
    return statement
  }
  const selectRoot = select(`SELECT ${rootColumns} FROM roots WHERE kind = ? AND id = ?`)
  const selectRoots = select(`SELECT ${rootColumns} FROM roots WHERE (kind, id) > (?, ?) ORDER BY kind, id LIMIT ?`)
  const selectRootsOfKind = select(`SELECT ${rootColumns} FROM roots WHERE kind = ? AND id > ? ORDER BY id LIMIT ?`)
  const selectAllRoots = select(`SELECT ${rootColumns} FROM roots`)
  // From the list that holds the first sequence on.
  const selectPlaces = select(
    `SELECT first, list FROM places WHERE root = ?1 AND first >= coalesce((SELECT max(first) FROM places WHERE root = ?1 AND first <= ?2), 0)
     AND first <= ?3`,
  )
  const selectFrame = select('SELECT previous, checksum, bytes FROM frames WHERE place = ? AND root = ? AND seq = ?')
  const selectSnapshot = database.prepare(
    `SELECT snapshots.seq AS seq, snapshots.checksum AS checksum, snapshots.bytes AS bytes FROM roots JOIN snapshots ON snapshots.root = roots.root
     WHERE roots.kind = ? AND roots.id = ?`,
  )
  const begin = database.prepare('BEGIN')
  const end = database.prepare('COMMIT')

  /** Several statements that see the same. */
  const together = <T>(question: () => T): T => {
    begin.run()
    try {
      return question()
    } finally {
      end.run()
    }
  }

  const rootOf = (address: Address): Root | undefined => {
    const row = selectRoot.get(address.kind, address.id) as unknown as RootRow | undefined
    return row === undefined ? undefined : checkedRoot(row)
  }

  /** @returns the places of frames by their sequence */
  const placesOf = ({ root, head, tail }: Root, from: number, until: number): Map<number, number> => {
    const places = new Map<number, number>()
    const note = (first: number, list: string): void => {
      for (const [index, place] of placesIn(list).entries()) places.set(first + index, place)
    }
    const newest = head.seq - placesIn(tail).length + 1
    if (from < newest) for (const [first, list] of selectPlaces.all(root, from, until) as unknown as [number, string][]) note(first, list)
    note(newest, tail)
    return places
  }

  /** @throws RuntimeError corrupt_at for a gap, a byte that changed, or a frame that does not follow from the one before */
  const framesOf = (found: Root, from: number, limit: number): Frame[] => {
    const { root, head, first, checksum: tip } = found
    const { address, seq: last } = head
    const begins = Math.max(from, first)
    const until = Math.min(last, begins + limit - 1)
    const places = placesOf(found, begins, until)
    const frames: Frame[] = []
    let chain: number | undefined = begins === 1 ? chainStart(address) : undefined
    for (let seq = begins; seq <= until; seq += 1) {
      const row = selectFrame.get(places.get(seq) ?? 0, root, seq) as unknown as FrameRow | undefined
      if (row === undefined) throw corruptAt(address, seq, 'the frame is missing')
      const [previous, checksum, bytes] = row
      if ((chain !== undefined && previous !== chain) || !fits(bytes, previous, checksum) || (seq === last && checksum !== tip))
        throw corruptAt(address, seq, 'its checksum does not fit')
      frames.push({ seq, bytes })
      chain = checksum
    }
    return frames
  }

  return {
    read: (address: Address, from: number, limit: number): Frame[] =>
      together(() => {
        const root = rootOf(address)
        return root === undefined ? [] : framesOf(root, from, limit)
      }),

    last: (address: Address): Frame | undefined =>
      together(() => {
        const root = rootOf(address)
        return root === undefined ? undefined : framesOf(root, root.head.seq, 1)[0]
      }),

    head: (address: Address): Head | undefined => rootOf(address)?.head,

    list({ kind, after, limit = -1 }: { kind?: string; after?: Address; limit?: number }): Head[] {
      if (kind !== undefined && after !== undefined && after.kind > kind) return []
      const rows =
        kind === undefined
          ? selectRoots.all(after?.kind ?? '', after?.id ?? '', limit)
          : selectRootsOfKind.all(kind, after?.kind === kind ? after.id : '', limit)
      return (rows as unknown as RootRow[]).map((row) => checkedRoot(row).head)
    },

    /** All roots, in no order; instead of a damaged one its error. */
    *heads(): Generator<Head | RuntimeError> {
      for (const row of selectAllRoots.iterate()) yield headOrDamage(row as unknown as RootRow)
    },

    snapshot(address: Address): Frame | undefined {
      const row = selectSnapshot.get(address.kind, address.id) as { seq: number; checksum: number; bytes: Uint8Array } | undefined
      if (row === undefined || !fits(row.bytes, chainStart(address), row.checksum)) return undefined
      return { seq: row.seq, bytes: row.bytes }
    },
  }
}

const headOrDamage = (row: RootRow): Head | RuntimeError => {
  try {
    return checkedRoot(row).head
  } catch (error) {
    if (isDamage(error)) return error
    throw error
  }
}

/** @throws RuntimeError corrupt_at */
const checkedRoot = ([root, kind, id, seq, first, checksum, wakeAt, at, proof, tail]: RootRow): Root => {
  const address = { kind, id }
  if (proofOf({ seq, first, checksum, wakeAt, at, tail }) !== proof) throw corruptAt(address, seq, 'what is noted of it does not fit')
  return { root, head: { address, seq, wakeAt, at }, first, checksum, tail }
}
