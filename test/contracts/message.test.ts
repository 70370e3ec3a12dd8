import { expect, test } from 'vitest'
import { addUsage, noUsage, tokensMax, Usage } from '../../src/contracts/message.ts'

test('no call can have used more tokens than can be added up', () => {
  expect(Usage.safeParse({ ...noUsage, inputTokens: tokensMax }).success).toBe(true)
  for (const inputTokens of [tokensMax + 1, 1e308, Number.POSITIVE_INFINITY]) expect(Usage.safeParse({ ...noUsage, inputTokens }).success).toBe(false)
})

test('a sum of tokens stays a number, also upon what an earlier version wrote down', () => {
  const huge = { ...noUsage, inputTokens: 1e308, outputTokens: Number.MAX_SAFE_INTEGER }

  const { inputTokens, outputTokens } = JSON.parse(JSON.stringify(addUsage(huge, huge)))

  expect([inputTokens, outputTokens]).toEqual([Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER])
})
