/**
 * The newest frame of each root as this process has written or seen it. Sequences of the stream only rise, also when a root is removed and begins anew: so a
 * newest frame at a lower sequence, or none at all without a removal, means that frames were lost.
 */
import { type Clock, type Instant, instantOf, isWithin, pause } from '../../contracts/environment.ts'
import { RuntimeError } from '../../contracts/errors.ts'
import { lostEndError } from '../../contracts/lost-end.ts'
import { type Address, formatAddress } from '../../contracts/subjects.ts'
import { addressKey } from '../address.ts'
import { Known } from '../known.ts'
import type { Stored } from './link.ts'

/** Header of a frame and of a snapshot: we number frames ourselves, since the stream's own numbers may begin anew. */
export const seqHeader = 'Statecast-Seq'

/** Sequence of a frame, and its place in the stream. */
export type Place = { seq: number; place: number }
export const placeOf = ({ headers, seq: place }: Stored): Place => ({ seq: Number(headers.last(seqHeader)), place })
/** Header of every frame of a fork: where it came from, see `forks.ts`. */
export const originHeader = 'Statecast-Origin'
/** Of the message that a fork begins with. It has the number of the last frame that the fork shares, and is none itself. */
export const forkHeader = 'Statecast-Fork'
export const isForkMark = ({ headers }: Stored): boolean => headers.has(forkHeader)
export const tipOf = (stored: Stored): Tip =>
  stored.headers.has(originHeader) ? { ...placeOf(stored), origin: stored.headers.last(originHeader) } : placeOf(stored)

/** `seen` when it was last found; `ours` where this process has just written it; `unsure` where a later one may have been written without being acknowledged. */
export type Tip = Place & { seen?: Instant; ours?: boolean; unsure?: boolean; origin?: string | undefined }

type TipParts = {
  clock: Clock
  /** The newest frame, asked of the leader. */
  last(address: Address): Promise<Stored | undefined>
  /** Up to which place of the stream a root was removed, 0 for one that was not. */
  removedAt(address: Address): Promise<number>
}

/** How long the note of a removal stands. */
export const removedHours = 24
/** A frame that was seen so long ago and is gone may have been removed, and the note of its removal may have expired. */
const removedToldMs = (removedHours - 1) * 3_600_000

/** For some moments a leader that was voted out and does not know it yet may still answer. */
export const doubtMs = 2_000
export const stepMs = 100

const lossOf = (address: Address, known: Place, found: Place | undefined): RuntimeError =>
  found === undefined || found.seq < known.seq
    ? lostEndError(address, found?.seq ?? 0, known.seq)
    : new RuntimeError('corrupt_at', `the journal of ${formatAddress(address)} was written anew: commit ${found.seq} is not the one that was there`, {
        hint: 'if its stream was restored on purpose, restart this node; else restore a backup that is whole',
        data: { seq: known.seq, kind: address.kind, id: address.id },
      })

export class Tips {
  readonly #parts: TipParts
  readonly #known = new Known<Tip>()

  constructor(parts: TipParts) {
    this.#parts = parts
  }

  get(address: Address): Tip | undefined {
    return this.#known.get(addressKey(address))
  }

  wrote(address: Address, place: Omit<Tip, 'seen' | 'ours' | 'unsure'>): void {
    this.#known.set(addressKey(address), { ...place, seen: instantOf(this.#parts.clock), ours: true })
  }

  /** A frame may have been written. */
  doubt(address: Address): void {
    const known = this.get(address)
    if (known !== undefined) this.#known.set(addressKey(address), { ...known, ours: false, unsure: true })
  }

  forget(address: Address): void {
    this.#known.delete(addressKey(address))
  }

  /** The newest frame as it is now. @throws RuntimeError corrupt_at where it lies behind one that was there */
  async newest(address: Address): Promise<Stored | undefined> {
    // What was known before the question: meanwhile another frame may be written.
    const known = this.get(address)
    for (let waited = 0; ; waited += stepMs) {
      const found = await this.#parts.last(address)
      if (known === undefined || (found !== undefined && found.seq >= known.place)) {
        this.#saw(address, found)
        return found
      }
      if (found === undefined && (await this.#wasRemoved(address, known))) {
        if (this.get(address)?.place === known.place) this.forget(address)
        return undefined
      }
      if (waited >= doubtMs) throw lossOf(address, known, found && placeOf(found))
      await pause(this.#parts.clock, stepMs)
    }
  }

  async #wasRemoved(address: Address, { place, seen }: Tip): Promise<boolean> {
    return (seen !== undefined && !isWithin(this.#parts.clock, seen, removedToldMs)) || (await this.#parts.removedAt(address)) >= place
  }

  #saw(address: Address, found: Stored | undefined): void {
    const known = this.get(address)
    if (found === undefined || (known !== undefined && known.place > found.seq)) return
    const { ours = false } = known?.place === found.seq ? known : {}
    this.#known.set(addressKey(address), { ...tipOf(found), seen: instantOf(this.#parts.clock), ours })
  }
}
