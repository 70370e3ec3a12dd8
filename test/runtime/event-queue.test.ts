/** Readers who are slower than what they read. */
import { expect, test } from 'vitest'
import { EventQueue } from '../../src/runtime/event-queue.ts'

const readAll = async <T>(queue: EventQueue<T>): Promise<{ read: T[]; error?: { code: string; data: unknown } }> => {
  const read: T[] = []
  try {
    for await (const item of queue) read.push(item)
  } catch (error) {
    return { read, error: error as { code: string; data: unknown } }
  }
  return { read }
}

test('everything is read once and in order, whoever is faster', async () => {
  const queue = new EventQueue<number>()
  const reading = readAll(queue)
  for (let n = 0; n < 50; n++) {
    queue.push(n)
    if (n % 7 === 0) await Promise.resolve()
    if (n % 20 === 0) await new Promise((resolve) => setImmediate(resolve))
  }
  queue.end()
  queue.push(99)

  expect(await reading).toEqual({ read: Array.from({ length: 50 }, (_, n) => n) })
})

test('several who wait each get one, in the order in which they came; when it ends, all are told', async () => {
  const queue = new EventQueue<number>()
  const reader = queue[Symbol.asyncIterator]()
  const waiting = [reader.next(), reader.next(), reader.next()]
  queue.push(1)
  queue.push(2)
  queue.end()

  expect(await Promise.all(waiting)).toEqual([1, 2].map((value) => ({ done: false, value })).concat({ done: true, value: undefined as never }))
})

test('[INV-8, INV-11] a reader who is too slow gets what was kept, then an error in place of the rest: no gap goes unnoticed', async () => {
  const queue = new EventQueue<number>(10)
  for (let n = 0; n < 25; n++) queue.push(n)
  queue.end()

  const { read, error } = await readAll(queue)

  expect(read).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9])
  expect(error).toMatchObject({ code: 'overloaded', data: { dropped: 15 } })
})

test('after a gap nothing more is kept, though there is room again', async () => {
  const queue = new EventQueue<number>(2)
  for (const n of [1, 2, 3]) queue.push(n)
  const reader = queue[Symbol.asyncIterator]()
  const first = [await reader.next(), await reader.next()]
  queue.push(4)

  expect(first.map(({ value }) => value)).toEqual([1, 2])
  await expect(reader.next()).rejects.toMatchObject({ code: 'overloaded' })
})

test('what is cancelled is empty and at its end, whatever waited; what is merely ended can be read', async () => {
  const [cancelled, ended] = [new EventQueue<number>(2), new EventQueue<number>(2)]
  for (const queue of [cancelled, ended]) for (const n of [1, 2, 3]) queue.push(n)
  const reader = cancelled[Symbol.asyncIterator]()
  await reader.next()

  cancelled.cancel()
  ended.end()
  cancelled.push(4)

  expect(await reader.next()).toEqual({ done: true, value: undefined })
  expect(await readAll(cancelled)).toEqual({ read: [] })
  expect(await readAll(ended)).toMatchObject({ read: [1, 2], error: { code: 'overloaded' } })
})

const delta = (index: number, text: string) => ({ type: 'delta', runId: 'r', attempt: 1, index, kind: 'text', text })

test('[INV-11] deltas for a reader who does not come become few, and nothing of what they say is lost', async () => {
  const queue = new EventQueue<ReturnType<typeof delta> & { count?: number }>()
  for (let index = 0; index < 200_000; index++) queue.push(delta(index, `${index},`))
  queue.end()

  const { read, error } = await readAll(queue)

  expect(error).toBeUndefined()
  expect(read.length).toBeLessThan(1_100)
  expect(read.map(({ text }) => text).join('')).toBe(Array.from({ length: 200_000 }, (_, index) => `${index},`).join(''))
  expect(read.reduce((sum, { count = 1 }) => sum + count, 0)).toBe(200_000)
})

test('a reader who keeps up reads every delta by itself', async () => {
  const queue = new EventQueue<ReturnType<typeof delta>>()
  for (let index = 0; index < 500; index++) queue.push(delta(index, 'x'))
  queue.end()

  expect((await readAll(queue)).read).toHaveLength(500)
})

test('[INV-11] 10,000 events wait and no more, and of large ones fewer', async () => {
  const [small, large] = [new EventQueue<object>(), new EventQueue<object>()]
  const megabyte = 'x'.repeat(1024 * 1024)
  for (let n = 0; n < 10_001; n++) small.push({ type: 'tool', n })
  for (let n = 0; n < 40; n++) large.push({ type: 'tool', n, output: { lines: [megabyte] } })

  expect(await readAll(small)).toMatchObject({ read: { length: 10_000 }, error: { code: 'overloaded', data: { dropped: 1 } } })
  expect(await readAll(large)).toMatchObject({ read: { length: 31 }, error: { code: 'overloaded', data: { dropped: 9 } } })
})

test('whoever keeps up reads events of any size, also one that is larger than all that may wait', async () => {
  const queue = new EventQueue<string>()
  const reading = readAll(queue)
  for (const mebibytes of [20, 20, 40, 20]) {
    queue.push('x'.repeat(mebibytes * 1024 * 1024))
    await new Promise((resolve) => setImmediate(resolve))
  }
  queue.end()

  expect((await reading).read).toHaveLength(4)
})
