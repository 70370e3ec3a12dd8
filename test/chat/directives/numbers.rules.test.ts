/** Numbers as users read them (OC-94). */
import { expect, test } from 'vitest'
import { moneyText, tokensText } from '../../../src/chat/directives/numbers.rules.ts'

test.each([
  [0, '0'],
  [999, '999'],
  [999.6, '1.0k'],
  [1000, '1.0k'],
  [1500, '1.5k'],
  [9949, '9.9k'],
  [9999, '10k'],
  [12_400, '12k'],
  [999_499, '999k'],
  [999_500, '1.0m'],
  [2_300_000, '2.3m'],
  [1_250_000_000, '1250.0m'],
])('%d tokens read %s', (count, text) => {
  expect(tokensText(count)).toBe(text)
})

test('a larger count never reads as a smaller one', () => {
  const value = (text: string) => Number.parseFloat(text) * (text.endsWith('k') ? 1000 : text.endsWith('m') ? 1_000_000 : 1)
  let last = 0
  for (let count = 0; count < 3_000_000; count += 1 + Math.floor(count / 500)) {
    expect(tokensText(count)).not.toMatch(/^1000k?$/)
    expect(value(tokensText(count))).toBeGreaterThanOrEqual(last)
    last = value(tokensText(count))
  }
})

test.each([
  [0.004, '$0.0040'],
  [0.01, '$0.01'],
  [1.5, '$1.50'],
  [0, '$0.0000'],
  [1234.567, '$1234.57'],
])('%d dollars read %s', (usd, text) => {
  expect(moneyText(usd)).toBe(text)
})
