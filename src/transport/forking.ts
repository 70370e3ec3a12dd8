/** What every backend asks before it makes a fork, and what it keeps of one. */
import { RuntimeError } from '../contracts/errors.ts'
import type { ForkChoice, Origin } from '../contracts/fork.ts'
import { halfImportedError } from '../contracts/half-imported.ts'
import { type Address, shownAddress } from '../contracts/subjects.ts'
import { beingImported, type Head } from '../contracts/transport.ts'

/** Frames up to `upTo` that another root wrote; those before them belong to the segment before. The first one begins with the first frame. */
export type Segment = { upTo: number; of: Address }

/**
 * Says why nothing can be forked there. Of `to` that it is free, the backend says.
 * @param first the lowest frame of `from` that is kept @throws RuntimeError not_found, bad_request, conflict
 */
export const checkFork = (from: Address, at: number, to: Address, head: Pick<Head, 'seq' | 'wakeAt'> | undefined, first: number): void => {
  const name = shownAddress(from)
  if (head === undefined) throw new RuntimeError('not_found', `there is no ${name}`, { hint: 'fork one that has begun' })
  if (head.wakeAt === beingImported) throw halfImportedError(name)
  if (to.kind !== from.kind)
    throw new RuntimeError('bad_request', `a fork of ${name} is of the same kind, and not a '${to.kind}'`, {
      field: 'as',
      hint: `give an address that begins with ${from.kind}/`,
    })
  if (!Number.isSafeInteger(at) || at < 1 || at > head.seq)
    throw new RuntimeError('bad_request', `${name} has no commit ${at}`, { field: 'at', hint: `give one from 1 to ${head.seq}` })
  if (first > 1)
    throw new RuntimeError('bad_request', `${name} does not have its first ${first - 1} commits any more`, {
      field: 'at',
      hint: 'what was truncated cannot be forked: nothing says what the commits that are left continue',
    })
}

export const takenError = (to: Address): RuntimeError =>
  new RuntimeError('conflict', `there is a ${shownAddress(to)} already`, { field: 'as', hint: 'give another key, or delete that one first' })

export const originOf = (from: Address, at: number, { answers, change }: ForkChoice): Origin => ({
  address: { kind: from.kind, id: from.id },
  at,
  answers,
  ...(change && { change }),
})

/** As a head says it. */
export const shortOrigin = ({ change: _, ...origin }: Origin): Omit<Origin, 'change'> => origin

/** Of a fork of `from`: what that shares itself, as far as it is shared on, and then what it wrote. @param own the last frame that `from` shares, 0 for none */
export const segmentsOf = <One extends Segment>(shared: readonly One[], own: One, at: number): One[] => {
  const segments: One[] = []
  for (const segment of [...shared, own]) {
    segments.push({ ...segment, upTo: Math.min(segment.upTo, at) })
    if (segment.upTo >= at) break
  }
  return segments
}
