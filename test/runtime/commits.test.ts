/** What a turn writes: as little as the promises allow. */
import { expect, test } from 'vitest'
import { story, work, worker } from './harness.ts'

const commitsOf = async (script: Parameters<typeof story>[0]): Promise<number> => {
  await using told = await story(script, { tools: (world) => [worker()(world)] })
  const run = await told.say('go')
  await told.clock.until(run.result())
  await told.clock.settle()
  return await told.commits('main')
}

test('[SHOW-COMMITS] a plain turn is 2 commits, however many deltas it has', async () => {
  expect(await commitsOf([{ text: 'at once' }])).toBe(2)
  expect(await commitsOf([{ chunks: Array.from({ length: 500 }, (_, index) => `${index} `) }])).toBe(2)
})

test('[SHOW-COMMITS] a step with tools is 2 more, shared by calls side by side that end together', async () => {
  expect(await commitsOf([{ calls: [work('a', 0)] }, { text: 'done' }])).toBe(4)
  expect(await commitsOf([{ calls: ['a', 'b', 'c', 'd'].map((name) => work(name, 0)) }, { text: 'done' }])).toBe(4)
  expect(await commitsOf([{ calls: [work('a', 0), work('b', 0)] }, { calls: [work('c', 0)] }, { text: 'done' }])).toBe(6)
})

test('calls that end one after the other are durable one after the other', async () => {
  expect(await commitsOf([{ calls: [work('a', 10), work('b', 500)] }, { text: 'done' }])).toBe(5)
})
