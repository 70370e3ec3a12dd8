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
 * @property rows which turns have one. Where a process has died, the row after the last may be there already, or the last one not yet
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
  const recordKey = (name: string, sessionId: string): string => `ladder/sessions/${escaped(name)}/${part(checkedSession(sessionId))}`
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

  /** The newest that the record knows: of the last turn, unless its writer has died in between. */
  const known = async (name: string, kept: Kept): Promise<CheckpointRow | undefined> => {
    for (const turn of turnsIn(kept.rows.slice(-1)).reverse()) {
      const row = await rowAt(name, kept, turn)
      if (row) return row
    }
    return kept.rows.length > 1 ? known(name, { ...kept, rows: kept.rows.slice(0, -1) }) : undefined
  }
  const newest = async (name: string, kept: Kept): Promise<CheckpointRow | undefined> => {
    const [last, unknown] = await Promise.all([known(name, kept), later(name, kept)])
    return unknown.at(-1) ?? last
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

  /** @param first what was found just now, which is not looked for again */
  const change = async (name: string, sessionId: string, how: (kept: Kept) => Partial<Kept> | undefined, first?: Found): Promise<Kept> => {
    const key = recordKey(name, sessionId)
    for (let attempt = 0; attempt < attemptsMax; attempt++) {
      const found = attempt === 0 && first ? first : await find(name, key)
      const kept = found?.kept ?? anew(sessionId)
      const changed = how(kept)
      if (!changed) return kept
      const next = { ...kept, ...changed, touchedAt: now() }
      if ((await keys.put(key, JSON.stringify(next), { expected: found?.revision ?? 0 })) !== undefined) return next
    }
    throw crowded(name)
  }
  const anew = (id: string): Kept => ({ ...noRecord, id, generation: uuid(), rows: [], touchedAt: now() })

  const recordOf = async (name: string, sessionId: string): Promise<Kept | undefined> => (await find(name, recordKey(name, sessionId)))?.kept

  return {
    async load(name, sessionId) {
      const kept = await recordOf(name, sessionId)
      if (!kept) return undefined
      const row = await newest(name, kept)
      return row && withRecord(row, recordAt(kept, now()))
    },
    async rows(name, sessionId) {
      const kept = await recordOf(name, sessionId)
      if (!kept) return []
      const all = await inPortions(turnsIn(kept.rows), (turn) => rowAt(name, kept, turn))
      return [...all.filter((row) => row !== undefined), ...(await later(name, kept))]
    },
    async save(given) {
      const row = checkedRow(given)
      const { orchestrator_name: name, session_id: sessionId, turn_index: turn } = row
      const text = jsonText(row, 'the row')
      const record = recordKey(name, sessionId)
      const found = await find(name, record)
      const noting = ({ rows }: Kept): Partial<Kept> => ({ rows: spansWith(rows, turn) })
      // That of a new session comes first, so that a row is never alone: then it is found, or cleared up.
      const kept = found?.kept ?? (await change(name, sessionId, noting))
      const key = rowKey(name, kept, turn)
      const ofKept = (one: Kept): Partial<Kept> | undefined => (one.generation === kept.generation ? noting(one) : undefined)
      // Asked for together, which is one write in a data folder. Where only the record got through, readers find that the row is not there.
      const [added] = await Promise.all([keys.put(key, text, { expected: 0 }), found && change(name, sessionId, ofKept, found)])
      if (added === undefined) {
        const before = await rowAt(name, kept, turn)
        if (!before || contentOf(before) !== contentOf(row)) throw otherContent(row)
      }
      // It was deleted meanwhile.
      if ((await find(name, record))?.kept.generation !== kept.generation) await keys.delete(key)
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
      const key = recordKey(name, sessionId)
      for (let found = await find(name, key); found; found = await find(name, key)) await clear(name, key, found)
    },
    async list(name, prefix = '') {
      const found = await keys.list(`ladder/sessions/${escaped(name)}/${beginningOf(prefix)}`)
      const all = found.map(({ value }) => jsonIn(value, 'the record of a session') as Kept)
      const asked = all.filter((kept) => kept.id.startsWith(prefix) && !isOver(kept))
      // One may have its first row without knowing, or know of one that it has not.
      const have = await inPortions(asked, async (kept) => {
        const [[first, last] = [0, 0], ...more] = kept.rows
        return more.length > 0 || first < last || (await rowAt(name, kept, first)) !== undefined
      })
      return asked.filter((_, index) => have[index]).map(({ id }) => id)
    },
    async prune(name, sessionId, keep) {
      const found = await find(name, recordKey(name, sessionId))
      const latest = found?.kept.rows.at(-1)?.[1]
      if (!found || latest === undefined) return
      const { kept } = found
      const oldOf = (last: number): number[] => turnsIn(kept.rows).filter((turn) => turn < last - checkedKeep(keep) + 1)
      if (oldOf(latest).length === 0) return
      const last = (await known(name, kept))?.turn_index ?? -1
      const [oldest, ...old] = oldOf(last)
      if (oldest === undefined) return
      const noted = (change: (rows: Spans) => Spans) => (one: Kept) => (one.generation === kept.generation ? { rows: change(one.rows) } : undefined)
      await inPortions(old, (turn) => keys.delete(rowKey(name, kept, turn)))
      // Together, as in save(): after each turn there is one.
      const [dropped, without] = await Promise.allSettled([
        keys.delete(rowKey(name, kept, oldest)),
        change(
          name,
          sessionId,
          noted((rows) => spansWithout(rows, last - keep + 1)),
          found,
        ),
      ])
      if (without.status === 'rejected') throw without.reason
      if (dropped.status === 'fulfilled') return
      // It is there: the next time it is dropped.
      await change(
        name,
        sessionId,
        noted((rows) => spansWith(rows, oldest)),
      )
      throw dropped.reason
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
