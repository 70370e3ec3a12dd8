import { expect, test } from 'vitest'
import { localTime } from '../../../src/machines/session/local-time.rules.ts'

const at = (iso: string) => Date.parse(iso)

test('a clock on the wall shows midnight as hour 0', () => {
  expect(localTime(at('2026-01-05T00:00:07Z'))).toEqual({ year: 2026, month: 1, day: 5, hour: 0, minute: 0, second: 7 })
  expect(localTime(at('2026-07-05T18:45:00Z'), 'Asia/Kolkata')).toMatchObject({ day: 6, hour: 0, minute: 15 })
})

test('a time zone that nobody knows is UTC', () => {
  expect(localTime(at('2026-01-05T10:00:00Z'), 'Mars/Olympus')).toEqual(localTime(at('2026-01-05T10:00:00Z'), 'UTC'))
})

test('a time beyond all dates is the last of them', () => {
  expect(localTime(Number.MAX_SAFE_INTEGER).year).toBe(275_760)
})
