/** Reads the frames of one root from the journal's stream, in order, without those of other roots. */
import { type Clock, pause } from '../../contracts/environment.ts'
import { RuntimeError } from '../../contracts/errors.ts'
import { type Address, formatAddress } from '../../contracts/subjects.ts'
import type { Frame } from '../../contracts/transport.ts'
import { corruptAt } from '../checksum.ts'
import { Known } from '../known.ts'
import type { Link, Stored } from './link.ts'
import type { Names } from './names.ts'
import { isForkMark, type Place, placeOf } from './tips.ts'
import type { payloads } from './workarounds/payload.ts'

/** Frames asked for at once. */
const framesAtOnce = 128
/** A replica that answers may be behind the leader by moments. */
const lagMs = 2_000
const lagStepMs = 20

export const natsFrames = (link: Link, names: Names, content: ReturnType<typeof payloads>, clock: Clock) => {
  const stream = names.streams.journal
  /** How far each subject was read lately. */
  const reached = new Known<Place>()
  const frameOf = async (stored: Stored): Promise<Frame> => ({ seq: placeOf(stored).seq, bytes: await content.read(stored) })

  /** Only the leader knows for sure that a frame is not there. */
  const missing = async (address: Address, subject: string, seq: number, place: number): Promise<RuntimeError> =>
    (await link.next(stream, subject, place)) === undefined
      ? corruptAt(address, seq, 'the frame is missing')
      : new RuntimeError('log_unavailable', `the replica that answers for ${formatAddress(address)} is behind: frame ${seq} has not come there yet`, {
          retryable: true,
          hint: 'try again; if it stays so, see `nats stream info` for a replica that does not catch up',
        })

  /** Frames of a subject from one on, up to one that is known to be there. @param address of the root that they are read for */
  async function* storedFrom(address: Address, subject: string, from: number, last: Place): AsyncGenerator<Stored> {
    const known = reached.get(subject)
    // From the frame that was found there last; whether it still is there is compared below.
    let hint = known !== undefined && known.seq <= from ? known : undefined
    let next = hint?.place ?? 1
    let expected: number | undefined
    for (let waited = 0; ; ) {
      const found = await link.batch(stream, { seq: next, next_by_subj: subject, batch: framesAtOnce })
      const begun = found[0] && placeOf(found[0])
      if (hint !== undefined && (begun?.place !== hint.place || begun.seq !== hint.seq)) {
        hint = undefined
        next = 1
        continue
      }
      hint = undefined
      for (const stored of found) {
        const { seq, place } = placeOf(stored)
        next = place + 1
        if ((expected !== undefined && seq !== expected) || place > last.place) throw corruptAt(address, expected ?? from, 'the frame is missing')
        expected = seq + 1
        if (isForkMark(stored)) continue
        reached.set(subject, { seq, place })
        if (seq >= from) yield stored
        if (seq >= last.seq) return
      }
      if (found.length > 0) continue
      if (waited >= lagMs) throw await missing(address, subject, expected ?? from, next)
      waited += lagStepMs
      await pause(clock, lagStepMs)
    }
  }

  /** A root's own frames. */
  async function* framesFrom(address: Address, from: number, last: Place): AsyncGenerator<Frame> {
    for await (const stored of storedFrom(address, names.journal(address), from, last)) yield frameOf(stored)
  }

  return { frameOf, framesFrom, storedFrom, reached }
}
