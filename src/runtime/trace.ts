/** The trace of an actor in pages. */
import { decodeCommit } from '../actors/codec.ts'
import { type TraceEntry, traceEntries } from '../actors/replay.ts'
import { RuntimeError } from '../contracts/errors.ts'
import { type Address, formatAddress } from '../contracts/subjects.ts'
import type { Runtime } from '../runtime.ts'
import { whereToLook } from './kinds.ts'

/** `next` is where to read on; null at the present end of the journal. `seq` is its last commit. */
export type TracePage = { entries: TraceEntry[]; next: number | null; seq: number }

const commitsPerRead = 200

/** Whole commits until there are `limit` entries. @throws RuntimeError not_found, corrupt_at */
export const readTrace = async (runtime: Pick<Runtime, 'services'>, address: Address, from = 1, limit = 1000): Promise<TracePage> => {
  const { journal } = runtime.services.transport
  const name = formatAddress(address)
  const head = await journal.head(address)
  if (!head) throw new RuntimeError('not_found', `there is no ${name}`, { hint: whereToLook(runtime, address.kind) })
  const entries: TraceEntry[] = []
  let next = from
  while (entries.length < limit && next <= head.seq) {
    const frames = await journal.read(address, next, { limit: commitsPerRead })
    if (frames.length === 0) break
    for (const { seq, bytes } of frames) {
      if (entries.length >= limit) break
      entries.push(...traceEntries(decodeCommit(bytes, { address: name, seq })))
      next = seq + 1
    }
  }
  return { entries, next: next <= head.seq ? next : null, seq: head.seq }
}

/** Commits as they are stored, in base64. `next` is where to read on; null at the present end of the journal. */
export type FramePage = { frames: { seq: number; bytes: string }[]; next: number | null }

/** One answer holds this much and one frame: a commit may be large. */
const answerBytesMax = 8 * 1024 * 1024

/** @throws RuntimeError not_found, corrupt_at */
export const readFrames = async (runtime: Pick<Runtime, 'services'>, address: Address, from = 1, limit = 1000): Promise<FramePage> => {
  const { journal } = runtime.services.transport
  const head = await journal.head(address)
  if (!head) throw new RuntimeError('not_found', `there is no ${formatAddress(address)}`, { hint: whereToLook(runtime, address.kind) })
  const frames: FramePage['frames'] = []
  let next = from
  for (let size = 0; frames.length < limit && size < answerBytesMax && next <= head.seq; ) {
    const read = await journal.read(address, next, { limit: Math.min(commitsPerRead, limit - frames.length) })
    if (read.length === 0) break
    for (const { seq, bytes } of read) {
      if (size >= answerBytesMax) break
      frames.push({ seq, bytes: Buffer.from(bytes).toString('base64') })
      size += bytes.length
      next = seq + 1
    }
  }
  return { frames, next: next <= head.seq ? next : null }
}
