/** Sessions in keys, and processes that die between any two writes. */
import { expect, test } from 'vitest'
import { openTransport, type Transport } from '../../../src/index.ts'
import {
  type CheckpointStore,
  memorySnapshots,
  memoryStore,
  redisSnapshots,
  redisStore,
  registrySnapshots,
  registryStore,
} from '../../../src/ladder/index.ts'
import { aRow, start } from './a-row.ts'

type Registry = Transport['registry']

/** The process dies with the write of this number: before it is done, or before it is heard that it was. Nothing is done after that. */
const dyingAt = (registry: Registry, number: number, when: 'before' | 'after'): Registry & { writes(): number } => {
  let count = 0
  const write = async <Result>(act: () => Promise<Result>): Promise<Result> => {
    count += 1
    if (count > number || (count === number && when === 'before')) throw new Error('died')
    const result = await act()
    if (count >= number) throw new Error('died')
    return result
  }
  return {
    ...registry,
    put: (key, value, options) => write(() => registry.put(key, value, options)),
    delete: (key, options) => write(() => registry.delete(key, options)),
    writes: () => count,
  }
}

const steps: ((store: CheckpointStore) => Promise<unknown> | undefined)[] = [
  (store) => store.save(aRow('desk')),
  (store) => store.save(aRow('desk', { turn_index: 1 })),
  (store) => store.lock('desk', 's', 'me', 1_000),
  (store) => store.save(aRow('desk', { turn_index: 2 })),
  (store) => store.prune?.('desk', 's', 2),
  (store) => store.setSummarizedThrough('desk', 's', 4),
  (store) => store.replace?.(aRow('desk', { turn_index: 2, signature: 'mended' })),
  (store) => store.unlock('desk', 's', 'me'),
  (store) => store.delete('desk', 's'),
  (store) => store.save(aRow('desk', { state: 'anew' })),
]
/** What readers may find after so many of them. */
const seen = async (store: CheckpointStore) => ({
  rows: await store.rows('desk', 's'),
  newest: await store.load('desk', 's'),
  record: await store.record('desk', 's'),
})

test.each(['before', 'after'] as const)(
  '[WL-035, WL-043] a process may die %s any write: what is there is as if the step was done or not, and the next process does it and the rest',
  async (when) => {
    const { registry: whole, close } = await openTransport('memory:')
    const expected: Awaited<ReturnType<typeof seen>>[] = [await seen(registryStore(whole))]
    const counting = dyingAt(whole, Number.POSITIVE_INFINITY, when)
    const untouched = registryStore(counting, { clock: () => start })
    for (const step of steps) {
      await step(untouched)
      expected.push(await seen(untouched))
    }
    const left = (await whole.list('')).map(({ key }) => key.replace(/[0-9a-f-]{36}/, 'generation'))
    await close()
    expect(counting.writes()).toBe(18)

    for (let number = 1; number <= counting.writes(); number++) {
      const { registry, close: end } = await openTransport('memory:')
      const doomed = registryStore(dyingAt(registry, number, when), { clock: () => start })
      let done = 0
      for (const step of steps) {
        const alive = await Promise.resolve(step(doomed)).then(
          () => true,
          () => false,
        )
        if (!alive) break
        done += 1
      }
      const heir = registryStore(registry, { clock: () => start })
      const found = await seen(heir)
      // What is pruned and deleted goes bit by bit.
      if (done === 4) expect(found.newest, `write ${number}`).toEqual(expected[4]?.newest)
      else expect([expected[done], expected[done + 1]], `write ${number}`).toContainEqual(found)

      for (const step of steps.slice(done)) await step(heir)
      expect(await seen(heir), `write ${number}`).toEqual(expected.at(-1))
      expect(
        (await registry.list('')).map(({ key }) => key.replace(/[0-9a-f-]{36}/, 'generation')),
        `write ${number}`,
      ).toEqual(left)
      await end()
    }
  },
)

