/** Queries on the main thread, each one consistent view. Nothing leaves here without its checksum having been checked. */
import type { DatabaseSync } from 'node:sqlite'
import type { RuntimeError } from '../../contracts/errors.ts'
import { isDamage } from '../../contracts/lost-end.ts'
import type { Address } from '../../contracts/subjects.ts'
import type { Frame, Head } from '../../contracts/transport.ts'
import { chainStart, corruptAt, fits } from '../checksum.ts'
import { checkProof, framesAt, placesIn, type Root, type RootRow, rootColumns, rootIn } from './places.ts'

type Row = [...RootRow, kind: string, id: string]
type Found = { root: Root; head: Head }

const columns = `${rootColumns}, kind, id`

export const journalReads = (database: DatabaseSync) => {
  const select = (text: string) => {
    const statement = database.prepare(text)
    statement.setReturnArrays(true)
    return statement
  }
  const selectRoot = select(`SELECT ${columns} FROM roots WHERE kind = ? AND id = ?`)
  const selectRoots = select(`SELECT ${columns} FROM roots WHERE (kind, id) > (?, ?) ORDER BY kind, id LIMIT ?`)
  const selectRootsOfKind = select(`SELECT ${columns} FROM roots WHERE kind = ? AND id > ? ORDER BY id LIMIT ?`)
  const selectAllRoots = select(`SELECT ${columns} FROM roots`)
  // From the list that holds the first sequence on.
  const selectPlaces = select(
    `SELECT first, list FROM places WHERE root = ?1 AND first >= coalesce((SELECT max(first) FROM places WHERE root = ?1 AND first <= ?2), 0)
     AND first <= ?3`,
  )
  const frameAt = framesAt(database)
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

  const find = (address: Address): Found | undefined => {
    const row = selectRoot.get(address.kind, address.id) as unknown as Row | undefined
    return row === undefined ? undefined : checked(row)
  }

  /** @returns the places of frames by their sequence */
  const placesOf = ({ root, seq, tail }: Root, from: number, until: number): Map<number, number> => {
    const places = new Map<number, number>()
    const note = (first: number, list: string): void => {
      for (const [index, place] of placesIn(list).entries()) places.set(first + index, place)
    }
    const newest = seq - placesIn(tail).length + 1
    if (from < newest) for (const [first, list] of selectPlaces.all(root, from, until) as unknown as [number, string][]) note(first, list)
    note(newest, tail)
    return places
  }

  /** @throws RuntimeError corrupt_at for a gap, a byte that changed, or a frame that does not follow from the one before */
  const framesOf = ({ root: found, head: { address } }: Found, from: number, limit: number): Frame[] => {
    const { root, seq: last, first, checksum: tip } = found
    const begins = Math.max(from, first)
    const until = Math.min(last, begins + limit - 1)
    const places = placesOf(found, begins, until)
    const frames: Frame[] = []
    let chain: number | undefined = begins === 1 ? chainStart(address) : undefined
    for (let seq = begins; seq <= until; seq += 1) {
      const row = frameAt(places.get(seq), root, seq)
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
        const found = find(address)
        return found === undefined ? [] : framesOf(found, from, limit)
      }),

    last: (address: Address): Frame | undefined =>
      together(() => {
        const found = find(address)
        return found === undefined ? undefined : framesOf(found, found.head.seq, 1)[0]
      }),

    head: (address: Address): Head | undefined => find(address)?.head,

    list({ kind, after, limit = -1 }: { kind?: string | undefined; after?: Address | undefined; limit?: number | undefined }): Head[] {
      if (kind !== undefined && after !== undefined && after.kind > kind) return []
      const rows =
        kind === undefined
          ? selectRoots.all(after?.kind ?? '', after?.id ?? '', limit)
          : selectRootsOfKind.all(kind, after?.kind === kind ? after.id : '', limit)
      return (rows as unknown as Row[]).map((row) => checked(row).head)
    },

    /** All roots, in no order; instead of a damaged one its error. */
    *heads(): Generator<Head | RuntimeError> {
      for (const row of selectAllRoots.iterate()) yield headOrDamage(row as unknown as Row)
    },

    snapshot(address: Address): Frame | undefined {
      const row = selectSnapshot.get(address.kind, address.id) as { seq: number; checksum: number; bytes: Uint8Array } | undefined
      if (row === undefined || !fits(row.bytes, chainStart(address), row.checksum)) return undefined
      return { seq: row.seq, bytes: row.bytes }
    },
  }
}

const headOrDamage = (row: Row): Head | RuntimeError => {
  try {
    return checked(row).head
  } catch (error) {
    if (isDamage(error)) return error
    throw error
  }
}

/** @throws RuntimeError corrupt_at */
const checked = (row: Row): Found => {
  const root = rootIn(row)
  const address = { kind: row[8], id: row[9] }
  checkProof(address, root)
  return { root, head: { address, seq: root.seq, wakeAt: root.wakeAt, at: root.at } }
}
