/**
 * Which roots are to be woken, and when: a stream with one message per root, mirrored here, so that the search for work reads no journal.
 *
 * The index may hold an entry too many, and never one too few: a node sends the entry before the frame that asks for it, and removes it some time after a frame
 * that does not. So for each root found here the journal is asked whether it is true. A node does not repeat an entry of its own while no other node can have
 * removed it: it wrote every frame since, and other nodes wait longer than that before they remove an entry that nothing asks for.
 */
import type { JsMsg } from '@nats-io/jetstream'
import { type Clock, type Instant, instantOf, isWithin, type Logger } from '../../contracts/environment.ts'
import type { Address } from '../../contracts/subjects.ts'
import { addressKey } from '../address.ts'
import { type WakeListeners, watchWakes } from '../wake-watch.ts'
import { fromNats, isWrongSequence } from './errors.ts'
import type { Link } from './link.ts'
import type { Names } from './names.ts'
import { watchStream } from './watch.ts'

type Entry = {
  address: Address
  /** The entry in the stream, and its sequence there. */
  stored: number | null
  place: number
  /** When this process wrote it, if it did. The writer of another one may remove it at any moment. */
  written: Instant | undefined
  /** Set while it waits to be removed, or to be written again. */
  pending: unknown
  /** Since when each reading of its journal has asked for no waking. */
  vain: Instant | undefined
}

/** A conversation goes to sleep and wakes with every turn; only a root that sleeps for longer is removed. */
const clearAfterMs = 2_000
/** How long an entry of ours surely stands; and how long another node finds an entry unfounded before it removes it. */
const sureMs = 10_000
const vainMs = 30_000
const againMs = 1_000
/** How long a removal stays in the stream, for watchers that were cut off. */
const markerTtl = '60s'

const encoder = new TextEncoder()
const decoder = new TextDecoder()

export type Wakes = Awaited<ReturnType<typeof openWakes>>

export const openWakes = async (link: Link, names: Names, { clock, log }: { clock: Clock; log: Logger }) => {
  const entries = new Map<string, Entry>()
  const listeners: WakeListeners = new Set()
  const tell = (address: Address, wakeAt: number | null): void => {
    if (wakeAt !== null) for (const listener of listeners) listener(address, wakeAt)
  }

  const entryOf = (address: Address): Entry => {
    const key = addressKey(address)
    const found = entries.get(key)
    if (found !== undefined) return found
    const { kind, id } = address
    const entry: Entry = { address: { kind, id }, stored: null, place: 0, written: undefined, pending: undefined, vain: undefined }
    entries.set(key, entry)
    return entry
  }

  const heard = ({ subject, seq, data }: Pick<JsMsg, 'subject' | 'seq' | 'data'>): void => {
    const entry = entryOf(names.address(subject))
    // Our own entries come back, and so do older ones than what we have written since.
    if (seq <= entry.place) return
    keepAwake(entry)
    Object.assign(entry, { stored: data.length === 0 ? null : Number(decoder.decode(data)), place: seq, written: undefined, vain: undefined })
    if (entry.stored === null) entries.delete(addressKey(entry.address))
    tell(entry.address, entry.stored)
  }
  const watch = await watchStream(link, { stream: names.streams.wakes, filter: names.every('wake'), log }, heard)

  const keepAwake = (entry: Entry): void => {
    clock.clearTimeout(entry.pending)
    entry.pending = undefined
    entry.vain = undefined
  }

  /** Only if no node has written it since: one that took over needs it to stay. */
  const clear = async (entry: Entry): Promise<void> => {
    const { stored, place } = entry
    // From now on it may be gone: an entry that is asked for meanwhile is written behind the removal.
    Object.assign(entry, { stored: null, written: undefined, pending: undefined, vain: undefined })
    const untouched = () => entry.stored === null && entry.place === place && entry.pending === undefined
    try {
      await link.publish(names.wake(entry.address), new Uint8Array(), { headers: { 'Nats-TTL': markerTtl }, expected: place })
      if (untouched() && entries.get(addressKey(entry.address)) === entry) entries.delete(addressKey(entry.address))
    } catch (error) {
      if (untouched()) entry.stored = stored
      if (!isWrongSequence(error) && !link.nc.isClosed())
        log.warn(
          { address: entry.address, error: fromNats(error, 'taking a wake-up back').toJSON() },
          'a wake-up could not be taken back; it is looked at in vain',
        )
    }
  }

  const write = async (entry: Entry, wakeAt: number): Promise<void> => {
    const sent = instantOf(clock)
    const { seq } = await link.publish(names.wake(entry.address), encoder.encode(String(wakeAt)))
    // The watcher may have heard of it before it was acknowledged.
    if (seq >= entry.place) Object.assign(entry, { stored: wakeAt, place: seq, written: sent })
  }
  const writeLater = (entry: Entry, wakeAt: number): void => {
    keepAwake(entry)
    entry.pending = clock.setTimeout(() => {
      entry.pending = undefined
      write(entry, wakeAt).catch(() => link.nc.isClosed() || writeLater(entry, wakeAt))
    }, againMs)
  }

  return {
    ready: watch.ready,
    watch: watchWakes(listeners),
    /** This process has sent a frame. */
    tell,
    /**
     * Sends at once; resolves when it is stored. Only the writer of the frame before may set a later time than the entry has: the frame of any other writer may
     * be refused because a third one's stands there, and the wake time of that one must not be lost.
     * @param unbroken whether the frame before is by this process too
     */
    async want(address: Address, wished: number, unbroken: boolean): Promise<void> {
      const entry = entryOf(address)
      keepAwake(entry)
      const wakeAt = unbroken ? wished : Math.min(wished, entry.stored ?? wished)
      const sure = unbroken && entry.written !== undefined && isWithin(clock, entry.written, sureMs)
      if (sure && entry.stored !== null && entry.stored <= wakeAt) return
      try {
        await write(entry, wakeAt)
      } catch (error) {
        // The frame may be in the journal all the same, and then the entry has to be there.
        writeLater(entry, wakeAt)
        throw error
      }
    },
    /** This process has written a frame that asks for no waking. */
    rest(address: Address): void {
      const entry = entries.get(addressKey(address))
      if (entry !== undefined && entry.stored !== null) entry.pending ??= clock.setTimeout(() => void clear(entry), clearAfterMs)
    },
    /** Candidates, earliest first: their heads say whether it is true. The caller reports what it found with {@link Wakes.looked}. */
    before: (until: number): Address[] =>
      [...entries.values()]
        .filter(({ stored, pending }) => stored !== null && stored <= until && pending === undefined)
        .sort((one, other) => Number(one.stored) - Number(other.stored))
        .map(({ address }) => address),
    /** Whether the frame that was newest a moment ago asks for waking. Another one may be on its way, so one answer is not enough to remove an entry. */
    looked(address: Address, wants: boolean): void {
      const entry = entries.get(addressKey(address))
      if (entry === undefined || entry.pending !== undefined) return
      if (wants) entry.vain = undefined
      else if (entry.vain === undefined) entry.vain = instantOf(clock)
      else if (!isWithin(clock, entry.vain, vainMs)) void clear(entry)
    },
    async remove(address: Address): Promise<void> {
      const entry = entries.get(addressKey(address))
      if (entry !== undefined) keepAwake(entry)
      entries.delete(addressKey(address))
      await link.jsm.streams.purge(names.streams.wakes, { filter: names.wake(address) })
    },
    async stop(): Promise<void> {
      for (const entry of entries.values()) keepAwake(entry)
      await watch.stop()
    },
  }
}
