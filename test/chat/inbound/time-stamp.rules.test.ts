import { expect, test } from 'vitest'
import { timeStampFor } from '../../../src/chat/inbound/time-stamp.rules.ts'

const newYear = Date.UTC(2025, 11, 31, 23, 30)

test.each([
  [undefined, '[Wed 2025-12-31 23:30 UTC]'],
  ['Europe/Berlin', '[Thu 2026-01-01 00:30 Europe/Berlin]'],
  ['America/New_York', '[Wed 2025-12-31 18:30 America/New_York]'],
])('[CH-15] the weekday is that of its zone: %s', (timeZone, stamp) => {
  expect(timeStampFor('hi', newYear, timeZone)).toBe(stamp)
})

test.each(['[Mon 2026-01-05 14:03 UTC] hi', '[2026-01-05T14:03:22Z] hi', ' [Monday, 2026-01-05 14:03] hi', '', ' \n'])(
  '[CH-15] %j gets none',
  (text) => {
    expect(timeStampFor(text, newYear)).toBeUndefined()
  },
)

test.each(['[1] hi', '2026-01-05 14:03 was a Monday', 'look: [Mon 2026-01-05 14:03 UTC]'])('[CH-15] %j has none yet', (text) => {
  expect(timeStampFor(text, newYear)).toBeDefined()
})
