import { expect, test } from 'vitest'
import { parseDuration } from '../../../src/chat/directives/durations.rules.ts'

test.each([
  ['500', 500],
  ['500ms', 500],
  ['2s', 2000],
  ['1.5m', 90_000],
  ['3h', 10_800_000],
  ['1d', 86_400_000],
  ['0', 0],
  [' 2S ', 2000],
  ['0.0004s', 0],
  ['1.5', 2],
])('%j is %d ms', (text, ms) => {
  expect(parseDuration(text)).toBe(ms)
})

test.each([
  '',
  ' ',
  's',
  '-1',
  '+1',
  '1e3',
  '1,5s',
  '2 s',
  '2sec',
  '1h30m',
  '.5s',
  '5.s',
  'NaN',
  'Infinity',
  '２s',
  `${'9'.repeat(400)}d`,
  '99999999999d',
])('%j is no length of time', (text) => {
  expect(parseDuration(text)).toBeUndefined()
})