test('[WL-035] a row whose writer died before it was noted counts: it is the newest, its session is listed, and it is deleted with it', async () => {
  for (const [number, turns] of [
    [2, [0]],
    [3, [0, 1]],
  ] as const) {
    const { registry, close } = await openTransport('memory:')
    const doomed = registryStore(dyingAt(registry, number, 'after'))
    for (const turn_index of turns) await doomed.save(aRow('desk', { turn_index })).catch(() => undefined)
    const store = registryStore(registry)

    expect((await store.load('desk', 's'))?.turn_index).toBe(turns.at(-1))
    expect((await store.rows('desk', 's')).map(({ turn_index }) => turn_index)).toEqual(turns)
    expect(await store.list?.('desk')).toEqual(['s'])
    await store.delete('desk', 's')
    expect(await registry.list('ladder/')).toEqual([])
    await close()
  }
})

/** Writes to such keys are refused, as too large ones are, or as by a server that is away. */
const refusing = (registry: Registry, prefix: string): Registry & { refuses: boolean } => {
  const which = {
    ...registry,
    refuses: true,
    put: (key: string, ...rest: [string, { expected?: number }?]) => refused(key) ?? registry.put(key, ...rest),
    delete: (key: string, options?: { expected?: number }) => refused(key) ?? registry.delete(key, options),
  }
  const refused = (key: string) => (which.refuses && key.startsWith(prefix) ? Promise.reject(new Error('refused')) : undefined)
  return which
}

test('[WL-035, WL-043] of a row that was refused only the record knows: the one before is the newest, and the turn can be stored again', async () => {
  const { registry, close } = await openTransport('memory:')
  const store = registryStore(registry)
  const away = registryStore(refusing(registry, 'ladder/rows/'))
  await expect(away.save(aRow('desk', { session_id: 'new' }))).rejects.toMatchObject({ code: 'STORE_FAILED' })
  for (const turn_index of [0, 1]) await store.save(aRow('desk', { turn_index }))
  await expect(away.save(aRow('desk', { turn_index: 2 }))).rejects.toMatchObject({ code: 'STORE_FAILED' })

  expect(await store.load('desk', 's')).toEqual(aRow('desk', { turn_index: 1 }))
  expect(await store.load('desk', 'new')).toBeUndefined()
  expect(await store.list?.('desk')).toEqual(['s'])
  await store.prune?.('desk', 's', 1)
  expect(await store.rows('desk', 's')).toEqual([aRow('desk', { turn_index: 1 })])
  await store.save(aRow('desk', { turn_index: 2, state: 'again' }))
  expect(await store.load('desk', 's')).toEqual(aRow('desk', { turn_index: 2, state: 'again' }))
  await close()
})

test('[WL-046] a row that could not be dropped is dropped with the next turn', async () => {
  const { registry, close } = await openTransport('memory:')
  const store = registryStore(registry)
  for (const turn_index of [0, 1]) await store.save(aRow('desk', { turn_index }))
  const away = refusing(registry, 'ladder/rows/')
  await expect(registryStore(away).prune?.('desk', 's', 1)).rejects.toMatchObject({ code: 'STORE_FAILED' })
  expect((await store.rows('desk', 's')).map(({ turn_index }) => turn_index)).toEqual([0, 1])

  away.refuses = false
  await registryStore(away).prune?.('desk', 's', 1)

  expect(await registry.list('ladder/rows/')).toHaveLength(1)
  await close()
})

test('[WL-043] what a turn stores is asked for in one breath, so that a data folder writes it once', async () => {
  const { registry, close } = await openTransport('memory:')
  const groups: string[][] = []
  let isOpen = false
  const note = (what: string): void => {
    if (!isOpen) groups.push([])
    if (!isOpen) setImmediate(() => (isOpen = false))
    isOpen = true
    groups.at(-1)?.push(what)
  }
  const store = registryStore({
    ...registry,
    put: (key, ...rest) => (note(`put ${key.split('/')[1]}`), registry.put(key, ...rest)),
    delete: (key, ...rest) => (note(`delete ${key.split('/')[1]}`), registry.delete(key, ...rest)),
  })
  for (const turn_index of [0, 1, 2]) {
    await store.save(aRow('desk', { turn_index }))
    // Whatever comes next is another write.
    await new Promise(setImmediate)
  }
  await store.prune?.('desk', 's', 2)

  expect(groups).toEqual([
    ['put sessions', 'put rows'],
    ['put rows', 'put sessions'],
    ['put rows', 'put sessions'],
    ['delete rows', 'put sessions'],
  ])
  await close()
})

