/** Sessions in keys: one for each row, and one for what changes beside them, which knows what rows there are. */
import { uuid } from '../../index.ts'
import { LadderError } from '../errors.ts'
import { jsonIn, jsonText } from './json.ts'
import { beginningOf, escaped, guarded, inPortions, type Keys, part } from './keys.ts'
import {
  checkedKeep,
  checkedRow,
  checkedSession,
  contentOf,
  type Now,
  noRecord,
  noSuchRow,
  otherContent,
  recordAt,
  withRecord,
} from './rows.rules.ts'
import { type Spans, spansWith, spansWithout, turnsIn } from './spans.rules.ts'
import type { CheckpointRow, CheckpointStore, SessionRecord } from './store.ts'

/**
 * @property generation names the rows of a session from its beginning until it is deleted: what still clears up an old one never meets a new one
 * @property rows which turns have one; the row after the last may be there already, as it is written first
 * @property touchedAt ms since the epoch
 * @property isGone deleted, and not cleared up yet
 */
type Kept = SessionRecord & { id: string; generation: string; rows: Spans; touchedAt: number; isGone?: true }
type Found = { kept: Kept; revision: number }

/** Whoever is refused so often stands in a crowd that has no end. */
const attemptsMax = 100

/** @param given fails as it likes: its errors are told as STORE_FAILED */
export const keyedCheckpoints = (given: Keys, now: Now): CheckpointStore => {
  const keys = guarded(given)
  let ttlMs: number | undefined
  const recordKey = async (name: string, sessionId: string): Promise<string> =>
    `ladder/sessions/${escaped(name)}/${await part(checkedSession(sessionId))}`
  const rowKey = (name: string, { generation }: Kept, turn: number): string => `ladder/rows/${escaped(name)}/${generation}/${turn}`
  const isOver = ({ isGone, touchedAt }: Kept): boolean => isGone === true || (ttlMs !== undefined && now() - touchedAt >= ttlMs)

  const rowAt = async (name: string, kept: Kept, turn: number): Promise<CheckpointRow | undefined> => {
    const found = await keys.get(rowKey(name, kept, turn))
    return found && (jsonIn(found.value, `turn ${turn}`) as CheckpointRow)
  }

  /** Those that the record does not know yet. */
  const later = async (name: string, kept: Kept): Promise<CheckpointRow[]> => {
    const rows: CheckpointRow[] = []
    for (let turn = (kept.rows.at(-1)?.[1] ?? -1) + 1; ; turn++) {
      const row = await rowAt(name, kept, turn)
      if (!row) return rows
      rows.push(row)
    }
  }

  const clear = async (name: string, key: string, { kept, revision }: Found): Promise<void> => {
    const marked = kept.isGone ? revision : await keys.put(key, JSON.stringify({ ...kept, isGone: true }), { expected: revision })
    if (marked === undefined) return
    const turns = [...turnsIn(kept.rows), ...(await later(name, kept)).map(({ turn_index }) => turn_index)]
    await inPortions(turns, (turn) => keys.delete(rowKey(name, kept, turn)))
    await keys.delete(key, { expected: marked })
  }

  const find = async (name: string, key: string): Promise<Found | undefined> => {
    for (let attempt = 0; attempt < attemptsMax; attempt++) {
      const found = await keys.get(key)
      if (!found) return undefined
      const one = { kept: jsonIn(found.value, 'the record of a session') as Kept, revision: found.revision }
      if (!isOver(one.kept)) return one
      await clear(name, key, one)
    }
    throw crowded(name)
  }

  const change = async (name: string, sessionId: string, how: (kept: Kept) => Partial<Kept> | undefined): Promise<Kept> => {
    const key = await recordKey(name, sessionId)
    for (let attempt = 0; attempt < attemptsMax; attempt++) {
      const found = await find(name, key)
      const kept = found?.kept ?? { ...noRecord, id: sessionId, generation: uuid(), rows: [], touchedAt: now() }
      const changed = how(kept)
      if (!changed) return kept
      const next = { ...kept, ...changed, touchedAt: now() }
      if ((await keys.put(key, JSON.stringify(next), { expected: found?.revision ?? 0 })) !== undefined) return next
    }
    throw crowded(name)
  }

  const recordOf = async (name: string, sessionId: string): Promise<Kept | undefined> => (await find(name, await recordKey(name, sessionId)))?.kept

  return {
    async load(name, sessionId) {
      const kept = await recordOf(name, sessionId)
      if (!kept) return undefined
      const last = kept.rows.at(-1)?.[1]
      const [known, unknown] = await Promise.all([last === undefined ? undefined : rowAt(name, kept, last), later(name, kept)])
      const newest = unknown.at(-1) ?? known
      return newest && withRecord(newest, recordAt(kept, now()))
    },
    async rows(name, sessionId) {
      const kept = await recordOf(name, sessionId)
      if (!kept) return []
      const known = await inPortions(turnsIn(kept.rows), (turn) => rowAt(name, kept, turn))
      return [...known.filter((row) => row !== undefined), ...(await later(name, kept))]
    },
    async save(given) {
      const row = checkedRow(given)
      const { orchestrator_name: name, session_id: sessionId, turn_index: turn } = row
      const text = jsonText(row, 'the row')
      // The record comes first, so that a row is never alone: then it is found, or cleared up.
      const kept = await change(name, sessionId, ({ touchedAt, rows }) => (rows.length === 0 ? { touchedAt } : undefined))
      const key = rowKey(name, kept, turn)
      if ((await keys.put(key, text, { expected: 0 })) === undefined) {
        const before = await rowAt(name, kept, turn)
        if (!before || contentOf(before) !== contentOf(row)) throw otherContent(row)
      }
      const after = await change(name, sessionId, ({ generation, rows }) =>
        generation === kept.generation ? { rows: spansWith(rows, turn) } : undefined,
      )
      // It was deleted meanwhile.
      if (after.generation !== kept.generation) await keys.delete(key)
    },
    async replace(given) {
      const row = checkedRow(given)
      const { orchestrator_name: name, session_id: sessionId, turn_index: turn } = row
      const kept = await recordOf(name, sessionId)
      const found = kept && (await keys.get(rowKey(name, kept, turn)))
      if (!found) throw noSuchRow(row)
      const written = await keys.put(rowKey(name, kept, turn), jsonText(row, 'the row'), { expected: found.revision })
      if (written === undefined) throw crowded(name)
    },
    async record(name, sessionId) {
      return recordAt((await recordOf(name, sessionId)) ?? noRecord, now())
    },
    async lock(name, sessionId, owner, forMs) {
      const { lock } = await change(name, sessionId, (kept) => {
        const held = recordAt(kept, now()).lock
        if (held && held.owner !== owner) return undefined
        return { lock: { owner, acquiredAt: held?.acquiredAt ?? now(), expiresAt: now() + forMs } }
      })
      return lock?.owner === owner
    },
    async unlock(name, sessionId, owner) {
      await change(name, sessionId, ({ lock }) => (lock?.owner === owner ? { lock: null } : undefined))
    },
    async setSummarizedThrough(name, sessionId, index) {
      await change(name, sessionId, () => ({ summarizedThrough: index }))
    },
    async delete(name, sessionId) {
      const key = await recordKey(name, sessionId)
      for (let found = await find(name, key); found; found = await find(name, key)) await clear(name, key, found)
    },
    async list(name, prefix = '') {
      const found = await keys.list(`ladder/sessions/${escaped(name)}/${beginningOf(prefix)}`)
      const all = found.map(({ value }) => jsonIn(value, 'the record of a session') as Kept)
      const asked = all.filter((kept) => kept.id.startsWith(prefix) && !isOver(kept))
      // One may have its first row without knowing.
      const known = await inPortions(asked, async (kept) => kept.rows.length > 0 || (await rowAt(name, kept, 0)) !== undefined)
      return asked.filter((_, index) => known[index]).map(({ id }) => id)
    },
    async prune(name, sessionId, keep) {
      const kept = await recordOf(name, sessionId)
      const latest = kept?.rows.at(-1)?.[1]
      if (!kept || latest === undefined) return
      const first = latest - checkedKeep(keep) + 1
      const old = turnsIn(kept.rows).filter((turn) => turn < first)
      if (old.length === 0) return
      await inPortions(old, (turn) => keys.delete(rowKey(name, kept, turn)))
      await change(name, sessionId, ({ generation, rows }) => (generation === kept.generation ? { rows: spansWithout(rows, first) } : undefined))
    },
    schema: () => '',
    setOptions(options) {
      ttlMs = options.ttlMs
    },
  }
}

const crowded = (name: string): LadderError =>
  new LadderError('STORE_FAILED', `others write to the same session of '${name}' all the time`, {
    hint: 'let one process run the turns of a session',
  })
