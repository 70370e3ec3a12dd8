/** When schedules are due, over clocks that are changed, that jump, and that go back. */
import { expect, test } from 'vitest'
import { type Cadence, checkedCadence, fallenMax, type Reckoned } from '../../../src/ladder/schedule/cadence.ts'

const day = 86_400_000
const berlin = { timezone: 'Europe/Berlin' }
const at = (iso: string): number => Date.parse(iso)
const iso = (ms: number | null): string | null => (ms === null ? null : new Date(ms).toISOString().slice(5, 16))

/** All that are due in between, each reckoned when the one before it was due. */
const dueBetween = (cadence: Cadence, from: string, to: string): (string | null)[] => {
  const { reckon } = checkedCadence('x', cadence)
  const anchor = at(from)
  const due: number[] = []
  let last: Reckoned = reckon({ from: anchor, anchor, now: anchor })
  while (last.next !== null && last.next <= at(to)) {
    last = reckon({ from: due.at(-1) ?? anchor, anchor, now: last.next })
    due.push(...last.fallen)
  }
  return due.map(iso)
}

test('an hour that the spring leaves out is due when it is over; one that the autumn has twice is due once', () => {
  expect(dueBetween({ cron: '30 2 * * *', ...berlin }, '2026-03-27T12:00Z', '2026-03-30T12:00Z')).toEqual([
    '03-28T01:30',
    '03-29T01:00',
    '03-30T00:30',
  ])
  expect(dueBetween({ cron: '30 2 * * *', ...berlin }, '2026-10-23T12:00Z', '2026-10-26T12:00Z')).toEqual([
    '10-24T00:30',
    '10-25T00:30',
    '10-26T01:30',
  ])
})

test('what is due each half hour goes on each half hour, whatever the clocks of its zone do', () => {
  const autumn = dueBetween({ cron: '*/30 * * * *', ...berlin }, '2026-10-24T23:45Z', '2026-10-25T02:15Z')
  const spring = dueBetween({ cron: '*/30 * * * *', ...berlin }, '2026-03-29T00:15Z', '2026-03-29T01:45Z')

  expect(autumn).toEqual(['10-25T00:00', '10-25T00:30', '10-25T01:00', '10-25T01:30', '10-25T02:00'])
  expect(spring).toEqual(['03-29T00:30', '03-29T01:00', '03-29T01:30'])
})

test('weekdays, the zone of everybody who names none, and leap days', () => {
  expect(dueBetween({ cron: '0 9 * * 1-5' }, '2026-01-29T12:00Z', '2026-02-03T12:00Z')).toEqual(['01-30T09:00', '02-02T09:00', '02-03T09:00'])
  expect(dueBetween({ cron: '0 0 29 2 *' }, '2026-01-01T00:00Z', '2033-01-01T00:00Z')).toEqual(['02-29T00:00', '02-29T00:00'])
})

test.each<Cadence>([{ every: '1h' }, { cron: '0 * * * *' }])(
  '%o: all that were missed are known, of very many the last; nothing is due twice where a clock goes back',
  (cadence) => {
    const { reckon } = checkedCadence('x', cadence)
    const anchor = at('2026-01-01T00:00Z')

    const missed = reckon({ from: anchor, anchor, now: anchor + 3 * 3_600_000 + 5 })
    expect([missed.fallen.map(iso), iso(missed.next)]).toEqual([['01-01T01:00', '01-01T02:00', '01-01T03:00'], '01-01T04:00'])

    const years = reckon({ from: anchor, anchor, now: anchor + 730 * day })
    expect(years.fallen).toHaveLength(fallenMax)
    expect([years.fallen.at(-1), years.next]).toEqual([anchor + 730 * day, anchor + 730 * day + 3_600_000])
    expect(new Set(years.fallen).size).toBe(fallenMax)
    expect(years.fallen).toEqual(years.fallen.toSorted((one, other) => one - other))

    const back = reckon({ from: missed.fallen[2] as number, anchor, now: anchor + 1_800_000 })
    expect([back.fallen, iso(back.next)]).toEqual([[], '01-01T04:00'])
    const beforeAll = reckon({ from: null, anchor, now: anchor - day })
    expect([beforeAll.fallen, iso(beforeAll.next)]).toEqual([[], '01-01T01:00'])
  },
)

test('what is due once is due until it was, and no more; what no Date can name is never due', () => {
  const once = checkedCadence('x', { at: '2026-05-01' })
  const due = at('2026-05-01T00:00Z')

  expect(once.reckon({ from: null, anchor: 0, now: due - 1 })).toEqual({ fallen: [], next: due })
  expect(once.reckon({ from: null, anchor: 0, now: due + 9 * day })).toEqual({ fallen: [due], next: null })
  expect(once.reckon({ from: due, anchor: 0, now: due + day })).toEqual({ fallen: [], next: null })
  expect(checkedCadence('x', { every: 8e15 }).reckon({ from: null, anchor: 8e14, now: 8e14 })).toEqual({ fallen: [], next: null })
})
