/** One suite for everything that keeps sessions, and one for what keeps runs in flight. Drivers may share a place: each test has names of its own. */
import { describe, expect, test } from 'vitest'
import type { CheckpointRow, CheckpointStore, RunSnapshot, SnapshotStore } from '../../../src/ladder/index.ts'
import { aRow, start } from './a-row.ts'

export type Backend<Store> = {
  name: string
  /** @param clock ms since the epoch */
  open(clock: () => number): Promise<Store>
  /** The same place after a restart of the process; left out where nothing outlives it. */
  reopen?(clock: () => number): Promise<Store>
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
]
/** What ids may hold: separators, wildcards, quotes, what databases and paths take for something, and much of it. */
const hostile = [
  '../../etc',
  'a/b',
  'a.b.>',
  '*',
  "'; DROP TABLE x; --",
  '"',
  '%',
  '_',
  'a\u0000b',
  ' ',
  '\n',
  'é',
  'e\u0301',
  '💡',
  '__proto__',
  'x'.repeat(1_024),
  `${'x'.repeat(1_023)}y`,
  'ü'.repeat(512),
]

let count = 0
const aName = (): string => {
  count += 1
  return `desk-${count}`
}

const turns = (rows: readonly CheckpointRow[]): number[] => rows.map(({ turn_index }) => turn_index)

