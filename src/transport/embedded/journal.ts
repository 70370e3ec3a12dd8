/** The journal of the embedded store: writes go to the writer thread, reads are answered here. */
import type { Environment } from '../../contracts/environment.ts'
import { type ErrorCode, isRuntimeError } from '../../contracts/errors.ts'
import type { Appended, Journal } from '../../contracts/transport.ts'
import { addressKey } from '../address.ts'
import { checkBytes, frameBytesMax, snapshotBytesMax } from '../limits.ts'
import type { FreeSpace } from './free-space.ts'
import type { journalReads } from './journal.reads.ts'
import { appended } from './requests.ts'
import type { Writer } from './writer.client.ts'

/** Refusals that were certain before anything was written; of every other failure nothing is known. */
const certain: ReadonlySet<ErrorCode> = new Set(['log_full', 'too_large', 'closed', 'bad_request', 'corrupt_at'])

export type JournalParts = {
  writer: Writer
  reads: ReturnType<typeof journalReads>
  space: FreeSpace
  failPoints: Environment['failPoints']
  /** Runs a query with the store's errors translated. @throws RuntimeError closed */
  query<T>(question: () => T): T
}

export const embeddedJournal = ({ writer, reads, space, failPoints, query }: JournalParts): Journal => {
  const sent = () => failPoints.hit('K02')

  return {
    async append(address, expected, bytes, { wakeAt, at }): Promise<Appended> {
      addressKey(address)
      checkBytes(bytes, frameBytesMax, 'frame')
      const dead = writer.failure()
      if (dead !== undefined) throw dead
      space.require(bytes.length)
      try {
        const result = await writer.write(['append', address.kind, address.id, expected, wakeAt, at, bytes], sent)
        return result === appended ? { outcome: 'ok' } : { outcome: 'fenced', last: result }
      } catch (error) {
        // Of files that nobody will open again it is certain too.
        if (!isRuntimeError(error) || certain.has(error.code) || writer.lost() !== undefined) throw error
        return { outcome: 'unknown', cause: error }
      }
    },
    async read(address, from, { limit = Number.MAX_SAFE_INTEGER } = {}) {
      addressKey(address)
      return query(() => reads.read(address, from, limit))
    },
    async last(address) {
      addressKey(address)
      return query(() => reads.last(address))
    },
    async head(address) {
      addressKey(address)
      return query(() => reads.head(address))
    },
    async list(options = {}) {
      return query(() => reads.list(options))
    },
    async due(until, limit, wanted) {
      return query(() => reads.due(until, limit, wanted))
    },
    async saveSnapshot(address, seq, bytes) {
      addressKey(address)
      checkBytes(bytes, snapshotBytesMax, 'snapshot')
      const stop = failPoints.hit('K16')
      if (stop !== undefined) await stop
      space.require(bytes.length)
      await writer.write(['saveSnapshot', address.kind, address.id, seq, bytes])
    },
    async snapshot(address) {
      addressKey(address)
      return query(() => reads.snapshot(address))
    },
    async truncate(address, before) {
      addressKey(address)
      await writer.write(['truncate', address.kind, address.id, before])
    },
    async remove(address) {
      addressKey(address)
      await writer.write(['remove', address.kind, address.id])
    },
  }
}
