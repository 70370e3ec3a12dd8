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
