/** Journals on JetStream: one stream, one subject a root, one message a frame. The server compares and appends. */

import { definedOf } from '../../contracts/defined.ts'
import { type Environment, type Instant, instantOf, isWithin } from '../../contracts/environment.ts'
import type { RuntimeError } from '../../contracts/errors.ts'
import { isDamage } from '../../contracts/lost-end.ts'
import { type Address, formatAddress } from '../../contracts/subjects.ts'
import type { Appended, Blobs, Frame, Head, Journal } from '../../contracts/transport.ts'
import { addressKey, compareAddresses } from '../address.ts'
import { gateOf } from '../fail-gate.ts'
import { checkBytes, frameBytesMax, snapshotBytesMax } from '../limits.ts'
import { apiCodeOf, apiCodes, fromNats, isFull, isWrongSequence, noRoom, violationIn } from './errors.ts'
import { beginning, natsForks } from './forks.ts'
import { natsFrames } from './frames.ts'
import { headOf, saidOf } from './head-headers.ts'
import type { HighWater } from './high-water.ts'
import type { Link, Stored } from './link.ts'
import type { Names } from './names.ts'
import { natsSnapshots } from './snapshots.ts'
import { isForkMark, placeOf, type Tip, Tips, tipOf } from './tips.ts'
import type { Wakes } from './wakes.ts'
import { payloads } from './workarounds/payload.ts'

/** Roots whose newest frames are asked for at once. */
const headsAtOnce = 256
/** ms between two checks that the stream is still there. */
const lookMs = 30_000

type JournalParts = {
  link: Link
  names: Names
  wakes: Wakes
  blobs: Blobs
  mark: Pick<HighWater, 'reached' | 'highest'>
  environment: Pick<Environment, 'clock' | 'failPoints'>
}

