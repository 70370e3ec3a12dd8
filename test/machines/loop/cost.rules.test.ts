import { describe, expect, test } from 'vitest'
import { addUsage, noUsage, Usage } from '../../../src/contracts/message.ts'
import type { Price } from '../../../src/contracts/model.ts'
import { costOf, kindsOf } from '../../../src/machines/loop/cost.rules.ts'

/** Invented models, USD per million tokens. */
const large: Price = { input: 15, output: 75, cacheRead: 1.5, cacheWrite: 18.75 }
const middle: Price = { input: 3, output: 15, cacheRead: 0.3, cacheWrite: 3.75 }
const small: Price = { input: 0.25, output: 2, cacheRead: 0.025 }
const local: Price = { input: 0, output: 0 }
const usage = (given: Partial<Usage>): Usage => ({ ...noUsage, ...given })

describe('what a call costs [OC-90]', () => {
  test.each<[string, Price, Partial<Usage>, number]>([
    // 1,000 × 3 + 500 × 15 = 10,500 millionths
    ['read and written', middle, { inputTokens: 1000, outputTokens: 500 }, 0.0105],
    // 2,000 × 3 + 8,000 × 0.3 + 500 × 15 = 6,000 + 2,400 + 7,500
    ['8,000 of 10,000 from the cache', middle, { inputTokens: 10_000, cachedInputTokens: 8000, outputTokens: 500 }, 0.0159],
    // 1,000 × 3 + 5,000 × 0.3 + 4,000 × 3.75 + 100 × 15 = 3,000 + 1,500 + 15,000 + 1,500
    [
      'from the cache and into it, neither charged as read besides',
      middle,
      { inputTokens: 10_000, cachedInputTokens: 5000, cacheWriteTokens: 4000, outputTokens: 100 },
      0.021,
    ],
    // 100 × 15 + 2,000 × 75: the 1,800 of reasoning are among the 2,000
    ['reasoning is part of what was written', large, { inputTokens: 100, outputTokens: 2000, reasoningTokens: 1800 }, 0.1515],
    // 100,000 × 15 + 900,000 × 1.5 = 1,500,000 + 1,350,000
    ['a million tokens of a large model', large, { inputTokens: 1_000_000, cachedInputTokens: 900_000 }, 2.85],
    // 600 × 0.25 + 400 × 0.25 + 10 × 2: writing has no price of its own
    ['without a price for writing, as read', small, { inputTokens: 1000, cacheWriteTokens: 400, outputTokens: 10 }, 0.00027],
    // 200 × 0.025 + 1,000 × 2
    ['all of it from the cache', small, { inputTokens: 200, cachedInputTokens: 200, outputTokens: 1000 }, 0.002005],
    ['a free model costs nothing, which is known', local, { inputTokens: 5000, outputTokens: 5000 }, 0],
    ['nothing read, nothing written', middle, {}, 0],
    // 500 × 0.3: more from the cache than was read
    ['numbers that do not fit together', middle, { inputTokens: 400, cachedInputTokens: 500 }, 0.00015],
  ])('%s', (_, price, given, expected) => {
    expect(costOf(usage(given), price)).toBeCloseTo(expected, 12)
  })

  test('without a price it is not known, not nothing', () => {
    expect(costOf(usage({ inputTokens: 1000 }), undefined)).toBeUndefined()
    expect(costOf(usage({ inputTokens: 1000 }), { input: Number.NaN, output: 1 })).toBeUndefined()
  })
})

describe('usage', () => {
  test('is sorted into kinds that add up to what was read and written', () => {
    const kinds = kindsOf(usage({ inputTokens: 100, cachedInputTokens: 60, cacheWriteTokens: 30, outputTokens: 7, reasoningTokens: 5 }))

    expect(kinds).toEqual({ input: 10, output: 7, cacheRead: 60, cacheWrite: 30 })
  })

  test('of an earlier version still reads and adds up', () => {
    const old = { inputTokens: 1, outputTokens: 2, cachedInputTokens: 0, reasoningTokens: 0 }

    expect(Usage.parse(old)).toEqual({ ...old, cacheWriteTokens: 0 })
    expect(addUsage(old as Usage, usage({ cacheWriteTokens: 4 }))).toMatchObject({ inputTokens: 1, cacheWriteTokens: 4 })
    expect(kindsOf(old as Usage).cacheWrite).toBe(0)
  })
})
