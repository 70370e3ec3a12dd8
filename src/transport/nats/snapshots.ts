/**
 * The newest snapshot of each root, or a note that the root was removed. The note takes the snapshot's place before the journal is purged: so a removal that was
 * cut off leaves a journal and nothing else, and every node can tell a removal from a loss.
 */
import { isRuntimeError } from '../../contracts/errors.ts'
import type { Address } from '../../contracts/subjects.ts'
import type { Frame } from '../../contracts/transport.ts'
import { isFull, isWrongSequence } from './errors.ts'
import type { Link, Stored } from './link.ts'
import type { Names } from './names.ts'
import { type Place, removedHours, seqHeader } from './tips.ts'
import type { payloads } from './workarounds/payload.ts'

/** The stream's sequence of its frame, so that later frames are found without reading the earlier ones. */
const placeHeader = 'Statecast-Place'
/** The stream's sequence of the last frame that was removed. */
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
      // The root was removed meanwhile: its snapshot comes too late.
      if (removed > 0 ? tip === undefined || tip.place <= removed : found !== undefined && seqOf(found) > seq) return
      const { data, headers } = await content.write(bytes)
      const place: Record<string, string> = tip?.seq === seq ? { [placeHeader]: String(tip.place) } : {}
      try {
        await link.publish(names.snapshot(address), data, { headers: { ...headers, [seqHeader]: String(seq), ...place }, expected: found?.seq ?? 0 })
      } catch (error) {
        // In between, another snapshot was saved or the root removed.
        if (!isWrongSequence(error)) throw error
      }
    },

    /** @returns the snapshot, with the sequence of its frame where it names one; undefined for none, and for one that cannot be read */
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

    /** @param purge removes the journal up to this frame; undefined where there is none */
    async remove(address: Address, last: Place | undefined, purge: () => Promise<void>): Promise<void> {
      if (last === undefined) {
        // There is nothing that another node could take for lost.
        await link.jsm.streams.purge(stream, { filter: names.snapshot(address) })
        return purge()
      }
      let said = true
      await sayRemoved(address, last).catch(async (error: unknown) => {
        if (!isFull(error)) throw error
        // Deleting frees space.
        said = false
        await link.jsm.streams.purge(stream, { filter: names.snapshot(address) })
      })
      await purge()
      if (!said) await sayRemoved(address, last).catch(() => undefined)
    },
  }
}
