/** Rows of sessions, whatever keeps them. Pure. */
import { LadderError } from '../errors.ts'
import { jsonText } from './json.ts'
import type { CheckpointRow, SessionRecord } from './store.ts'

/** ms since the epoch */
export type Now = () => number

export const noRecord: SessionRecord = { summarizedThrough: null, lock: null }

/** @throws LadderError STORE_FAILED */
export const checkedSession = (sessionId: string): string => {
  if (typeof sessionId === 'string' && sessionId !== '' && sessionId.isWellFormed()) return sessionId
  throw new LadderError('STORE_FAILED', 'the id of a session is a text of at least one character, in well-formed Unicode', {
    hint: 'give each session an id of its own',
  })
}

const fields = [
  'orchestrator_name',
  'session_id',
  'turn_index',
  'state',
  'last_route',
  'signature',
  'version',
  'summarized_through',
  'lock_acquired_at',
  'lock_expires_at',
  'saved_at',
] as const satisfies readonly (keyof CheckpointRow)[]

/** Exactly the fields of a row. @throws LadderError STORE_FAILED */
export const checkedRow = (row: CheckpointRow): CheckpointRow => {
  checkedSession(row.session_id)
  if (!Number.isSafeInteger(row.turn_index) || row.turn_index < 0)
    throw new LadderError('STORE_FAILED', `turn_index is ${String(row.turn_index)}`, { hint: 'turns are counted from 0' })
  const missing = fields.find((field) => row[field] === undefined)
  if (missing)
    throw new LadderError('STORE_FAILED', `the row of turn ${row.turn_index} has no ${missing}`, {
      hint: 'give every field; null where there is nothing',
    })
  return Object.fromEntries(fields.map((field) => [field, row[field]])) as CheckpointRow
}

/** What counts when a row is saved again. */
export const contentOf = ({ state, last_route, signature, version }: CheckpointRow): string =>
  jsonText(ordered({ state, last_route, signature, version }), 'the row')

/** An object is the same in any order of its keys. */
const ordered = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(ordered)
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).map(([key, part]) => [key, ordered(part)] as const)
  // In an object, so that no list looks like it.
  return { '': entries.filter(([, part]) => part !== undefined).toSorted(([one], [other]) => (one < other ? -1 : 1)) }
}

export const otherContent = ({ session_id, turn_index, orchestrator_name }: CheckpointRow): LadderError =>
  new LadderError('STORE_FAILED', `turn ${turn_index} of the session '${session_id.slice(0, 80)}' is stored with other content`, {
    context: { name: orchestrator_name, sessionId: session_id, turnIndex: turn_index },
    hint: 'somebody else has run that turn: load the session again',
  })

export const noSuchRow = ({ session_id, turn_index, orchestrator_name }: CheckpointRow): LadderError =>
  new LadderError('STORE_FAILED', `turn ${turn_index} of the session '${session_id.slice(0, 80)}' is not stored`, {
    context: { name: orchestrator_name, sessionId: session_id, turnIndex: turn_index },
    hint: 'replace() mends a row that is there: rows() gives all of them',
  })

export const withRecord = (row: CheckpointRow, { summarizedThrough, lock }: SessionRecord): CheckpointRow => ({
  ...row,
  summarized_through: summarizedThrough,
  lock_acquired_at: lock && new Date(lock.acquiredAt).toISOString(),
  lock_expires_at: lock && new Date(lock.expiresAt).toISOString(),
})

/** Without a lock that has expired. */
export const recordAt = ({ summarizedThrough, lock }: SessionRecord, at: number): SessionRecord => ({
  summarizedThrough,
  lock: lock && lock.expiresAt > at ? lock : null,
})

/** @throws LadderError STORE_FAILED */
export const checkedKeep = (keep: number): number => {
  if (Number.isSafeInteger(keep) && keep >= 1) return keep
  throw new LadderError('STORE_FAILED', `${String(keep)} turns cannot be kept`, { hint: 'keep a whole number of them, from 1 on' })
}
