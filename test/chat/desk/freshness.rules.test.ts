import { describe, expect, test } from 'vitest'
import { freshnessRule, isStale } from '../../../src/chat/desk/freshness.rules.ts'

const at = (iso: string) => Date.parse(iso)
const minutes = (count: number) => count * 60_000

describe('daily', () => {
  test('a conversation ends at four in the morning, and a new one lasts for the day [OC-28]', () => {
    const before = at('2026-01-05T03:59:00Z')
    const after = at('2026-01-05T04:01:00Z')

    expect(isStale({ updatedAt: before, now: after })).toBe(true)
    expect(isStale({ updatedAt: after, now: at('2026-01-05T23:00:00Z') })).toBe(false)
    expect(isStale({ updatedAt: after, now: at('2026-01-06T03:59:59Z') })).toBe(false)
    expect(isStale({ updatedAt: after, now: at('2026-01-06T04:00:00Z') })).toBe(true)
  })

  test('what came exactly at the hour belongs to the new day, and the future is never stale', () => {
    expect(isStale({ updatedAt: at('2026-01-05T04:00:00Z'), now: at('2026-01-05T04:00:01Z') })).toBe(false)
    expect(isStale({ updatedAt: at('2026-01-07T12:00:00Z'), now: at('2026-01-05T12:00:00Z') })).toBe(false)
  })

  test('days go over the ends of months and years', () => {
    expect(isStale({ updatedAt: at('2025-12-31T12:00:00Z'), now: at('2026-01-01T03:00:00Z') })).toBe(false)
    expect(isStale({ updatedAt: at('2025-12-31T12:00:00Z'), now: at('2026-01-01T05:00:00Z') })).toBe(true)
    expect(isStale({ updatedAt: at('2024-02-28T12:00:00Z'), now: at('2024-02-29T05:00:00Z') })).toBe(true)
  })

  test('the hour is that of the gateway', () => {
    const span = { updatedAt: at('2026-01-05T02:30:00Z'), now: at('2026-01-05T03:30:00Z') }

    expect(isStale(span)).toBe(false)
    expect(isStale({ ...span, policy: { timeZone: 'Europe/Berlin' } })).toBe(true)
    expect(isStale({ ...span, policy: { timeZone: 'Asia/Kolkata', atHour: 9 } })).toBe(true)
  })

  test('an hour is kept between 0 and 23', () => {
    expect([-3, 0, 23, 24, 99, 6.7, Number.NaN].map((atHour) => freshnessRule({ atHour }, {}).atHour)).toEqual([0, 0, 23, 23, 23, 6, 4])
    expect(isStale({ updatedAt: at('2026-01-05T23:59:00Z'), now: at('2026-01-06T00:00:00Z'), policy: { atHour: 0 } })).toBe(true)
  })
})

describe('daylight saving', () => {
  test('an hour that is left out in spring ends the day when the clock jumps over it', () => {
    // In Berlin 02:00 became 03:00 at 01:00 UTC.
    const policy = { timeZone: 'Europe/Berlin', atHour: 2 }

    expect(isStale({ updatedAt: at('2026-03-28T12:00:00Z'), now: at('2026-03-29T00:59:59Z'), policy })).toBe(false)
    expect(isStale({ updatedAt: at('2026-03-29T00:59:59Z'), now: at('2026-03-29T01:00:00Z'), policy })).toBe(true)
  })

  test('an hour that comes twice in autumn ends the day once', () => {
    // In Berlin 03:00 became 02:00 at 01:00 UTC: 02:30 came at 00:30 and at 01:30 UTC.
    const policy = { timeZone: 'Europe/Berlin', atHour: 2 }

    expect(isStale({ updatedAt: at('2026-10-24T23:59:00Z'), now: at('2026-10-25T00:00:00Z'), policy })).toBe(true)
    expect(isStale({ updatedAt: at('2026-10-25T00:30:00Z'), now: at('2026-10-25T01:30:00Z'), policy })).toBe(false)
  })

  test('four in the morning is four on the clock in summer and in winter', () => {
    const policy = { timeZone: 'America/New_York' }
    const ends = (before: string, after: string) => isStale({ updatedAt: at(before), now: at(after), policy })

    expect(ends('2026-03-07T08:59:00Z', '2026-03-07T09:00:00Z')).toBe(true)
    expect(ends('2026-03-08T07:59:00Z', '2026-03-08T08:00:00Z')).toBe(true)
    expect(ends('2026-03-08T08:00:00Z', '2026-03-08T09:00:00Z')).toBe(false)
  })

  test('a conversation goes stale once a day and never becomes fresh again, in any zone', () => {
    for (const timeZone of ['Europe/Berlin', 'America/Sao_Paulo', 'Australia/Lord_Howe', 'America/Havana', 'Pacific/Apia'])
      for (const from of ['2011-12-28T00:00:00Z', '2018-02-16T00:00:00Z', '2018-11-03T00:00:00Z', '2026-04-03T00:00:00Z', '2026-10-31T00:00:00Z']) {
        const states = Array.from({ length: 4 * 24 }, (_, step) =>
          isStale({ updatedAt: at(from), now: at(from) + minutes(15 * step), policy: { timeZone, atHour: 1 } }),
        )
        expect(states.lastIndexOf(false)).toBeLessThan(states.includes(true) ? states.indexOf(true) : states.length)
      }
  })
})

describe('idle', () => {
  test('where the mode is idle, an hour of silence counts and no hour of the day does [OC-28]', () => {
    const updatedAt = at('2026-01-05T03:30:00Z')
    const policy = { mode: 'idle' } as const

    expect(isStale({ updatedAt, now: updatedAt + minutes(60), policy })).toBe(false)
    expect(isStale({ updatedAt, now: updatedAt + minutes(60) + 1, policy })).toBe(true)
  })

  test('silence lasts at least a minute', () => {
    expect([0, -5, 0.5].map((idleMinutes) => freshnessRule({ mode: 'idle', idleMinutes }, {}).idleMinutes)).toEqual([1, 1, 1])
  })

  test('of the hour and the silence, whichever comes first ends it [OC-28]', () => {
    const policy = { idleMinutes: 120 }

    expect(isStale({ updatedAt: at('2026-01-05T10:00:00Z'), now: at('2026-01-05T11:00:00Z'), policy })).toBe(false)
    expect(isStale({ updatedAt: at('2026-01-05T10:00:00Z'), now: at('2026-01-05T12:01:00Z'), policy })).toBe(true)
    expect(isStale({ updatedAt: at('2026-01-05T03:59:00Z'), now: at('2026-01-05T04:01:00Z'), policy })).toBe(true)
  })
})

test('a channel goes before a type of chat, and that before the rest, field by field [OC-28]', () => {
  const policy = {
    atHour: 5,
    byType: { group: { mode: 'idle', idleMinutes: 10 }, thread: { atHour: 6 } },
    byChannel: { mail: { idleMinutes: 30 } },
  } as const

  expect(freshnessRule(policy, {})).toEqual({ mode: 'daily', atHour: 5 })
  expect(freshnessRule(policy, { chatType: 'thread' })).toEqual({ mode: 'daily', atHour: 6 })
  expect(freshnessRule(policy, { chatType: 'group', channel: 'web' })).toEqual({ mode: 'idle', atHour: 5, idleMinutes: 10 })
  expect(freshnessRule(policy, { chatType: 'group', channel: 'mail' })).toEqual({ mode: 'idle', atHour: 5, idleMinutes: 30 })
  expect(freshnessRule(policy, { channel: 'constructor' })).toEqual({ mode: 'daily', atHour: 5 })
})