export const describeCheckpointStore = ({ name: driver, open, reopen }: Backend<CheckpointStore>): void => {
  describe(driver, () => {
    const opened = async () => {
      const time = { now: start }
      return { store: await open(() => time.now), name: aName(), time }
    }

    test('[WL-041, WL-042] a row comes back with exactly its fields, all of them JSON, and the newest one is loaded', async () => {
      const { store, name } = await opened()
      expect(await store.load(name, 's')).toBeUndefined()
      expect(await store.rows(name, 's')).toEqual([])

      const first = aRow(name)
      const second = aRow(name, { turn_index: 1, last_route: ['write', 'check'], version: 'v2', state: {} })
      await store.save({ ...first, stray: true } as CheckpointRow)
      await store.save(second)
      await store.save(aRow(name, { turn_index: 2, last_route: null }))

      expect(await store.rows(name, 's')).toEqual([first, second, aRow(name, { turn_index: 2, last_route: null })])
      const loaded = await store.load(name, 's')
      expect(loaded).toEqual(aRow(name, { turn_index: 2, last_route: null }))
      expect(Object.keys(loaded ?? {})).toEqual(fields)
      expect(JSON.parse(JSON.stringify(loaded))).toEqual(loaded)
    })

    test('[WL-014, WL-042] sessions of one name, and one session of two names, do not mix; a session that is deleted begins anew', async () => {
      const { store, name } = await opened()
      const other = aName()
      await store.save(aRow(name))
      await store.save(aRow(name, { session_id: 't', turn_index: 5 }))
      await store.save(aRow(other, { turn_index: 7 }))
      await store.setSummarizedThrough(name, 's', 3)

      await store.delete(name, 's')
      await store.delete(name, 'never there')

      expect(await store.load(name, 's')).toBeUndefined()
      expect(await store.rows(name, 's')).toEqual([])
      expect(await store.record(name, 's')).toEqual({ summarizedThrough: null, lock: null })
      expect((await store.load(name, 't'))?.turn_index).toBe(5)
      expect((await store.load(other, 's'))?.turn_index).toBe(7)
      await store.save(aRow(name, { state: 'new' }))
      expect(await store.rows(name, 's')).toEqual([aRow(name, { state: 'new' })])
    })

    test('[WL-017] what is changed in a row that was loaded or saved changes nothing that is stored', async () => {
      const { store, name } = await opened()
      const state = { count: 1 }
      await store.save(aRow(name, { state }))
      state.count = 2
      const loaded = (await store.load(name, 's'))?.state as typeof state
      loaded.count = 3

      expect((await store.load(name, 's'))?.state).toEqual({ count: 1 })
    })

    test('[WL-043] a turn that is stored is refused with other content, and taken with the same again', async () => {
      const { store, name } = await opened()
      await store.save(aRow(name, { state: { a: 1, b: 2 } }))
      await store.save(aRow(name, { state: { b: 2, a: 1 }, saved_at: new Date(start + 1).toISOString() }))

      for (const given of [{ state: { a: 1 } }, { signature: 'other' }, { version: '2' }, { last_route: ['write'] }])
        await expect(store.save(aRow(name, { state: { a: 1, b: 2 }, ...given }))).rejects.toMatchObject({
          code: 'STORE_FAILED',
          category: 'execution',
          context: { sessionId: 's', turnIndex: 0 },
        })
      expect(await store.rows(name, 's')).toEqual([aRow(name, { state: { a: 1, b: 2 } })])
    })

    test('[WL-043] of many who store one turn at once with different content, one is first, and the others are told', async () => {
      const { store, name } = await opened()
      const saved = await Promise.allSettled(Array.from({ length: 8 }, (_, index) => store.save(aRow(name, { state: index }))))

      const first = saved.findIndex(({ status }) => status === 'fulfilled')
      expect(saved.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
      expect(await store.rows(name, 's')).toEqual([aRow(name, { state: first })])
    })

    test('[WL-043] locks and the progress of compaction stand beside the rows, which stay as they are, and are shown in the newest', async () => {
      const { store, name, time } = await opened()
      await store.save(aRow(name))
      await store.save(aRow(name, { turn_index: 1 }))
      const before = await store.rows(name, 's')

      expect(await store.lock(name, 's', 'me', 1_000)).toBe(true)
      await store.setSummarizedThrough(name, 's', 21)

      expect(await store.record(name, 's')).toEqual({ summarizedThrough: 21, lock: { owner: 'me', acquiredAt: start, expiresAt: start + 1_000 } })
      expect(await store.load(name, 's')).toEqual(
        aRow(name, {
          turn_index: 1,
          summarized_through: 21,
          lock_acquired_at: new Date(start).toISOString(),
          lock_expires_at: new Date(start + 1_000).toISOString(),
        }),
      )
      time.now += 1_000
      expect(await store.record(name, 's')).toEqual({ summarizedThrough: 21, lock: null })
      expect(await store.load(name, 's')).toMatchObject({ lock_acquired_at: null, lock_expires_at: null })
      await store.save(aRow(name, { turn_index: 2 }))
      expect(await store.record(name, 's')).toEqual({ summarizedThrough: 21, lock: null })
      expect(await store.rows(name, 's')).toEqual([...before, aRow(name, { turn_index: 2 })])
    })

    test('[WL-043] a lock is its owner’s until it is released by them or expires; they may take it for longer', async () => {
      const { store, name, time } = await opened()
      const owners = Array.from({ length: 12 }, (_, index) => `owner ${index}`)
      const got = await Promise.all(owners.map((owner) => store.lock(name, 's', owner, 1_000)))
      const winner = owners[got.indexOf(true)] ?? ''
      expect(got.filter(Boolean)).toHaveLength(1)

      await store.unlock(name, 's', 'nobody')
      expect(await store.lock(name, 's', 'nobody', 1_000)).toBe(false)
      time.now += 500
      expect(await store.lock(name, 's', winner, 1_000)).toBe(true)
      time.now += 999
      expect(await store.lock(name, 's', 'nobody', 1_000)).toBe(false)
      time.now += 1
      expect(await store.lock(name, 's', 'nobody', 1_000)).toBe(true)
      await store.unlock(name, 's', 'nobody')
      await store.unlock(name, 't', 'nobody')
      expect((await store.record(name, 's')).lock).toBeNull()
      expect(await store.lock(name, 's', winner, 1_000)).toBe(true)
      expect(await store.load(name, 's')).toBeUndefined()
      expect(await store.list?.(name)).toEqual([])
    })

    test('[WL-022] by hand a row can be mended that is there, and no other', async () => {
      const { store, name } = await opened()
      await store.save(aRow(name))
      await store.save(aRow(name, { turn_index: 1 }))

      await store.replace?.(aRow(name, { turn_index: 1, signature: '12345678' }))

      expect(await store.load(name, 's')).toEqual(aRow(name, { turn_index: 1, signature: '12345678' }))
      await expect(store.replace?.(aRow(name, { turn_index: 2 }))).rejects.toMatchObject({ code: 'STORE_FAILED' })
      await expect(store.replace?.(aRow(name, { session_id: 't' }))).rejects.toMatchObject({ code: 'STORE_FAILED' })
      expect(turns(await store.rows(name, 's'))).toEqual([0, 1])
    })

    test('[WL-046] of five turns three are kept: those with the numbers 2, 3 and 4', async () => {
      const { store, name } = await opened()
      for (let turn = 0; turn < 5; turn++) {
        await store.save(aRow(name, { turn_index: turn }))
        await store.save(aRow(name, { session_id: 't', turn_index: turn }))
      }
      await store.prune?.(name, 's', 9)
      expect(turns(await store.rows(name, 's'))).toEqual([0, 1, 2, 3, 4])

      await store.prune?.(name, 's', 3)
      await store.prune?.(name, 's', 3)
      await store.prune?.(name, 'never there', 3)

      expect(turns(await store.rows(name, 's'))).toEqual([2, 3, 4])
      expect(turns(await store.rows(name, 't'))).toEqual([0, 1, 2, 3, 4])
      expect((await store.load(name, 's'))?.turn_index).toBe(4)
      await store.save(aRow(name, { turn_index: 5 }))
      await store.prune?.(name, 's', 1)
      expect(turns(await store.rows(name, 's'))).toEqual([5])
      await expect(store.prune?.(name, 's', 0)).rejects.toMatchObject({ code: 'STORE_FAILED' })
    })

    test('[WL-046] turns are kept by their number, in whatever order they came', async () => {
      const { store, name } = await opened()
      for (const turn of [4, 10, 2, 9, 3]) await store.save(aRow(name, { turn_index: turn }))

      expect(turns(await store.rows(name, 's'))).toEqual([2, 3, 4, 9, 10])
      expect((await store.load(name, 's'))?.turn_index).toBe(10)
      await store.prune?.(name, 's', 7)
      expect(turns(await store.rows(name, 's'))).toEqual([4, 9, 10])
    })

    test('[WL-047] sessions are listed by a prefix in which no character has a meaning', async () => {
      const { store, name } = await opened()
      const ids = ['a_1', 'ab1', 'a%', 'a*', 'b', 'ü1', 'u1', 'A_2', 'a']
      for (const session_id of ids) await store.save(aRow(name, { session_id }))
      await store.save(aRow(aName(), { session_id: 'a_3' }))
      const listed = async (prefix?: string) => (await store.list?.(name, prefix))?.toSorted()

      expect(await listed('a_')).toEqual(['a_1'])
      expect(await listed('a%')).toEqual(['a%'])
      expect(await listed('a*')).toEqual(['a*'])
      expect(await listed('ü')).toEqual(['ü1'])
      expect(await listed('a')).toEqual(['a', 'a%', 'a*', 'a_1', 'ab1'])
      expect(await listed()).toEqual(ids.toSorted())
      expect(await listed('')).toEqual(ids.toSorted())
      expect(await listed('a_10')).toEqual([])
    })

    test('[WL-014, WL-047] ids may hold any characters, and none of them is another one', async () => {
      const { store, name } = await opened()
      for (const [index, session_id] of hostile.entries()) await store.save(aRow(name, { session_id, state: index }))

      for (const [index, session_id] of hostile.entries()) {
        expect(await store.load(name, session_id), session_id.slice(0, 20)).toEqual(aRow(name, { session_id, state: index }))
        expect(await store.list?.(name, session_id), session_id.slice(0, 20)).toContain(session_id)
      }
      expect((await store.list?.(name))?.toSorted()).toEqual(hostile.toSorted())
      expect((await store.list?.(name, 'x'.repeat(1_000)))?.toSorted()).toEqual(['x'.repeat(1_024), `${'x'.repeat(1_023)}y`].toSorted())
      expect(await store.list?.(name, `${'x'.repeat(1_023)}y`)).toEqual([`${'x'.repeat(1_023)}y`])
      for (const session_id of ['', 'a\uD800']) await expect(store.save(aRow(name, { session_id }))).rejects.toMatchObject({ code: 'STORE_FAILED' })
    })

    test('[WL-048] a session that is idle for its time is gone, and one that is written to is not', async () => {
      const { store, name, time } = await opened()
      await store.save(aRow(name, { session_id: 'early' }))
      store.setOptions?.({ ttlMs: 1_000 })
      await store.save(aRow(name))
      time.now += 900
      await store.save(aRow(name, { turn_index: 1 }))
      time.now += 900

      expect(turns(await store.rows(name, 's'))).toEqual([0, 1])
      expect(await store.list?.(name)).toEqual(['s'])
      time.now += 1_100
      expect(await store.load(name, 's')).toBeUndefined()
      expect(await store.load(name, 'early')).toBeUndefined()
      expect(await store.rows(name, 's')).toEqual([])
      expect(await store.list?.(name)).toEqual([])

      await store.save(aRow(name, { state: 'anew' }))
      expect(await store.rows(name, 's')).toEqual([aRow(name, { state: 'anew' })])
      store.setOptions?.({})
      time.now += 1_000_000
      expect(await store.load(name, 's')).toBeDefined()
    })

    test('[WL-017, WL-041] what JSON would change or drop without a word is refused, and nothing is stored', async () => {
      const { store, name } = await opened()
      const circle: unknown[] = []
      circle.push(circle)
      for (const state of [new Date(start), { at: 1n }, [Number.NaN], { call: () => 1 }, new Map(), circle, [undefined], undefined])
        await expect(store.save(aRow(name, { state }))).rejects.toMatchObject({ code: 'STORE_FAILED' })
      for (const turn_index of [-1, 0.5, Number.NaN])
        await expect(store.save(aRow(name, { turn_index }))).rejects.toMatchObject({ code: 'STORE_FAILED' })

      expect(await store.rows(name, 's')).toEqual([])
      const state = JSON.parse('{"__proto__":{"polluted":true},"text":"\\u0000\\uD83D\\uDCA1"}') as object
      await store.save(aRow(name, { state }))
      expect((await store.load(name, 's'))?.state).toEqual(state)
      expect(({} as { polluted?: true }).polluted).toBeUndefined()
    })

    if (reopen)
      test('[WL-044] what is stored is there after a restart, with its record', async () => {
        const { store, name, time } = await opened()
        await store.save(aRow(name))
        await store.save(aRow(name, { turn_index: 1 }))
        await store.lock(name, 's', 'me', 1_000)
        await store.setSummarizedThrough(name, 's', 4)

        const again = await reopen?.(() => time.now)

        expect(turns((await again?.rows(name, 's')) ?? [])).toEqual([0, 1])
        expect(await again?.record(name, 's')).toMatchObject({ summarizedThrough: 4, lock: { owner: 'me' } })
        expect(await again?.lock(name, 's', 'you', 1_000)).toBe(false)
        expect(await again?.list?.(name)).toEqual(['s'])
      })
  })
}

export const describeSnapshotStore = ({ name: driver, open, reopen }: Backend<SnapshotStore>): void => {
  describe(driver, () => {
    const opened = async () => ({ store: await open(() => start), run: `${aName()}/` })
    const aSnapshot = (runId: string, given: Partial<RunSnapshot> = {}): RunSnapshot => ({
      runId,
      type: 'supervisor',
      name: 'desk',
      signature: '0badcafe',
      status: 'running',
      at: start,
      next: { iteration: 2 },
      state: { count: 1 },
      ...given,
    })

    test('[WL-049] a run is kept by its id, each time in place of the time before, until it is deleted', async () => {
      const { store, run } = await opened()
      const id = `${run}s.v2.3`
      expect(await store.load(id)).toBeUndefined()

      await store.save(aSnapshot(id))
      await store.save(aSnapshot(id, { status: 'completed', next: null, iterations: [{ number: 0 }] }))

      expect(await store.load(id)).toEqual(aSnapshot(id, { status: 'completed', next: null, iterations: [{ number: 0 }] }))
      await store.delete(id)
      await store.delete(id)
      expect(await store.load(id)).toBeUndefined()
      expect(await store.list(run)).toEqual([])
    })

    test('[WL-049] runs are listed by a prefix in which no character has a meaning, whatever their ids hold', async () => {
      const { store, run } = await opened()
      const ids = ['a_1.v.0', 'ab1.v.0', ...hostile].map((id) => `${run}${id}`)
      for (const id of ids) await store.save(aSnapshot(id))

      expect(await store.list(`${run}a_`)).toEqual([`${run}a_1.v.0`])
      expect((await store.list(run)).toSorted()).toEqual(ids.toSorted())
      expect(await store.list()).toEqual(expect.arrayContaining(ids))
      for (const id of ids) expect((await store.load(id))?.runId).toBe(id)
      await expect(store.save(aSnapshot(''))).rejects.toMatchObject({ code: 'STORE_FAILED' })
      await expect(store.save(aSnapshot(`${run}x`, { state: 1n }))).rejects.toMatchObject({ code: 'STORE_FAILED' })
    })

    if (reopen)
      test('[WL-044] runs in flight are there after a restart', async () => {
        const { store, run } = await opened()
        await store.save(aSnapshot(`${run}1`))

        const again = await reopen?.(() => start)

        expect(await again?.load(`${run}1`)).toEqual(aSnapshot(`${run}1`))
        expect(await again?.list(run)).toEqual([`${run}1`])
      })
  })
}