export const natsJournal = ({ link, names, wakes, blobs, mark, environment }: JournalParts): Journal & { idle(): Promise<void> } => {
  const { journal: stream } = names.streams
  const content = payloads(link, blobs)
  const snapshots = natsSnapshots(link, names, content)
  let lookedAt: Instant | undefined
  /** Appends to one root go one after the other: each needs the stream's sequence of the one before. */
  const queues = new Map<string, Promise<unknown>>()

  const asked = async <T>(address: Address | undefined, doing: string, question: () => Promise<T>): Promise<T> => {
    try {
      return await question()
    } catch (error) {
      throw fromNats(error, address === undefined ? doing : `${doing} ${formatAddress(address)}`)
    }
  }

  const frames = natsFrames(link, names, content, environment.clock)
  const { frameOf, framesFrom, reached } = frames

  const tips = new Tips({
    clock: environment.clock,
    last: (address) => link.last(stream, names.journal(address)),
    removedAt: snapshots.removedAt,
  })
  const newest = tips.newest.bind(tips)
  const forks = natsForks({ link, names, content, frames, newest, removedAt: snapshots.removedAt })

  const inTurn = <T>(key: string, work: () => Promise<T>): Promise<T> => {
    const mine = (queues.get(key) ?? Promise.resolve()).then(work, work)
    queues.set(key, mine)
    const leave = () => void (queues.get(key) === mine && queues.delete(key))
    mine.then(leave, leave)
    return mine
  }

  /** The frame before it, or the one that was found in its place. */
  const expectedPlace = async (address: Address, expected: number): Promise<Tip> => {
    const known = tips.get(address)
    if (known !== undefined && !known.unsure && known.seq === expected) return known
    if (known === undefined && expected === 0) return { seq: 0, place: 0 }
    const found = await newest(address)
    return found === undefined ? { seq: 0, place: 0 } : tipOf(found)
  }

  const append = async (address: Address, expected: number, bytes: Uint8Array, { wakeAt, at }: Pick<Head, 'wakeAt' | 'at'>): Promise<Appended> => {
    try {
      const before = await expectedPlace(address, expected)
      if (before.seq !== expected) return { outcome: 'fenced', last: before.seq }
      const { data, headers } = await content.write(bytes)
      const said = { ...headers, ...saidOf({ seq: expected + 1, wakeAt, at }, before.origin) }
      const wanted = wakeAt === null ? undefined : wakes.want(address, wakeAt, before.ours === true)
      const since = mark.highest()
      const sending = link.publish(names.journal(address), data, { headers: said, expected: before.place })
      const gate = gateOf(() => environment.failPoints.hit('K02'))
      const [{ seq: place }] = await Promise.all([sending, wanted])
      mark.reached(place, since)
      tips.wrote(address, { seq: expected + 1, place, ...definedOf({ origin: before.origin }) })
      if (wakeAt === null) wakes.rest(address)
      await gate
      return { outcome: 'ok' }
    } catch (error) {
      if (isWrongSequence(error)) return fenced(address, bytes, expected, wakeAt)
      // Nothing was written, and a retry would not help. A journal that may hold no more frames is full; only an inbox is overloaded.
      if (apiCodeOf(error) === apiCodes.streamLimit) throw noRoom(`writing to ${formatAddress(address)}`, error)
      if (isFull(error) || violationIn(error) !== undefined) throw fromNats(error, `writing to ${formatAddress(address)}`)
      if (isDamage(error)) throw error
      tips.doubt(address)
      return { outcome: 'unknown', cause: fromNats(error, `writing to ${formatAddress(address)}`) }
    }
  }

  /** @param found the newest message: a fork that has written nothing yet ends with a frame of another root */
  const lastFrame = async (address: Address, found: Stored): Promise<Frame> => {
    if (isForkMark(found)) for await (const frame of forks.sharedFrom(address, placeOf(found).seq)) return frame
    return frameOf(found)
  }

  /** A server whose answer got lost refuses the same writer's second try as if another had been first: only reading the frame shows whose it is. */
  const fenced = async (address: Address, bytes: Uint8Array, expected: number, wished: number | null): Promise<Appended> => {
    const found = await newest(address)
    if (found === undefined)
      return expected === 0 ? { outcome: 'unknown', cause: new Error('the root was removed meanwhile') } : { outcome: 'fenced', last: 0 }
    const frame = await lastFrame(address, found)
    const { wakeAt } = headOf(address, found)
    // Our frame was sent together with a wake-up that may have replaced an earlier one.
    if (wakeAt !== null && wished !== null && wished > wakeAt) await wakes.want(address, wakeAt, false)
    return frame.seq === expected + 1 && Buffer.compare(frame.bytes, bytes) === 0 ? { outcome: 'ok' } : { outcome: 'fenced', last: frame.seq }
  }

  const remove = async (address: Address): Promise<void> => {
    const found = await link.last(stream, names.journal(address))
    const there = found && placeOf(found)
    const known = tips.get(address)
    // A lost part counts as removed with the rest.
    const last = known !== undefined && known.place > (there?.place ?? 0) ? known : there
    await snapshots.remove(address, last, async () => {
      await environment.failPoints.hit('K21')
      await forks.leave(address, () => link.jsm.streams.purge(stream, { filter: names.journal(address) }))
      await environment.failPoints.hit('K21')
    })
    tips.forget(address)
    reached.delete(names.journal(address))
    await wakes.remove(address)
  }

  const fork = async (...[from, at, to, choice, { wakeAt, at: now }]: Parameters<Journal['fork']>): Promise<void> => {
    const { segments, origin, data, headers } = await forks.prepare(from, at, to, choice)
    const said = { ...headers, ...saidOf({ seq: at, wakeAt, at: now }, origin) }
    const wanted = wakeAt === null ? undefined : wakes.want(to, wakeAt, false)
    const since = mark.highest()
    const [{ seq: place }] = await Promise.all([beginning(to, () => link.publish(names.journal(to), data, { headers: said, expected: 0 })), wanted])
    mark.reached(place, since)
    tips.wrote(to, { seq: at, place, origin })
    await forks.stillShared(from, segments).catch(async (error: unknown) => {
      await remove(to)
      throw error
    })
    wakes.tell(to, wakeAt)
  }

  /** Without writes no node would notice that the stream is gone. */
  const stillThere = async (): Promise<void> => {
    const { clock } = environment
    if (lookedAt !== undefined && isWithin(clock, lookedAt, lookMs)) return
    lookedAt = instantOf(clock)
    await link.jsm.streams.info(stream)
  }

  const headsOf = async (addresses: Address[]): Promise<Head[]> => {
    const bySubject = new Map(addresses.map((address) => [names.journal(address), address]))
    const subjects = [...bySubject.keys()]
    const heads: Head[] = []
    for (let at = 0; at < subjects.length; at += headsAtOnce) {
      const found = await link.batch(stream, { multi_last: subjects.slice(at, at + headsAtOnce), batch: headsAtOnce })
      for (const stored of found) heads.push(headOf(bySubject.get(stored.subject) as Address, stored))
    }
    return heads
  }

  return {
    idle: async () => {
      while (queues.size > 0) await Promise.allSettled(queues.values())
    },
    append: async (address, expected, bytes, head) => {
      checkBytes(bytes, frameBytesMax, 'frame')
      const kept = new Uint8Array(bytes)
      const appended = await inTurn(addressKey(address), () => append(address, expected, kept, head))
      if (appended.outcome !== 'fenced') wakes.tell(address, head.wakeAt)
      return appended
    },
    read: (address, from, { limit = Number.POSITIVE_INFINITY } = {}) =>
      asked(address, 'reading', async () => {
        const read: Frame[] = []
        if (limit < 1) return read
        let damage: RuntimeError | undefined
        const found = await newest(address).catch((error: unknown) => {
          if (!isDamage(error)) throw error
          damage = error
          // The frames that are there can be read, also where later ones are lost.
          return link.last(stream, names.journal(address))
        })
        if (found !== undefined) {
          const last = placeOf(found)
          const { at = 0 } = headOf(address, found).origin ?? {}
          if (from <= at) for await (const frame of forks.sharedFrom(address, from)) if (read.push(frame) >= limit) return read
          if (last.seq >= Math.max(from, at + 1))
            for await (const frame of framesFrom(address, Math.max(from, at + 1), last)) if (read.push(frame) >= limit) return read
        }
        if (damage !== undefined) throw damage
        return read
      }),
    last: (address) =>
      asked(address, 'reading', async () => {
        const found = await newest(address)
        return found && lastFrame(address, found)
      }),
    fork: (from, at, to, choice, head) => asked(from, 'forking', () => inTurn(addressKey(to), () => fork(from, at, to, choice, head))),
    origin: (address) =>
      asked(address, 'reading', async () => {
        const found = await newest(address)
        const short = found && headOf(address, found).origin
        return short && ((await forks.markOf(address))?.origin ?? short)
      }),
    head: (address) =>
      asked(address, 'reading', async () => {
        const found = await newest(address)
        return found && headOf(address, found)
      }),
    list: ({ kind, after, limit = Number.POSITIVE_INFINITY } = {}) =>
      asked(undefined, 'listing the journals', async () => {
        const { state } = await link.jsm.streams.info(stream, { subjects_filter: names.journalsOf(kind) })
        const addresses = Object.keys(state.subjects ?? {})
          .map(names.address)
          .filter((address) => after === undefined || compareAddresses(address, after) > 0)
          .sort(compareAddresses)
          .slice(0, limit)
        return (await headsOf(addresses)).sort((one, other) => compareAddresses(one.address, other.address))
      }),
    due: (until, limit, wanted = () => true) =>
      asked(undefined, 'looking for work', async () => {
        await wakes.ready
        const due: Head[] = []
        const candidates = wakes.before(until).filter(wanted)
        if (candidates.length === 0) await stillThere()
        for (let at = 0; at < candidates.length && due.length < limit; at += headsAtOnce) {
          const some = candidates.slice(at, at + headsAtOnce)
          const heads = await headsOf(some)
          const wishes = new Map(heads.map(({ address, wakeAt }) => [addressKey(address), wakeAt]))
          for (const address of some) wakes.looked(address, (wishes.get(addressKey(address)) ?? null) !== null)
          due.push(...heads.filter(({ wakeAt }) => wakeAt !== null && wakeAt <= until))
        }
        return due.sort((one, other) => Number(one.wakeAt) - Number(other.wakeAt) || compareAddresses(one.address, other.address)).slice(0, limit)
      }),
    watchWakes: wakes.watch,
    saveSnapshot: (address, seq, bytes) =>
      asked(address, 'saving a snapshot of', async () => {
        checkBytes(bytes, snapshotBytesMax, 'snapshot')
        const kept = new Uint8Array(bytes)
        const stop = environment.failPoints.hit('K16')
        if (stop !== undefined) await stop
        await snapshots.save(address, seq, kept, tips.get(address))
      }),
    snapshot: (address) =>
      asked(address, 'reading the snapshot of', async () => {
        const found = await snapshots.read(address)
        if (found === undefined) return undefined
        const { seq, bytes, place } = found
        if (place > 0) reached.set(names.journal(address), { seq, place })
        return { seq, bytes }
      }),
    truncate: (address, before) =>
      asked(address, 'truncating', async () => {
        const found = await newest(address)
        if (found === undefined) return
        const last = placeOf(found)
        const first = Math.min(before, last.seq)
        // What a fork shares it forgets as a whole.
        if (first <= (headOf(address, found).origin?.at ?? 0)) return
        const subject = names.journal(address)
        let place = last.place
        if (first < last.seq) {
          reached.delete(subject)
          for await (const { seq } of framesFrom(address, 1, last)) if (seq >= first) break
          place = reached.get(subject)?.place ?? place
        }
        await forks.leave(address, () => link.jsm.streams.purge(stream, { filter: subject, seq: place }))
        reached.delete(subject)
      }),
    remove: (address) => asked(address, 'removing', () => inTurn(addressKey(address), () => remove(address))),
  }
}
