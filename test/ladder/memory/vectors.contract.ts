/** One suite for everything that finds vectors. Drivers may share a place: each test has a namespace of its own. */
import { describe, expect, test } from 'vitest'
import type { VectorItem, VectorStore } from '../../../src/ladder/index.ts'

export type VectorBackend = {
  name: string
  open(): Promise<VectorStore>
  /** The same place after a restart of the process; left out where nothing outlives it. */
  reopen?(): Promise<VectorStore>
}

let count = 0
const anItem = (id: string, vector: readonly number[], metadata: VectorItem['metadata'] = {}): VectorItem => ({
  id,
  vector,
  text: `text of ${id}`,
  metadata,
})

export const describeVectorStore = ({ name, open, reopen }: VectorBackend): void => {
  describe(name, () => {
    const opened = async () => {
      count += 1
      return { store: await open(), namespace: `memory ${count}/semantic` }
    }
    const ids = (matches: readonly { id: string }[]) => matches.map(({ id }) => id)

    test('[WL-077] the most similar come first, with their text, their metadata and the cosine', async () => {
      const { store, namespace } = await opened()
      const metadata = { scope: 's', at: 1.5, uses: 2, isKnown: true, none: null }
      await store.upsert([anItem('far', [0, 2]), anItem('near', [3, 4], metadata), anItem('same', [5, 0]), anItem('against', [-1, 0])], { namespace })

      const matches = await store.query([1, 0], { k: 10, namespace })

      expect(ids(matches)).toEqual(['same', 'near', 'far', 'against'])
      expect(matches.map(({ similarity }) => Math.round(similarity * 1e5) / 1e5)).toEqual([1, 0.6, 0, -1])
      expect(matches[1]).toEqual({ id: 'near', text: 'text of near', metadata, similarity: expect.closeTo(0.6, 5) })
      expect(ids(await store.query([1, 0], { k: 2, namespace }))).toEqual(['same', 'near'])
      expect(await store.query([1, 0], { k: 0, namespace })).toEqual([])
    })

    test('[WL-077] of equals the order is that of their ids, and one of the same id is written over', async () => {
      const { store, namespace } = await opened()
      for (const id of ['b', 'a', 'c']) await store.upsert([anItem(id, [1, 1])], { namespace })
      await store.upsert([{ ...anItem('c', [1, -1]), text: 'new' }], { namespace })

      expect(await store.query([1, 1], { k: 10, namespace })).toMatchObject([{ id: 'a' }, { id: 'b' }, { id: 'c', text: 'new' }])
    })

    test('[WL-074] a filter takes only what has just this value, before the nearest are counted', async () => {
      const { store, namespace } = await opened()
      const of = { scope: 'a', text: '1', number: 1, yes: true, none: null }
      await store.upsert(
        [anItem('one', [0, 1], of), ...Array.from({ length: 30 }, (_, index) => anItem(`other ${index}`, [1, 0], { scope: 'b', number: 1 }))],
        {
          namespace,
        },
      )
      const found = async (filter: VectorItem['metadata']) => ids(await store.query([1, 0], { k: 3, namespace, filter }))

      for (const filter of [{ scope: 'a' }, { text: '1' }, { yes: true }, { none: null }, { scope: 'a', number: 1 }])
        expect(await found(filter), JSON.stringify(filter)).toEqual(['one'])
      for (const filter of [
        { scope: null },
        { scope: 'A' },
        { scope: '%' },
        { text: 1 },
        { number: '1' },
        { yes: 1 },
        { yes: 'true' },
        { missing: null },
        { scope: "' OR 1 = 1 --" },
        { "x' OR '1": '1' },
        { toString: 'a' },
      ])
        expect(await found(filter as VectorItem['metadata']), JSON.stringify(filter)).toEqual([])
      expect(await found({ number: 1 })).toHaveLength(3)
    })

    test('[WL-077] namespaces share nothing, and one is cleared by itself', async () => {
      const { store, namespace } = await opened()
      const other = `${namespace}s`
      await store.upsert([anItem('a', [1, 0]), anItem('b', [1, 0]), anItem('c', [1, 0])], { namespace })
      await store.upsert([anItem('a', [0, 1])], { namespace: other })

      await store.delete(['b', 'never there'], { namespace })
      expect(ids(await store.query([1, 0], { k: 9, namespace }))).toEqual(['a', 'c'])
      await store.clear({ namespace })
      await store.clear({ namespace: 'never there' })

      expect(await store.query([1, 0], { k: 9, namespace })).toEqual([])
      expect(ids(await store.query([1, 0], { k: 9, namespace: other }))).toEqual(['a'])
    })

    test('what has another length is not compared, what has no direction is similar to nothing, and what is no vector is refused', async () => {
      const { store, namespace } = await opened()
      await store.upsert([anItem('two', [1, 0]), anItem('three', [1, 0, 0]), anItem('none', [0, 0])], { namespace })

      expect(await store.query([1, 0], { k: 9, namespace })).toMatchObject([
        { id: 'two', similarity: 1 },
        { id: 'none', similarity: 0 },
      ])
      for (const vector of [[], [Number.NaN], [1, Number.POSITIVE_INFINITY], 'vector' as unknown as number[]]) {
        await expect(store.upsert([anItem('x', vector)], { namespace })).rejects.toMatchObject({ code: 'STORE_FAILED' })
        await expect(store.query(vector, { k: 1, namespace })).rejects.toMatchObject({ code: 'STORE_FAILED' })
      }
      await expect(store.query([1], { k: -1, namespace })).rejects.toMatchObject({ code: 'STORE_FAILED' })
    })

    test('ids and texts may hold any characters', async () => {
      const { store, namespace } = await opened()
      const hostile = ['["s","a"]', "'; DROP TABLE x", 'a/b', '*', '💡', 'x'.repeat(1_000), `${'x'.repeat(999)}y`, '__proto__']
      await store.upsert(
        hostile.map((id) => ({ ...anItem(id, [1]), text: `${id}\u0000\n` })),
        { namespace },
      )

      const matches = await store.query([1], { k: 99, namespace })
      expect(ids(matches).toSorted()).toEqual(hostile.toSorted())
      for (const { id, text } of matches) expect(text).toBe(`${id}\u0000\n`)
    })

    if (reopen)
      test('[WL-044] vectors are there after a restart', async () => {
        const { store, namespace } = await opened()
        await store.upsert([anItem('a', [0.25, 0.5])], { namespace })

        const again = await reopen?.()

        expect(await again?.query([1, 2], { k: 1, namespace })).toEqual([
          { id: 'a', text: 'text of a', metadata: {}, similarity: expect.closeTo(1, 5) },
        ])
      })
  })
}
