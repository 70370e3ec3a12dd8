import { expect, test } from 'vitest'
import {
  alertRepeated,
  checklistEmpty,
  defaultVisibility,
  type HeartbeatMoment,
  insideActiveHours,
  resolveVisibility,
  skipReason,
} from '../../../src/chat/heartbeat/heartbeat.rules.ts'
import { growth, growthMax } from '../../support/growth.ts'

const at = (time: string) => Date.parse(`2026-01-05T${time}:00Z`)
const hour = 3_600_000

test('hours of activity have their start and not their end [OC-106]', () => {
  const inside = (time: string) => insideActiveHours(at(time), { start: '08:00', end: '22:30' })

  expect(['07:59', '08:00', '22:29', '22:30'].map(inside)).toEqual([false, true, true, false])
})

test('they may go over midnight, and end with the day', () => {
  const night = (time: string) => insideActiveHours(at(time), { start: '22:00', end: '06:00' })
  const late = (time: string) => insideActiveHours(at(time), { start: '9:00', end: '24:00' })

  expect(['21:59', '22:00', '00:00', '05:59', '06:00'].map(night)).toEqual([false, true, true, true, false])
  expect(['00:00', '08:59', '09:00', '23:59'].map(late)).toEqual([false, false, true, true])
})

test('they are hours of a time zone, summer time included', () => {
  const hours = { start: '08:00', end: '09:00', timeZone: 'Europe/Berlin' }

  expect(insideActiveHours(at('07:30'), hours)).toBe(true)
  expect(insideActiveHours(at('08:30'), hours)).toBe(false)
  expect(insideActiveHours(Date.parse('2026-07-05T06:30:00Z'), hours)).toBe(true)
})

test('hours that are missing, malformed or of no length forbid nothing', () => {
  const ranges = [
    undefined,
    { start: '', end: '' },
    { start: '25:00', end: '26:00' },
    { start: '08:60', end: '09:00' },
    { start: '08:00', end: '08:00' },
  ]

  expect(ranges.map((hours) => insideActiveHours(at('03:00'), hours))).toEqual([true, true, true, true, true])
})

test.each(['', '\n\n', '# Heartbeat\n\n## Later\n', '#', '- \n* \n+\n', '- [ ]\n- [x]\n  - [ ] ', '1.\n2) ', '# Title\r\n\r\n- \r\n'])(
  'a checklist of %j names nothing to do [OC-106]',
  (text) => {
    expect(checklistEmpty(text)).toBe(true)
  },
)

test.each(['look at the mail', '# Title\n- mail', '- [ ] mail', '- [x] mail', '1. mail', '#mail', '-mail', '<!-- mail -->', '12'])(
  'a checklist of %j names something',
  (text) => {
    expect(checklistEmpty(text)).toBe(false)
  },
)

test('a checklist that does not exist is not an empty one; one of great length takes time in proportion to it', () => {
  expect(checklistEmpty(undefined)).toBe(false)
  for (const begin of ['-', '', '- [ ]']) {
    const long = (size: number) => `${begin}${' '.repeat(size)}x`
    expect(checklistEmpty(long(200_000))).toBe(false)
    const reading = (size: number) => {
      const text = long(size)
      return () => void checklistEmpty(text)
    }
    expect(growth(50_000, reading)).toBeLessThan(growthMax)
  }
})

test('alerts are shown and their indicator, but not that all is well, unless a layer says so [OC-107]', () => {
  expect(resolveVisibility([])).toEqual({ showOk: false, showAlerts: true, indicator: true })
  expect(resolveVisibility([undefined, { showOk: true }, { showOk: false, indicator: false }])).toEqual({
    showOk: true,
    showAlerts: true,
    indicator: false,
  })
  expect(resolveVisibility([{ showAlerts: undefined }, { showAlerts: false }])).toMatchObject({ showAlerts: false })
})

const aMoment = (changes: Partial<HeartbeatMoment> = {}): HeartbeatMoment => ({
  enabled: true,
  now: at('12:00'),
  busy: false,
  visibility: defaultVisibility,
  ...changes,
})

test('a heartbeat that is skipped has a reason [OC-106]', () => {
  const dark = { showOk: false, showAlerts: false, indicator: false }

  expect(skipReason(aMoment())).toBeUndefined()
  expect(skipReason(aMoment({ enabled: false }))).toBe('disabled')
  expect(skipReason(aMoment({ hours: { start: '08:00', end: '09:00' } }))).toBe('quiet-hours')
  expect(skipReason(aMoment({ busy: true }))).toBe('requests-in-flight')
  expect(skipReason(aMoment({ checklist: '# Nothing' }))).toBe('empty-checklist')
  expect(skipReason(aMoment({ visibility: dark }))).toBe('nothing-visible')
  expect(skipReason(aMoment({ visibility: { ...dark, indicator: true } }))).toBeUndefined()
})

test('a session at work is not tried again for a heartbeat that would be skipped anyway', () => {
  expect(skipReason(aMoment({ busy: true, checklist: '' }))).toBe('empty-checklist')
})

test('the same alert is told once in 24 hours [OC-107]', () => {
  const last = { text: 'disk is full', at: 0 }

  expect(alertRepeated(' disk is full\n', last, hour)).toBe(true)
  expect(alertRepeated('disk is full', last, 24 * hour - 1)).toBe(true)
  expect(alertRepeated('disk is full', last, 24 * hour)).toBe(false)
  expect(alertRepeated('disk is fuller', last, hour)).toBe(false)
  expect(alertRepeated('disk is full', undefined, hour)).toBe(false)
})