/** Does something else once, just before the first write to such a key. */
const interrupted = (registry: Registry, prefix: string, meanwhile: () => Promise<void>): Registry & { was(): boolean } => {
  let was = false
  return {
    ...registry,
    async put(key, value, options) {
      if (key.startsWith(prefix) && !was) {
        was = true
        await meanwhile()
      }
      return registry.put(key, value, options)
    },
    was: () => was,
  }
}

test('[WL-043] a session that is deleted while a turn of it is stored leaves nothing of it behind', async () => {
  const { registry, close } = await openTransport('memory:')
  const other = registryStore(registry)
  await other.save(aRow('desk'))
  const slow = interrupted(registry, 'ladder/rows/', () => other.delete('desk', 's'))

  await registryStore(slow).save(aRow('desk', { turn_index: 1 }))

  expect(slow.was()).toBe(true)
  expect(await other.load('desk', 's')).toBeUndefined()
  expect(await registry.list('ladder/')).toEqual([])
  await close()
})

test('[WL-048] who finds a session idle does not clear away the one that has begun anew meanwhile', async () => {
  const { registry, close } = await openTransport('memory:')
  const time = { now: start }
  const opened = (which: Registry) => {
    const store = registryStore(which, { clock: () => time.now })
    store.setOptions?.({ ttlMs: 1_000 })
    return store
  }
  const other = opened(registry)
  for (const turn_index of [0, 1]) await other.save(aRow('desk', { turn_index }))
  time.now += 2_000
  const slow = interrupted(registry, 'ladder/sessions/', () => other.save(aRow('desk', { state: 'anew' })))

  expect((await opened(slow).load('desk', 's'))?.state).toBe('anew')

  expect(slow.was()).toBe(true)
  expect(await other.rows('desk', 's')).toEqual([aRow('desk', { state: 'anew' })])
  expect(await registry.list('ladder/rows/')).toHaveLength(1)
  await close()
})

test('a crowd that never lets a process write is told, and not waited for without end', async () => {
  const { registry, close } = await openTransport('memory:')
  const store = registryStore({ ...registry, put: async () => undefined })
  await expect(store.lock('desk', 's', 'me', 1_000)).rejects.toMatchObject({ code: 'STORE_FAILED' })
  await close()
})

test('a record or a row that somebody has broken is STORE_FAILED', async () => {
  const { registry, close } = await openTransport('memory:')
  const store = registryStore(registry)
  await store.save(aRow('desk'))
  const [row] = await registry.list('ladder/rows/')
  await registry.put(row?.key ?? '', '{')
  await expect(store.load('desk', 's')).rejects.toMatchObject({ code: 'STORE_FAILED', message: expect.stringContaining('is damaged') })
  const [record] = await registry.list('ladder/sessions/')
  await registry.put(record?.key ?? '', '')
  await expect(store.record('desk', 's')).rejects.toMatchObject({ code: 'STORE_FAILED' })
  await expect(store.list?.('desk')).rejects.toMatchObject({ code: 'STORE_FAILED' })
  await close()
})

test('[WL-045] what stands in keys needs nothing to be run by hand', async () => {
  const { registry, close } = await openTransport('memory:')
  const client = { eval: () => Promise.reject(new Error('nobody asks')) }
  const stores = [memoryStore(), memorySnapshots(), registryStore(registry), registrySnapshots(registry), redisStore(client), redisSnapshots(client)]
  expect(stores.map((store) => store.schema())).toEqual(stores.map(() => ''))
  await close()
})
