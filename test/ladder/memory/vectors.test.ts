/** Vectors in memory, in the registry of a data folder, and in databases of the caller. */
import { DatabaseSync } from 'node:sqlite'
import { load as loadVectors } from 'sqlite-vec'
import { afterAll, expect, test } from 'vitest'
import { openTransport, type Transport } from '../../../src/index.ts'
import { memoryVectors, registryVectors, sqliteVectors } from '../../../src/ladder/index.ts'
import { folders } from '../../transport/folder.ts'
import { describeVectorStore } from './vectors.contract.ts'

const aFolder = folders()
const folder = aFolder()
let transport: Promise<Transport> | undefined
const opened = (): Promise<Transport> => (transport ??= openTransport(`embedded:${folder}`))
afterAll(async () => (await transport)?.close())

const aDatabase = (): DatabaseSync => {
  const database = new DatabaseSync(':memory:', { allowExtension: true })
  database.exec(sqliteVectors(database).schema())
  return database
}
const plain = aDatabase()
const extended = aDatabase()
loadVectors(extended)

describeVectorStore({ name: 'vectors in memory', open: async () => memoryVectors() })
describeVectorStore({
  name: 'vectors in the registry of a data folder',
  open: async () => registryVectors((await opened()).registry),
  async reopen() {
    await (await opened()).close()
    transport = undefined
    return registryVectors((await opened()).registry)
  },
})
describeVectorStore({ name: 'vectors in a SQLite database', open: async () => sqliteVectors(plain) })
describeVectorStore({ name: 'vectors in a SQLite database that compares by itself', open: async () => sqliteVectors(extended) })

test('a database that loads the extension later compares by itself from then on, with the same answers', async () => {
  const database = aDatabase()
  const store = sqliteVectors(database)
  const asked: string[] = []
  const listening = sqliteVectors({ prepare: (sql) => (asked.push(sql), database.prepare(sql)) })
  const numbers = (seed: number) => Array.from({ length: 8 }, (_, index) => Math.sin(seed * 13 + index * 7))
  await store.upsert(
    Array.from({ length: 50 }, (_, index) => ({ id: `${index}`, vector: numbers(index), text: '', metadata: {} })),
    { namespace: 'n' },
  )

  const before = await listening.query(numbers(99), { k: 50, namespace: 'n' })
  expect(asked.some((sql) => sql.includes('vec_distance_cosine'))).toBe(false)
  loadVectors(database)
  const after = await listening.query(numbers(99), { k: 50, namespace: 'n' })

  expect(asked.some((sql) => sql.includes('vec_distance_cosine'))).toBe(true)
  expect(after.map(({ id }) => id)).toEqual(before.map(({ id }) => id))
  for (const [index, { similarity }] of after.entries()) expect(similarity).toBeCloseTo(before[index]?.similarity ?? Number.NaN, 5)
  database.close()
})

test('a registry holds as many vectors as it is told and refuses one more; those that are there are written over', async () => {
  const { registry, close } = await openTransport('memory:')
  const store = registryVectors(registry, { itemsMax: 2 })
  const put = (id: string, text = '') => store.upsert([{ id, vector: [1], text, metadata: {} }], { namespace: 'n' })
  await put('a')
  await put('b')
  await put('a', 'new')

  await expect(put('c')).rejects.toMatchObject({ code: 'STORE_FAILED', context: { itemsMax: 2 } })
  expect(await store.query([1], { k: 9, namespace: 'n' })).toMatchObject([{ id: 'a', text: 'new' }, { id: 'b' }])
  await store.delete(['a'], { namespace: 'n' })
  await put('c')
  expect(() => registryVectors(registry, { itemsMax: 0 })).toThrow(expect.objectContaining({ code: 'MEMORY_CONFIG' }))
  await close()
})
