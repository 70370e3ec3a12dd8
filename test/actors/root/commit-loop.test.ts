import { expect, test } from 'vitest'
import { CommitLoop } from '../../../src/actors/root/commit-loop.ts'

/** A pump whose cycles count how many of them are inside at once. */
const counting = () => {
  const seen = { wanted: 0, inside: 0, most: 0, cycles: 0 }
  const pump = new CommitLoop({
    wanted: () => seen.wanted > 0,
    cycle: async () => {
      seen.wanted--
      seen.cycles++
      seen.most = Math.max(seen.most, ++seen.inside)
      await new Promise((resolve) => setImmediate(resolve))
      seen.inside--
    },
    broken: (error) => {
      throw error
    },
  })
  return { pump, seen }
}

test('cycles never overlap, however often and in whatever tick somebody starts them [INV-5]', async () => {
  const { pump, seen } = counting()

  seen.wanted = 3
  pump.start()
  pump.start()
  await Promise.resolve()
  pump.start()
  await new Promise((resolve) => setImmediate(resolve))
  seen.wanted += 2
  pump.start()
  await pump.idle()

  expect(seen).toEqual({ wanted: 0, inside: 0, most: 1, cycles: 5 })
})

test('what must not meet a commit waits for it, in the order of asking, and nothing is forgotten afterwards', async () => {
  const { pump, seen } = counting()
  const order: string[] = []
  const alone = (name: string) =>
    pump.alone(async () => {
      expect(seen.inside).toBe(0)
      order.push(name)
      await new Promise((resolve) => setImmediate(resolve))
    })

  seen.wanted = 1
  pump.start()
  const both = [alone('first'), alone('second')]
  seen.wanted++
  pump.start()
  await Promise.all(both)
  await pump.idle()

  expect(order).toEqual(['first', 'second'])
  expect(seen).toMatchObject({ wanted: 0, most: 1, cycles: 2 })
})
