/** Journals on JetStream: one stream, one subject a root, one message a frame. The server compares and appends. */
import { type Environment, type Instant, instantOf, isWithin, pause } from '../../contracts/environment.ts'
import { RuntimeError } from '../../contracts/errors.ts'
import { type Address, formatAddress } from '../../contracts/subjects.ts'
import type { Appended, Blobs, Frame, Head, Journal } from '../../contracts/transport.ts'
import { addressKey, compareAddresses } from '../address.ts'
import { corruptAt } from '../checksum.ts'
import { gateOf } from '../fail-gate.ts'
import { checkBytes, frameBytesMax, snapshotBytesMax } from '../limits.ts'
import { apiCodeOf, apiCodes, fromNats, isFull, isWrongSequence, noRoom, violationIn } from './errors.ts'
import { Known } from './known.ts'
import type { Link, Stored } from './link.ts'
import type { Names } from './names.ts'
import { payloads } from './payload.ts'
import type { Wakes } from './wakes.ts'

/** Names of our headers; a frame is numbered by us, since the stream's own numbers may begin anew. */
const seqHeader = 'Statecast-Seq'
const wakeHeader = 'Statecast-Wake-At'
const atHeader = 'Statecast-At'
/** On a snapshot: where in the stream its frame stands, so that what comes after it is found without reading what came before. */
const placeHeader = 'Statecast-Place'

/** Frames asked for at once, and roots whose newest frames are. */
const framesAtOnce = 128
const headsAtOnce = 256
/** A replica that answers may be behind the leader by moments. */
const lagMs = 2_000
const lagStepMs = 20
/** ms after which it is looked whether the stream is still there. */
const lookMs = 30_000

/** Sequence of a frame, and its place in the stream. */
type Place = { seq: number; place: number }
/** `ours` where this process has just written it. */
type Tip = Place & { ours?: boolean }

export type JournalParts = { link: Link; names: Names; wakes: Wakes; blobs: Blobs; environment: Pick<Environment, 'clock' | 'failPoints'> }

