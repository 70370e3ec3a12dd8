/**
 * The newest snapshot of each root, or word that the root was removed: written before its journal is purged, it takes the snapshot's place, so that
 * nothing is left of a removal that was cut off but a journal, and every node can tell a removal from a loss.
 */
import { isRuntimeError } from '../../contracts/errors.ts'
import type { Address } from '../../contracts/subjects.ts'
import type { Frame } from '../../contracts/transport.ts'
import { isFull, isWrongSequence } from './errors.ts'
import type { Link, Stored } from './link.ts'
import type { Names } from './names.ts'
import { type Place, removedHours, seqHeader } from './tips.ts'
import type { payloads } from './workarounds/payload.ts'

/** Where in the stream its frame stands, so that what comes after it is found without reading what came before. */
const placeHeader = 'Statecast-Place'
/** Place of the last frame that was removed. */
const removedHeader = 'Statecast-Removed'

export const natsSnapshots = (link: Link, names: Names, content: ReturnType<typeof payloads>) => {
  const stream = names.streams.snapshots
  const newest = (address: Address): Promise<Stored | undefined> => link.last(stream, names.snapshot(address))
  const removedPlace = (stored: Stored | undefined): number => Number(stored?.headers.last(removedHeader) ?? 0)
  const seqOf = ({ headers }: Stored): number => Number(headers.last(seqHeader))

  const sayRemoved = (address: Address, { seq, place }: Place): Promise<unknown> =>
    link.publish(names.snapshot(address), new Uint8Array(), {
      headers: { [seqHeader]: String(seq), [removedHeader]: String(place), 'Nats-TTL': `${removedHours}h` },
    })

  return {
    removedAt: async (address: Address): Promise<number> => removedPlace(await newest(address)),

    /** @param tip the newest frame, where it is known */
    async save(address: Address, seq: number, bytes: Uint8Array, tip: Place | undefined): Promise<void> {
      const found = await newest(address)
      const removed = removedPlace(found)
      // That of a root that was removed meanwhile comes too late.
      if (removed > 0 ? tip === undefined || tip.place <= removed : found !== undefined && seqOf(found) > seq) return
      const { data, headers } = await content.write(bytes)
      const place: Record<string, string> = tip?.seq === seq ? { [placeHeader]: String(tip.place) } : {}
      try {
        await link.publish(names.snapshot(address), data, { headers: { ...headers, [seqHeader]: String(seq), ...place }, expected: found?.seq ?? 0 })
      } catch (error) {
        // Another one was saved, or the root removed, in between.
        if (!isWrongSequence(error)) throw error
      }
    },

    /** @returns with the place of its frame, where it says so; undefined for none, and for one that cannot be read */
    async read(address: Address): Promise<(Frame & { place: number }) | undefined> {
      const found = await newest(address)
      if (found === undefined || removedPlace(found) > 0) return undefined
      try {
        return { seq: seqOf(found), bytes: await content.read(found), place: Number(found.headers.last(placeHeader) || 0) }
      } catch (error) {
        if (isRuntimeError(error) && error.retryable) throw error
        return undefined
      }
    },

    /** @param purge takes the journal away, up to this frame; undefined where there is none */
    async remove(address: Address, last: Place | undefined, purge: () => Promise<void>): Promise<void> {
      if (last === undefined) {
        // Nothing that others could miss.
        await link.jsm.streams.purge(stream, { filter: names.snapshot(address) })
        return purge()
      }
      let said = true
      await sayRemoved(address, last).catch(async (error: unknown) => {
        if (!isFull(error)) throw error
        // Deleting makes room.
        said = false
        await link.jsm.streams.purge(stream, { filter: names.snapshot(address) })
      })
      await purge()
      if (!said) await sayRemoved(address, last).catch(() => undefined)
    },
  }
}
