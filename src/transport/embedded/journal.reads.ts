/** Queries on the main thread, each one statement and so one consistent view. Nothing leaves here without its checksum having been checked. */
import type { DatabaseSync } from 'node:sqlite'
import type { Address } from '../../contracts/subjects.ts'
import type { Frame, Head } from '../../contracts/transport.ts'
import { chainStart, corruptAt, fits } from '../checksum.ts'

type HeadRow = { kind: string; id: string; seq: number; wake_at: number | null; at: number }
/** In the order of the columns selected: arrays cost half of what row objects do. */
type FrameRow = [last: number, first: number, tip: number, seq: number | null, previous: number, checksum: number, bytes: Uint8Array]

const headColumns = 'kind, id, seq, wake_at, at'
const frameColumns = 'roots.seq, roots.first, roots.checksum, frames.seq, frames.previous, frames.checksum, frames.bytes'

export const journalReads = (database: DatabaseSync) => {
  const selectFrames = database.prepare(
    `SELECT ${frameColumns} FROM roots LEFT JOIN frames ON frames.place >= (roots.root << 24) + ? AND frames.place < ((roots.root + 1) << 24)
     WHERE roots.kind = ? AND roots.id = ? ORDER BY frames.place LIMIT ?`,
  )
  selectFrames.setReturnArrays(true)
  const selectLast = database.prepare(
    `SELECT ${frameColumns} FROM roots LEFT JOIN frames ON frames.place = (roots.root << 24) + roots.seq WHERE roots.kind = ? AND roots.id = ?`,
  )
  selectLast.setReturnArrays(true)
  const selectHead = database.prepare(`SELECT ${headColumns} FROM roots WHERE kind = ? AND id = ?`)
  const selectHeads = database.prepare(`SELECT ${headColumns} FROM roots WHERE (kind, id) > (?, ?) ORDER BY kind, id LIMIT ?`)
  const selectHeadsOfKind = database.prepare(`SELECT ${headColumns} FROM roots WHERE kind = ? AND id > ? ORDER BY id LIMIT ?`)
  const selectDue = database.prepare(`SELECT ${headColumns} FROM roots WHERE wake_at <= ? ORDER BY wake_at, kind, id`)
  const selectSnapshot = database.prepare(
    `SELECT snapshots.seq AS seq, snapshots.checksum AS checksum, snapshots.bytes AS bytes FROM roots JOIN snapshots ON snapshots.root = roots.root
     WHERE roots.kind = ? AND roots.id = ?`,
  )

  return {
    read(address: Address, from: number, limit: number): Frame[] {
      // The join answers one row for a root without such frames, hence at least one.
      const rows = selectFrames.all(from, address.kind, address.id, Math.max(1, limit)) as unknown as FrameRow[]
      return limit < 1 ? [] : checkedFrames(address, rows, from, limit)
    },

    last(address: Address): Frame | undefined {
      const row = selectLast.get(address.kind, address.id) as unknown as FrameRow | undefined
      return row === undefined ? undefined : checkedFrames(address, [row], row[0], 1)[0]
    },

    head(address: Address): Head | undefined {
      const row = selectHead.get(address.kind, address.id) as HeadRow | undefined
      return row === undefined ? undefined : headOf(row)
    },

    list({ kind, after, limit = -1 }: { kind?: string; after?: Address; limit?: number }): Head[] {
      if (kind === undefined) return (selectHeads.all(after?.kind ?? '', after?.id ?? '', limit) as HeadRow[]).map(headOf)
      if (after !== undefined && after.kind > kind) return []
      return (selectHeadsOfKind.all(kind, after?.kind === kind ? after.id : '', limit) as HeadRow[]).map(headOf)
    },

    due: (until: number, limit: number, wanted: (address: Address) => boolean = () => true): Head[] => {
      const heads: Head[] = []
      for (const row of selectDue.iterate(until)) {
        if (heads.length >= limit) break
        const head = headOf(row as HeadRow)
        if (wanted(head.address)) heads.push(head)
      }
      return heads
    },

    snapshot(address: Address): Frame | undefined {
      const row = selectSnapshot.get(address.kind, address.id) as { seq: number; checksum: number; bytes: Uint8Array } | undefined
      if (row === undefined || !fits(row.bytes, chainStart(address), row.checksum)) return undefined
      return { seq: row.seq, bytes: row.bytes }
    },
  }
}

const headOf = ({ kind, id, seq, wake_at, at }: HeadRow): Head => ({ address: { kind, id }, seq, wakeAt: wake_at, at })

/** @throws RuntimeError corrupt_at for a gap, a byte that changed, or a frame that does not follow from the one before */
const checkedFrames = (address: Address, rows: FrameRow[], from: number, limit: number): Frame[] => {
  const head = rows[0]
  if (head === undefined) return []
  const [last, first, tip] = head
  let expected = Math.max(from, first)
  let chain: number | undefined = expected === 1 ? chainStart(address) : undefined
  const frames: Frame[] = []
  for (const [, , , seq, previous, checksum, bytes] of rows) {
    if (seq === null) break
    if (seq !== expected) throw corruptAt(address, expected, 'the frame is missing')
    if ((chain !== undefined && previous !== chain) || !fits(bytes, previous, checksum) || (seq === last && checksum !== tip))
      throw corruptAt(address, seq, 'its checksum does not fit')
    frames.push({ seq, bytes })
    chain = checksum
    expected += 1
  }
  if (frames.length < limit && expected <= last) throw corruptAt(address, expected, 'the frame is missing')
  return frames
}
