/** Queries on the main thread, each one consistent view. Nothing leaves here without its checksum having been checked. */
import type { DatabaseSync } from 'node:sqlite'
import type { RuntimeError } from '../../contracts/errors.ts'
import type { Origin } from '../../contracts/fork.ts'
import { isDamage } from '../../contracts/lost-end.ts'
import type { Address } from '../../contracts/subjects.ts'
import type { Frame, Head } from '../../contracts/transport.ts'
import { chainStart, corruptAt, fits } from '../checksum.ts'
import { shortOrigin } from '../forking.ts'
import { forksIn } from './forks.ts'
import { checkProof, framesAt, placesIn, type Root, type RootRow, rootColumns, rootIn } from './places.ts'

type Row = [...RootRow, kind: string, id: string, origin: string | null]
type Found = { root: Root; head: Head }

const columns = `${rootColumns}, kind, id, (SELECT origin FROM forks WHERE forks.root = roots.root AND origin IS NOT NULL)`

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
  const forks = forksIn(database)
  const selectTail = select('SELECT seq, tail FROM roots WHERE root = ?')
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
  const placesOf = (root: number, { seq, tail }: Pick<Root, 'seq' | 'tail'>, from: number, until: number): Map<number, number> => {
    const places = new Map<number, number>()
    const note = (first: number, list: string): void => {
      for (const [index, place] of placesIn(list).entries()) places.set(first + index, place)
    }
    const newest = seq - placesIn(tail).length + 1
    if (from < newest) for (const [first, list] of selectPlaces.all(root, from, until) as unknown as [number, string][]) note(first, list)
    note(newest, tail)
    return places
  }

  /** Where the frames of a root stand that it does not have itself, and its own. */
  const partsOf = ({ root: found, head: { address, origin } }: Found) => {
    const { segments } = origin ? forks.shared(found.root, address) : { segments: [] }
    const shared = segments.map(({ upTo, source, of }) => {
      const tail = source === found.root ? [found.seq, found.tail] : selectTail.get(source)
      const [seq = 0, list = ''] = (tail ?? []) as [number?, string?]
      return { root: source, upTo, of, seq, tail: list }
    })
    return [...shared, { root: found.root, upTo: found.seq, of: undefined, seq: found.seq, tail: found.tail }]
  }

  /** @throws RuntimeError corrupt_at for a gap, a byte that changed, or a frame that does not follow from the one before */
  const framesOf = (found: Found, from: number, limit: number): Frame[] => {
    const { address } = found.head
    const { seq: last, first, checksum: tip } = found.root
    const begins = Math.max(from, first)
    const until = Math.min(last, begins + limit - 1)
    const frames: Frame[] = []
    let chain: number | undefined
    let seq = begins
    for (const part of partsOf(found)) {
      if (part.upTo < seq || seq > until) continue
      const { root, of } = part
      if (seq === 1) chain = chainStart(of ?? address)
      const places = placesOf(root, part, seq, Math.min(until, part.upTo))
      for (; seq <= Math.min(until, part.upTo); seq += 1) {
        const row = frameAt(places.get(seq), root, seq)
        if (row === undefined) throw corruptAt(address, seq, 'the frame is missing')
        const [previous, checksum, bytes] = row
        if ((chain !== undefined && previous !== chain) || !fits(bytes, previous, checksum) || (seq === last && checksum !== tip))
          throw corruptAt(address, seq, 'its checksum does not fit')
        frames.push(of ? { seq, bytes, of } : { seq, bytes })
        chain = checksum
      }
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

    origin: (address: Address): Origin | undefined =>
      together(() => {
        const found = find(address)
        const said = found?.head.origin && forks.shared(found.root.root, address).origin
        return said === undefined ? undefined : (JSON.parse(said) as Origin)
      }),

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

/** What has to fit is compared where its frames are read. @throws RuntimeError corrupt_at */
const originIn = (address: Address, text: string): Origin => {
  try {
    return JSON.parse(text) as Origin
  } catch {
    throw corruptAt(address, 1, 'what is noted of the fork does not fit')
  }
}

/** @throws RuntimeError corrupt_at */
const checked = (row: Row): Found => {
  const root = rootIn(row)
  const address = { kind: row[8], id: row[9] }
  checkProof(address, root)
  const origin = row[10] === null ? {} : { origin: shortOrigin(originIn(address, row[10])) }
  return { root, head: { address, seq: root.seq, wakeAt: root.wakeAt, at: root.at, ...origin } }
}
