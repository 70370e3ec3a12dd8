/** The trace of an actor in pages. */
import { decodeCommit } from '../actors/codec.ts'
import { type TraceEntry, traceEntries } from '../actors/replay.ts'
import { RuntimeError } from '../contracts/errors.ts'
import { type Address, formatAddress } from '../contracts/subjects.ts'
import type { Runtime } from '../runtime.ts'

/** `next` is where to read on; null at the present end of the journal. `seq` is its last commit. */
export type TracePage = { entries: TraceEntry[]; next: number | null; seq: number }

const commitsPerRead = 200

/** Whole commits until there are `limit` entries. @throws RuntimeError not_found, corrupt_at */
export const readTrace = async ({ services }: Pick<Runtime, 'services'>, address: Address, from = 1, limit = 1000): Promise<TracePage> => {
  const { journal } = services.transport
  const name = formatAddress(address)
  const head = await journal.head(address)
  if (!head) throw new RuntimeError('not_found', `there is no ${name}`, { hint: 'see `statecast sessions`' })
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
