/** What the journals of a kind of actor have shown of their machines, read in portions: others have their turn in between. */
import { setImmediate as pause } from 'node:timers/promises'
import { Coverage } from '../actors/index.ts'
import { type Access, reaches } from '../contracts/access.ts'
import { type ErrorBody, isRuntimeError, RuntimeError } from '../contracts/errors.ts'
import type { MachineCoverage } from '../contracts/inspection.ts'
import { shownBody } from '../contracts/redact.ts'
import { type Address, formatAddress, parseAddress } from '../contracts/subjects.ts'
import type { RuntimeParts } from '../runtime/index.ts'
import { reachableHeads } from './actors.ts'

export type CoverageAnswer = {
  kind: string
  /** Actors that were folded. */
  sessions: number
  unreadable: { session: string; error: ErrorBody }[]
  machines: MachineCoverage[]
  /** The `after` of the next portion, null at the end. */
  next: string | null
  hint?: string
}

/** Commits of one answer. */
const commitsMax = 20_000
const sessionsUsual = 200

type Asked = { kind?: string | undefined; ids?: string[] | undefined; after?: string | undefined; limit?: number | undefined }

/** @throws RuntimeError not_found for a kind that nobody has registered, bad_request for a place that is none */
export const readCoverage = async (parts: RuntimeParts, asked: Asked, access?: Access): Promise<CoverageAnswer> => {
  const { kind = 'session', ids, after, limit = sessionsUsual } = asked
  const { journal } = parts.transport
  const addresses = ids
    ? [...new Set(ids.map((id) => (kind === 'session' ? parts.runtime.keyOf(id) : id)))].map((id) => ({ kind, id }))
    : (await reachableHeads(parts, { kind, limit, after: after === undefined ? undefined : parseAddress(after) }, access)).map(
        ({ address }) => address,
      )
  const coverage = new Coverage(parts.runtime.registration(kind))
  const answer: CoverageAnswer = { kind, sessions: 0, unreadable: [], machines: [], next: null }
  let left = addresses.length === 1 && ids ? Number.POSITIVE_INFINITY : commitsMax
  let last: Address | undefined
  for (const address of addresses) {
    const session = formatAddress(address)
    try {
      if (!isReached(access, address)) throw absent(session)
      left -= await coverage.add(
        { address: session, frames: (from, count) => journal.read(address, from, { limit: count }), pause: () => pause() },
        left,
      )
      answer.sessions++
    } catch (error) {
      if (isRuntimeError(error) && error.retryable) throw error
      const isLong = isRuntimeError(error) && error.code === 'too_large'
      // The next answer has room for it, unless it is longer than any.
      if (isLong && left < commitsMax) break
      answer.unreadable.push({ session, error: shownBody(error) })
    }
    last = address
    if (left <= 0) break
    await pause()
  }
  answer.machines = coverage.result()
  const isAll = last === addresses.at(-1) && (ids !== undefined || addresses.length < limit)
  if (isAll || last === undefined) return answer
  return { ...answer, next: formatAddress(last), hint: 'there are more: ask again with `next` as `after`, and add up; or name some as `ids`' }
}

const isReached = (access: Access | undefined, { kind, id }: Address): boolean =>
  access?.sessions === undefined || (kind === 'session' && reaches(access, id))

const absent = (session: string): RuntimeError => new RuntimeError('not_found', `there is no ${session}`, { hint: 'its trace is empty' })
