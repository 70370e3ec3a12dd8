import { expect, test } from 'vitest'
import { allHeads } from '../../src/runtime/heads.ts'

/** A journal of so many roots, the pages that were asked for beside it. */
const aJournal = (count: number) => {
  const asked: unknown[] = []
  const heads = Array.from({ length: count }, (_, index) => ({ address: { kind: 'k', id: String(index) }, seq: 1, at: 0, wakeAt: null }))
  const list = async ({ after, limit = 0 }: { after?: { id: string } | undefined; limit?: number | undefined } = {}) => {
    asked.push(after?.id)
    const from = after === undefined ? 0 : Number(after.id) + 1
    return heads.slice(from, from + limit)
  }
  return { journal: { list } as never, asked }
}

test.each([0, 1, 999, 1000, 1001, 2500])('all %i roots come, each once, in their order', async (count) => {
  const { journal } = aJournal(count)
  const ids: string[] = []
  for await (const { address } of allHeads(journal)) ids.push(address.id)

  expect(ids).toEqual(Array.from({ length: count }, (_, index) => String(index)))
})

test('a reader who stops asks for no further page', async () => {
  const { journal, asked } = aJournal(2500)
  for await (const { address } of allHeads(journal)) if (address.id === '5') break

  expect(asked).toEqual([undefined])
})
