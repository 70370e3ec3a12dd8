/** The journal of the embedded store: the writer commits, on this thread or on its own, reads are answered here. */
import type { Environment } from '../../contracts/environment.ts'
import { type ErrorCode, isRuntimeError } from '../../contracts/errors.ts'
import { isDamage } from '../../contracts/lost-end.ts'
import type { Address } from '../../contracts/subjects.ts'
import type { Appended, Journal } from '../../contracts/transport.ts'
import { Acknowledged } from '../acknowledged.ts'
import { addressKey } from '../address.ts'
import { checkFork, originOf } from '../forking.ts'
import { checkBytes, frameBytesMax, snapshotBytesMax } from '../limits.ts'
import { type WakeListeners, watchWakes } from '../wake-watch.ts'
import type { FreeSpace } from './free-space.ts'
import type { journalReads } from './journal.reads.ts'
import { appended } from './requests.ts'
import type { Wakes } from './wakes.ts'
import type { Writer } from './writer.ts'

/** Refusals that were certain before anything was written; of every other failure nothing is known. */
const certain: ReadonlySet<ErrorCode> = new Set(['log_full', 'too_large', 'closed', 'bad_request', 'corrupt_at'])

export type JournalParts = {
  writer: Writer
  reads: ReturnType<typeof journalReads>
  wakes: Wakes
  space: FreeSpace
  failPoints: Environment['failPoints']
  /** Runs a query with the store's errors translated. @throws RuntimeError closed */
  query<T>(question: () => T): T
}

export const embeddedJournal = ({ writer, reads, wakes, space, failPoints, query }: JournalParts): Journal => {
  const sent = () => failPoints.hit('K02')
  const acknowledged = new Acknowledged()
  const wakeListeners: WakeListeners = new Set()
  const tellOfWake = (address: Address, wakeAt: number | null): void => {
    if (wakeAt !== null) for (const listener of wakeListeners) listener(address, wakeAt)
  }
  /** What was found of a root, unless it was longer before. @throws RuntimeError corrupt_at */
  const whole = <Found extends { seq: number }>(address: Address, found: Found | undefined): Found | undefined => {
    acknowledged.require(address, found?.seq ?? 0)
    return found
  }

  const fenced = (address: Address): Appended => ({ outcome: 'fenced', last: query(() => whole(address, reads.head(address)))?.seq ?? 0 })

  return {
    async append(address, expected, bytes, { wakeAt, at }): Promise<Appended> {
      addressKey(address)
      checkBytes(bytes, frameBytesMax, 'frame')
      const dead = writer.failure()
      if (dead !== undefined) throw dead
      // The writer goes by the file, which may have been made shorter.
      if (acknowledged.loss(address, expected) !== undefined) return fenced(address)
      space.require(bytes.length)
      wakes.wanted(address, wakeAt)
      try {
        const result = await writer.write(['append', address.kind, address.id, expected, wakeAt, at, bytes], sent)
        if (result !== appended) return fenced(address)
        acknowledged.reached(address, expected + 1)
        wakes.reached(address, wakeAt)
        tellOfWake(address, wakeAt)
        return { outcome: 'ok' }
      } catch (error) {
        // The writer saw one row; the whole of it tells more.
        if (isDamage(error)) query(() => whole(address, reads.head(address)))
        // Of files that nobody will open again it is certain too.
        if (!isRuntimeError(error) || certain.has(error.code) || writer.lost() !== undefined) throw error
        tellOfWake(address, wakeAt)
        return { outcome: 'unknown', cause: error }
      }
    },
    async fork(from, at, to, choice, { wakeAt, at: now }) {
      addressKey(from)
      addressKey(to)
      const source = query(() => whole(from, reads.head(from)))
      checkFork(from, at, to, source, 1)
      const origin = JSON.stringify(originOf(from, at, choice))
      space.require(origin.length)
      wakes.wanted(to, wakeAt)
      await writer.write(['fork', from.kind, from.id, to.id, at, origin, wakeAt, now], sent)
      acknowledged.reached(to, at)
      wakes.reached(to, wakeAt)
      tellOfWake(to, wakeAt)
    },
    async origin(address) {
      addressKey(address)
      return query(() => reads.origin(address))
    },
    async read(address, from, { limit = Number.MAX_SAFE_INTEGER } = {}) {
      addressKey(address)
      return query(() => {
        const frames = reads.read(address, from, limit)
        // What is there can be read, also where the rest is lost.
        if (frames.length < limit) whole(address, frames.at(-1) ?? reads.head(address))
        return frames
      })
    },
    async last(address) {
      addressKey(address)
      return query(() => whole(address, reads.last(address)))
    },
    async head(address) {
      addressKey(address)
      return query(() => whole(address, reads.head(address)))
    },
    async list(options = {}) {
      return query(() => reads.list(options))
    },
    async due(until, limit, wanted = () => true) {
      return query(() => wakes.due(until, limit, wanted, reads.head))
    },
    watchWakes: watchWakes(wakeListeners),
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
      await failPoints.hit('K21')
      await acknowledged.removing(address, () => writer.write(['remove', address.kind, address.id]))
      wakes.reached(address, null)
      await failPoints.hit('K21')
    },
  }
}
