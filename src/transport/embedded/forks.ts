/** Whose frames a fork shares. A row for each root that wrote some of them; when one of those goes away, its frames are copied to the fork. */
import type { DatabaseSync } from 'node:sqlite'
import { crc32 } from 'node:zlib'
import type { Address } from '../../contracts/subjects.ts'
import { corruptAt } from '../checksum.ts'
import type { Segment } from '../forking.ts'

/** @property source number of the root that has the frames: the fork's own where they were copied */
export type Shared = Segment & { source: number }

type Row = [upTo: number, source: number, kind: string, id: string, origin: string | null, proof: number]

const proofOf = (root: number, { upTo, source, of }: Shared, origin: string | null): number =>
  crc32(JSON.stringify([root, upTo, source, of.kind, of.id, origin]))

export const forksIn = (database: DatabaseSync) => {
  const select = database.prepare('SELECT up_to, source, kind, id, origin, proof FROM forks WHERE root = ? ORDER BY up_to')
  select.setReturnArrays(true)
  return {
    /** By their order; nothing for what is no fork. @param address of the fork @throws RuntimeError corrupt_at */
    shared(root: number, address: Address): { segments: Shared[]; origin: string | undefined } {
      const segments: Shared[] = []
      let origin: string | undefined
      for (const [upTo, source, kind, id, said, proof] of select.all(root) as unknown as Row[]) {
        const segment = { upTo, source, of: { kind, id } }
        if (proofOf(root, segment, said) !== proof) throw corruptAt(address, 1, 'what is noted of the fork does not fit')
        segments.push(segment)
        origin = said ?? origin
      }
      return { segments, origin }
    },
  }
}

export const forkWrites = (database: DatabaseSync) => {
  const insert = database.prepare('INSERT OR REPLACE INTO forks (root, up_to, source, kind, id, origin, proof) VALUES (?, ?, ?, ?, ?, ?, ?)')
  const sharing = database.prepare('SELECT root, up_to FROM forks WHERE source = ?1 AND root <> ?1')
  const deleteAll = database.prepare('DELETE FROM forks WHERE root = ?')
  return {
    put: (root: number, segment: Shared, origin: string | null): void => {
      const { upTo, source, of } = segment
      insert.run(root, upTo, source, of.kind, of.id, origin, proofOf(root, segment, origin))
    },
    /** Who shares frames that a root has. */
    sharing: (source: number) => sharing.all(source) as { root: number; up_to: number }[],
    delete: (root: number) => void deleteAll.run(root),
  }
}
