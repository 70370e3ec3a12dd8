/**
 * Forks on JetStream. The first message of a fork stands where its last shared frame would: it takes that frame's number, and says whose frames are shared.
 * Beside the journal of whoever has them a note names the fork; before they go away, they are copied to the fork, each run of them under a subject of its own.
 */

import { RuntimeError } from '../../contracts/errors.ts'
import type { ForkChoice, Origin } from '../../contracts/fork.ts'
import { type Address, formatAddress, sameAddress } from '../../contracts/subjects.ts'
import type { Frame } from '../../contracts/transport.ts'
import { checkFork, originOf, type Segment, segmentsOf, shortOrigin, takenError } from '../forking.ts'
import { isWrongSequence } from './errors.ts'
import type { natsFrames } from './frames.ts'
import { headOf, originText } from './head-headers.ts'
import type { Link, Stored } from './link.ts'
import type { Names } from './names.ts'
import { forkHeader, isForkMark, placeOf, seqHeader } from './tips.ts'
import { contentHeaders, type payloads } from './workarounds/payload.ts'

/** @property holder whose journal has the frames, or its copies of the run that ends with frame `copied` @property place of the newest of them in the stream */
type Shared = Segment & { holder: Address & { copied?: number | undefined }; place: number }
type Mark = { origin: Origin; segments: Shared[] }

type ForkParts = {
  link: Link
  names: Names
  content: ReturnType<typeof payloads>
  frames: Pick<ReturnType<typeof natsFrames>, 'frameOf' | 'storedFrom'>
  newest(address: Address): Promise<Stored | undefined>
  /** Up to which place of the stream a root was removed, 0 for one that was not. */
  removedAt(address: Address): Promise<number>
}

export const natsForks = ({ link, names, content, frames, newest, removedAt }: ForkParts) => {
  const stream = names.streams.journal
  const first = (address: Address): Promise<Stored | undefined> => link.next(stream, names.journal(address), 1)
  const purge = (subject: string): Promise<unknown> => link.jsm.streams.purge(stream, { filter: subject })

  /** Undefined for what is no fork, or keeps nothing any more that it shared. */
  const markOf = async (address: Address): Promise<Mark | undefined> => {
    const found = await first(address)
    return found && isForkMark(found) ? (JSON.parse(Buffer.from(await content.read(found)).toString()) as Mark) : undefined
  }

  /** Where the frames of a segment stand by now. */
  const holding = async (fork: Address, { upTo, holder, place }: Shared): Promise<{ holder: Shared['holder']; subject: string; place: number }> => {
    const copies = names.copies(fork, upTo)
    const copied = await link.last(stream, copies)
    if (copied && placeOf(copied).seq === upTo) return { holder: { kind: fork.kind, id: fork.id, copied: upTo }, subject: copies, place: copied.seq }
    return { holder, subject: holder.copied === undefined ? names.journal(holder) : names.copies(holder, holder.copied), place }
  }

  /** Frames that a fork shares, from one on. */
  async function* sharedFrom(address: Address, from: number): AsyncGenerator<Frame> {
    let next = from
    for (const segment of (await markOf(address))?.segments ?? []) {
      if (segment.upTo < next) continue
      const { subject, place } = await holding(address, segment)
      for await (const stored of frames.storedFrom(address, subject, next, { seq: segment.upTo, place }))
        yield { ...(await frames.frameOf(stored)), of: segment.of }
      next = segment.upTo + 1
    }
  }

  /** What a fork of this root would share of it: what that shares itself, and its own. */
  const shareable = async (address: Address, head: Stored): Promise<{ shared: Shared[]; own: Shared }> => {
    const { seq, place } = placeOf(head)
    const { kind, id } = address
    const shared: Shared[] = []
    for (const segment of (await markOf(address))?.segments ?? []) {
      const { holder, place: at } = await holding(address, segment)
      shared.push({ ...segment, holder, place: at })
    }
    return { shared, own: { upTo: seq, of: { kind, id }, holder: { kind, id }, place } }
  }

  const copy = async (fork: Address, segment: Shared, before: number): Promise<void> => {
    const copies = names.copies(fork, segment.upTo)
    // Cut off before, it goes on where it was.
    const copied = await link.last(stream, copies)
    const { subject, place } = await holding(fork, segment)
    let expected = copied?.seq ?? 0
    const from = (copied ? placeOf(copied).seq : before) + 1
    if (from > segment.upTo) return
    for await (const stored of frames.storedFrom(fork, subject, from, { seq: segment.upTo, place })) {
      const headers = { ...contentHeaders(stored), [seqHeader]: String(placeOf(stored).seq) }
      expected = (await link.publish(copies, stored.data, { headers, expected })).seq
    }
  }

  /** Before the frames of a root go away: its forks get what they share of them. */
  const keepForForks = async (address: Address): Promise<void> => {
    const { state } = await link.jsm.streams.info(stream, { subjects_filter: names.sharesOf(address) })
    for (const subject of Object.keys(state.subjects ?? {})) {
      const note = await link.last(stream, subject)
      if (!note) continue
      const fork = JSON.parse(Buffer.from(note.data).toString()) as Address
      let before = 0
      for (const segment of (await markOf(fork))?.segments ?? []) {
        if (sameAddress(segment.holder, address)) await copy(fork, segment, before)
        before = segment.upTo
      }
      await purge(subject)
    }
  }

  return {
    sharedFrom,
    markOf,

    /** Frames of a root go away: its own forks get theirs, and what it shares itself it lets go. */
    async leave(address: Address, goAway: () => Promise<unknown>): Promise<void> {
      await keepForForks(address)
      const mark = await markOf(address)
      await goAway()
      if (!mark) return
      for (const { holder } of mark.segments) await purge(names.share(holder, address))
      await purge(names.copiesOf(address))
    },

    /** @returns the message that the fork begins with, still to be sent @throws RuntimeError as `Journal.fork` says */
    async prepare(from: Address, at: number, to: Address, choice: ForkChoice) {
      const found = await newest(from)
      const begun = found && (await first(from))
      checkFork(from, at, to, found && headOf(from, found), begun && !isForkMark(begun) ? placeOf(begun).seq : 1)
      if (found === undefined || (await newest(to))) throw takenError(to)
      const { shared, own } = await shareable(from, found)
      const segments = segmentsOf(shared, own, at)
      const origin = originOf(from, at, choice)
      for (const { holder } of segments) await link.publish(names.share(holder, to), Buffer.from(JSON.stringify({ kind: to.kind, id: to.id })))
      const { data, headers } = await content.write(Buffer.from(JSON.stringify({ origin, segments } satisfies Mark)))
      return { segments, origin: originText(shortOrigin(origin)), data, headers: { ...headers, [forkHeader]: '1' } }
    },

    /** A removal that did not see the fork yet has said so before it looked. @throws RuntimeError not_found */
    async stillShared(from: Address, segments: readonly Shared[]): Promise<void> {
      for (const { holder, place } of segments)
        if ((await removedAt(holder)) >= place)
          throw new RuntimeError('not_found', `${formatAddress(from)} is being removed`, { hint: 'fork one that stays' })
    },
  }
}

/** @throws RuntimeError conflict where it was the other's message that came first */
export const beginning = async <T>(to: Address, send: () => Promise<T>): Promise<T> => {
  try {
    return await send()
  } catch (error) {
    throw isWrongSequence(error) ? takenError(to) : error
  }
}