export const natsJournal = ({ link, names, wakes, blobs, environment }: JournalParts): Journal & { idle(): Promise<void> } => {
  const { journal: stream, snapshots } = names.streams
  const content = payloads(link, blobs)
  /** The newest frame of roots that were looked at or written lately, and how far they were read. */
  const tips = new Known<Tip>()
  const reached = new Known<Place>()
  let lookedAt: Instant | undefined
  /** Appends to one root go one after the other: the next one needs to know where the last one came to stand. */
  const queues = new Map<string, Promise<unknown>>()

  const asked = async <T>(address: Address | undefined, doing: string, question: () => Promise<T>): Promise<T> => {
    try {
      return await question()
    } catch (error) {
      throw fromNats(error, address === undefined ? doing : `${doing} ${formatAddress(address)}`)
    }
  }

  const placeOf = ({ headers, seq: place }: Stored): Place => ({ seq: Number(headers.last(seqHeader)), place })
  const headOf = (address: Address, { headers }: Stored): Head => ({
    address: { kind: address.kind, id: address.id },
    seq: Number(headers.last(seqHeader)),
    wakeAt: headers.has(wakeHeader) ? Number(headers.last(wakeHeader)) : null,
    at: Number(headers.last(atHeader)),
  })
  const frameOf = async (stored: Stored): Promise<Frame> => ({ seq: placeOf(stored).seq, bytes: await content.read(stored) })

  const newest = async (address: Address): Promise<Stored | undefined> => {
    const found = await link.last(stream, names.journal(address))
    if (found === undefined) tips.delete(addressKey(address))
    else tips.set(addressKey(address), placeOf(found))
    return found
  }

  const inTurn = <T>(key: string, work: () => Promise<T>): Promise<T> => {
    const mine = (queues.get(key) ?? Promise.resolve()).then(work, work)
    queues.set(key, mine)
    const leave = () => void (queues.get(key) === mine && queues.delete(key))
    mine.then(leave, leave)
    return mine
  }

  /** The frame before, or the one that was found instead. */
  const expectedPlace = async (address: Address, expected: number): Promise<Tip> => {
    const known = tips.get(addressKey(address))
    if (known !== undefined && known.seq >= expected) return known
    if (known === undefined && expected === 0) return { seq: 0, place: 0 }
    const found = await newest(address)
    return found === undefined ? { seq: 0, place: 0 } : placeOf(found)
  }

  const append = async (address: Address, expected: number, bytes: Uint8Array, { wakeAt, at }: Pick<Head, 'wakeAt' | 'at'>): Promise<Appended> => {
    try {
      const before = await expectedPlace(address, expected)
      if (before.seq !== expected) return { outcome: 'fenced', last: before.seq }
      const { data, headers } = await content.write(bytes)
      const said = {
        ...headers,
        [seqHeader]: String(expected + 1),
        [atHeader]: String(at),
        ...(wakeAt === null ? {} : { [wakeHeader]: String(wakeAt) }),
      }
      const wanted = wakeAt === null ? undefined : wakes.want(address, wakeAt, before.ours === true)
      const sending = link.publish(names.journal(address), data, { headers: said, expected: before.place })
      const gate = gateOf(() => environment.failPoints.hit('K02'))
      const [{ seq: place }] = await Promise.all([sending, wanted])
      tips.set(addressKey(address), { seq: expected + 1, place, ours: true })
      if (wakeAt === null) wakes.rest(address)
      await gate
      return { outcome: 'ok' }
    } catch (error) {
      if (isWrongSequence(error)) return fenced(address, bytes, expected, wakeAt)
      // Surely nothing was written, and no retry would mend it. A journal that may hold no more frames is full; only an inbox is overloaded.
      if (apiCodeOf(error) === apiCodes.streamLimit) throw noRoom(`writing to ${formatAddress(address)}`, error)
      if (isFull(error) || violationIn(error) !== undefined) throw fromNats(error, `writing to ${formatAddress(address)}`)
      tips.delete(addressKey(address))
      return { outcome: 'unknown', cause: fromNats(error, `writing to ${formatAddress(address)}`) }
    }
  }

  /** A server that did not see its answer through tells a writer's own second try that somebody was first: whose frame it is, only reading says. */
  const fenced = async (address: Address, bytes: Uint8Array, expected: number, wished: number | null): Promise<Appended> => {
    const found = await newest(address)
    if (found === undefined)
      return expected === 0 ? { outcome: 'unknown', cause: new Error('the root was removed meanwhile') } : { outcome: 'fenced', last: 0 }
    const frame = await frameOf(found)
    const { wakeAt } = headOf(address, found)
    // Ours was sent together with a wake-up that may have taken the place of a nearer one.
    if (wakeAt !== null && wished !== null && wished > wakeAt) await wakes.want(address, wakeAt, false)
    return frame.seq === expected + 1 && Buffer.compare(frame.bytes, bytes) === 0 ? { outcome: 'ok' } : { outcome: 'fenced', last: frame.seq }
  }

  /** Only the leader knows what really is not there. */
  const missing = async (address: Address, seq: number, place: number): Promise<RuntimeError> =>
    (await link.next(stream, names.journal(address), place)) === undefined
      ? corruptAt(address, seq, 'the frame is missing')
      : new RuntimeError('log_unavailable', `the replica that answers for ${formatAddress(address)} is behind: frame ${seq} has not come there yet`, {
          retryable: true,
          hint: 'try again; if it stays so, see `nats stream info` for a replica that does not catch up',
        })

  /** Frames of a root from a place of the stream on, up to one that is known to be there. */
  async function* frames(address: Address, from: number, last: Place): AsyncGenerator<Frame> {
    const key = addressKey(address)
    const known = reached.get(key)
    let next = known !== undefined && known.seq < from ? known.place + 1 : 1
    let expected: number | undefined
    for (let waited = 0; ; ) {
      const found = await link.batch(stream, { seq: next, next_by_subj: names.journal(address), batch: framesAtOnce })
      for (const stored of found) {
        const { seq, place } = placeOf(stored)
        next = place + 1
        if (expected !== undefined && seq !== expected) throw corruptAt(address, expected, 'the frame is missing')
        expected = seq + 1
        reached.set(key, { seq, place })
        if (seq >= from) yield frameOf(stored)
        if (seq >= last.seq) return
      }
      if (found.length > 0) continue
      if (waited >= lagMs) throw await missing(address, expected ?? from, next)
      waited += lagStepMs
      await pause(environment.clock, lagStepMs)
    }
  }

  /** Where nobody writes, nobody would notice that the stream is gone. */
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
      return inTurn(addressKey(address), () => append(address, expected, kept, head))
    },
    read: (address, from, { limit = Number.POSITIVE_INFINITY } = {}) =>
      asked(address, 'reading', async () => {
        const found = await newest(address)
        const read: Frame[] = []
        if (found === undefined || placeOf(found).seq < from || limit < 1) return read
        for await (const frame of frames(address, from, placeOf(found))) if (read.push(frame) >= limit) break
        return read
      }),
    last: (address) =>
      asked(address, 'reading', async () => {
        const found = await newest(address)
        return found && frameOf(found)
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
    saveSnapshot: (address, seq, bytes) =>
      asked(address, 'saving a snapshot of', async () => {
        checkBytes(bytes, snapshotBytesMax, 'snapshot')
        const kept = new Uint8Array(bytes)
        const stop = environment.failPoints.hit('K16')
        if (stop !== undefined) await stop
        const found = await link.last(snapshots, names.snapshot(address))
        if (found !== undefined && placeOf(found).seq > seq) return
        const { data, headers } = await content.write(kept)
        const tip = tips.get(addressKey(address))
        const place: Record<string, string> = tip?.seq === seq ? { [placeHeader]: String(tip.place) } : {}
        await link.publish(names.snapshot(address), data, { headers: { ...headers, [seqHeader]: String(seq), ...place } })
      }),
    snapshot: (address) =>
      asked(address, 'reading the snapshot of', async () => {
        const [found, last] = await Promise.all([link.last(snapshots, names.snapshot(address)), newest(address)])
        if (found === undefined || last === undefined || placeOf(found).seq > placeOf(last).seq) return undefined
        const { seq } = placeOf(found)
        const place = Number(found.headers.last(placeHeader))
        if (place > 0) reached.set(addressKey(address), { seq, place })
        try {
          return await frameOf(found)
        } catch (error) {
          if (error instanceof RuntimeError && error.retryable) throw error
          return undefined
        }
      }),
    truncate: (address, before) =>
      asked(address, 'truncating', async () => {
        const found = await newest(address)
        if (found === undefined) return
        const last = placeOf(found)
        const first = Math.min(before, last.seq)
        let place = last.place
        if (first < last.seq) {
          reached.delete(addressKey(address))
          for await (const { seq } of frames(address, 1, last)) if (seq >= first) break
          place = reached.get(addressKey(address))?.place ?? place
        }
        await link.jsm.streams.purge(stream, { filter: names.journal(address), seq: place })
        reached.delete(addressKey(address))
      }),
    remove: (address) =>
      asked(address, 'removing', async () => {
        const key = addressKey(address)
        await inTurn(key, async () => {
          tips.delete(key)
          reached.delete(key)
          await link.jsm.streams.purge(stream, { filter: names.journal(address) })
          await Promise.all([link.jsm.streams.purge(snapshots, { filter: names.snapshot(address) }), wakes.remove(address)])
        })
      }),
  }
}
