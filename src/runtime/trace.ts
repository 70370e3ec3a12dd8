/** The trace of an actor in pages. */
import { commitOf, type TraceEntry, traceEntries } from '../actors/index.ts'
import { definedOf } from '../contracts/defined.ts'
import { type ErrorBody, RuntimeError } from '../contracts/errors.ts'
import { halfImportedError } from '../contracts/half-imported.ts'
import type { Commit } from '../contracts/journal.ts'
import { isDamage } from '../contracts/lost-end.ts'
import { type Address, formatAddress } from '../contracts/subjects.ts'
import { beingImported, type Frame, type Head } from '../contracts/transport.ts'
import { whereToLook } from './kinds.ts'
import type { Parts } from './parts.ts'

type JournalParts = Pick<Parts, 'transport' | 'host'>

/**
 * `next` is where to read on; null at the present end of the journal, and where it is damaged. `seq` is its last commit, `damage` the first one behind these
 * entries that cannot be read, and why.
 */
export type TracePage = { entries: TraceEntry[]; next: number | null; seq: number; damage?: { seq: number; error: ErrorBody } }

const commitsPerRead = 200

/** Bytes of commits in one answer, and one commit more: it may be large. Over a bus that nodes share an answer is one message. */
const answerBytesMax = 8 * 1024 * 1024
const sharedBytesMax = 256 * 1024
const bytesMaxOf = ({ transport }: JournalParts): number => (transport.capabilities.sharedByNodes ? sharedBytesMax : answerBytesMax)

/** Whole commits until there are `limit` entries, many bytes, or one that is damaged. @throws RuntimeError not_found */
export const readTrace = async (parts: JournalParts, address: Address, from = 1, limit = 1000): Promise<TracePage> => {
  // A journal that has lost its end is read as far as it goes.
  const head = await headOf(parts, address).catch(unlessDamaged)
  const bytesMax = bytesMaxOf(parts)
  const entries: TraceEntry[] = []
  let next = from
  let size = 0
  try {
    for await (const { commit, before, bytes } of commitsOf(parts, address, from)) {
      entries.push(...traceEntries(commit, before))
      next = commit.seq + 1
      size += bytes
      if ((head && next > head.seq) || entries.length >= limit || size >= bytesMax) break
    }
    return { entries, next: head && next > head.seq ? null : next, seq: head?.seq ?? next - 1 }
  } catch (error) {
    if (!isDamage(error)) throw error
    return { entries, next: null, seq: head?.seq ?? next - 1, damage: { seq: next, error: error.toJSON() } }
  }
}

const unlessDamaged = (error: unknown): undefined => {
  if (!isDamage(error)) throw error
}

/** A commit as it is stored, in base64. @property of who wrote it, where that was an origin of this fork */
export type StoredFrame = { seq: number; bytes: string; of?: Address }
/** `next` is where to read on; null at the present end of the journal, which is what `head` says. */
export type FramePage = { frames: StoredFrame[]; next: number | null; head: Pick<Head, 'seq' | 'at' | 'wakeAt' | 'origin'> }

/** @throws RuntimeError not_found, corrupt_at, conflict where it is not whole: what is taken from it would seem to be */
export const readFrames = async (parts: JournalParts, address: Address, from = 1, limit = 1000): Promise<FramePage> => {
  const { seq: last, at, wakeAt, origin } = await headOf(parts, address)
  if (wakeAt === beingImported) throw halfImportedError(formatAddress(address))
  const bytesMax = bytesMaxOf(parts)
  const frames: FramePage['frames'] = []
  let next = from
  let size = 0
  for await (const { seq, bytes, of } of framesOf(parts, address, from, Math.min(commitsPerRead, limit))) {
    frames.push({ seq, bytes: Buffer.from(bytes).toString('base64'), ...definedOf({ of }) })
    next = seq + 1
    size += bytes.length
    if (next > last || frames.length >= limit || size >= bytesMax) break
  }
  return { frames, next: next <= last ? next : null, head: { seq: last, at, wakeAt, ...definedOf({ origin }) } }
}

/** All entries to the present end. @throws RuntimeError not_found; corrupt_at behind the last commit that is whole */
export async function* readEntries(parts: JournalParts, address: Address, from: number): AsyncGenerator<TraceEntry> {
  await headOf(parts, address)
  for await (const { commit, before } of commitsOf(parts, address, from)) yield* traceEntries(commit, before)
}

/** Commits, and the one before each where somebody may want to know who wrote that. */
async function* commitsOf(
  parts: JournalParts,
  address: Address,
  from: number,
): AsyncGenerator<{ commit: Commit; before: Commit | undefined; bytes: number }> {
  let before: Commit | undefined
  for await (const frame of framesOf(parts, address, from)) {
    const commit = commitOf(frame, address)
    if (!before && commit.claim && commit.seq > 1) before = await commitAt(parts, address, commit.seq - 1).catch(unlessDamaged)
    yield { commit, before, bytes: frame.bytes.length }
    before = commit
  }
}

const commitAt = async ({ transport }: JournalParts, address: Address, seq: number): Promise<Commit | undefined> => {
  const [frame] = await transport.journal.read(address, seq, { limit: 1 })
  return frame && commitOf(frame, address)
}

const headOf = async (parts: JournalParts, address: Address): Promise<Head> => {
  const head = await parts.transport.journal.head(address)
  if (head) return head
  throw new RuntimeError('not_found', `there is no ${formatAddress(address)}`, { hint: whereToLook(parts, address.kind) })
}

/** In pages, so that a long journal never stands in memory as a whole. */
async function* framesOf({ transport }: JournalParts, address: Address, from: number, pageSize = commitsPerRead): AsyncGenerator<Frame> {
  let limit = pageSize
  for (let next = from; ; ) {
    const frames = await transport.journal.read(address, next, { limit }).catch((error: unknown) => {
      if (!isDamage(error) || limit === 1) throw error
      return undefined
    })
    if (frames === undefined) {
      // Those before the damaged one are whole: they are asked for one by one, until it is refused alone.
      limit = 1
      continue
    }
    yield* frames
    if (frames.length < limit) return
    next = (frames.at(-1)?.seq ?? next) + 1
  }
}
