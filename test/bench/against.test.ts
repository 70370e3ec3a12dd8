/** What the speed gate decides. That it measures what it should: `test/bench/against.long.test.ts`. */
import { describe, expect, test } from 'vitest'
import { baselineOf, committedBaseline, isInstalledFrom } from '../../bench/against/baseline.ts'
import { cpuMicroseconds } from '../../bench/against/meter.ts'
import { burnMore } from '../../bench/against/plant.ts'
import { repeatable } from '../../bench/against/repeatable.ts'
import { reportOf, summaryOf, tableOf } from '../../bench/against/report.ts'
import {
  countedFigures,
  type Figure,
  leastOfSlices,
  leastRounds,
  mostRounds,
  passes,
  type Rounds,
  timedFigures,
  wantsMore,
} from '../../bench/against/rules.ts'

const work = 'memory, a plain turn'
const aFigure = (parts: Partial<Figure> = {}): Figure => ({ name: `${work}: CPU time`, unit: 'µs', limit: 1.1, baseline: 200, now: 200, ...parts })
const pace = { leftMs: 100_000, roundMs: 10_000 }

describe('the least of several rounds', () => {
  test('is the cheapest slice in CPU time', () => {
    expect(leastOfSlices([300, 200, 900].map((cpu) => ({ cpu, allocated: 1 }))).cpu).toBe(200)
  })

  test('is no allocation of a slice in which a collection took something back', () => {
    const slices = [400, 401, 402, 400, -5_000, 90, 400, 400, 401].map((allocated) => ({ cpu: 1, allocated }))

    expect(leastOfSlices(slices).allocated).toBe(400)
  })

  test('makes two figures of each work, in µs and KB a turn', () => {
    const rounds: Rounds = {
      baseline: [{ [work]: { cpu: 210, allocated: 300_000 } }, { [work]: { cpu: 200, allocated: 310_000 } }],
      now: [{ [work]: { cpu: 250, allocated: 390_000 } }, { [work]: { cpu: 290, allocated: 330_000 } }],
    }

    expect(timedFigures(rounds, [work])).toEqual([
      { name: `${work}: CPU time`, unit: 'µs', limit: 1.1, baseline: 200, now: 250 },
      { name: `${work}: allocation`, unit: 'KB', limit: 1.1, baseline: 300, now: 330 },
    ])
  })

  test('is taken of counts over the attempts', () => {
    const count = (value: number) => [{ name: 'fsyncs', unit: '', value }]

    expect(countedFigures({ baseline: [count(2), count(2)], now: [count(3), count(2)] })).toEqual([
      { name: 'fsyncs', unit: '', limit: 1, baseline: 2, now: 2 },
    ])
  })
})

describe('a figure', () => {
  test('passes up to its limit and fails above it', () => {
    expect([219, 220, 221].map((now) => passes(aFigure({ now })))).toEqual([true, true, false])
  })

  test('passes as a count when it is equal or less', () => {
    expect([1.9, 2, 2.025].map((now) => passes(aFigure({ baseline: 2, now, limit: 1 })))).toEqual([true, true, false])
  })

  test('fails at zero, which a meter that sees nothing reads', () => {
    expect([aFigure({ now: 0 }), aFigure({ baseline: 0, now: 0 }), aFigure({ baseline: 0, now: 1 })].map(passes)).toEqual([false, false, false])
  })

  test.each([Number.NaN, Number.POSITIVE_INFINITY])('fails when it is %d: it was not measured', (nothing) => {
    expect([aFigure({ now: nothing }), aFigure({ baseline: nothing, now: nothing })].map(passes)).toEqual([false, false])
  })
})

describe('another round', () => {
  test('is taken until there are enough, however clear the figures are', () => {
    const done = Array.from({ length: mostRounds }, (_, index) => index + 1)

    expect(done.filter((rounds) => wantsMore(rounds, [aFigure()], pace))).toEqual(done.filter((rounds) => rounds < leastRounds))
  })

  test.each([
    ['would fail', 230],
    ['only just passes', 218],
  ])('is taken up to the most when one figure %s', (_, now) => {
    const wanted = [leastRounds, mostRounds - 1, mostRounds].map((done) => wantsMore(done, [aFigure(), aFigure({ now })], pace))

    expect(wanted).toEqual([true, true, false])
  })

  test.each([
    ['would fail', 230, true],
    ['only just passes', 218, false],
  ])('is taken when there is no time for it and one figure %s: %d gives %s', (_, now, expected) => {
    expect(wantsMore(leastRounds, [aFigure(), aFigure({ now })], { leftMs: 9_000, roundMs: 10_000 })).toBe(expected)
  })
})

describe('the report', () => {
  const figures = [aFigure(), aFigure({ name: 'disk, a tool turn: fsyncs', unit: '', limit: 1, baseline: 4, now: 5 })]

  test('names each figure that became dearer, by how much, and what to do next', () => {
    const summary = summaryOf(figures, { revision: 'a'.repeat(40), isBaseline: true, seconds: 61.2 })

    expect(summary).toContain('A turn costs more than at the baseline aaaaaaaaaaaa: 1 of 2 above the limit, in 61 s.')
    expect(summary).toContain('disk, a tool turn: fsyncs rose from 4 to 5 a turn, × 1.25: the limit is × 1.00')
    expect(summary).toContain('add a row with the reason to bench/baseline.md')
    expect(summaryOf(figures.slice(0, 1), { revision: 'b', isBaseline: false, seconds: 1 })).toBe(
      'No figure is above its limit beside b: 1 figures, in 1 s.',
    )
  })

  test('is a table of the figure, the baseline, the working tree, their ratio and the verdict', () => {
    expect(
      tableOf(figures, 'a'.repeat(40))
        .split('\n')
        .map((line) => line.split(/ {2,}/)),
    ).toEqual([
      ['a turn of', 'aaaaaaaaaaaa', 'now', 'ratio', 'limit', 'verdict'],
      [`${work}: CPU time`, '200 µs', '200 µs', '1.00', '1.10', 'ok'],
      ['disk, a tool turn: fsyncs', '4', '5', '1.25', '1.00', 'DEARER'],
    ])
  })

  test('counts each figure as one test of CI', () => {
    const [file] = reportOf(figures, 'a'.repeat(40)).testResults

    expect(file?.status).toBe('failed')
    expect(file?.assertionResults.map(({ status }) => status)).toEqual(['passed', 'failed'])
    expect(file?.assertionResults[1]?.failureMessages[0]).toContain('fsyncs rose from 4 to 5')
  })
})

describe('the baseline', () => {
  const row = (digit: string, why: string): string => `| 2026-11-26 | ${digit.repeat(40)} | ${why} |`

  test('is the last revision of its page', () => {
    expect(baselineOf(`# A page\n\n${row('a', 'first')}\n${row('b', 'search pays for it')}\n`)).toEqual({
      revision: 'b'.repeat(40),
      why: 'search pays for it',
    })
    expect(committedBaseline().revision).toMatch(/^[\da-f]{40}$/)
  })

  test('needs a full revision and a reason', () => {
    for (const page of [row('a', ' '), '| 2026-11-26 | 0600b783 | short |', ''])
      expect(() => baselineOf(page)).toThrow('bench/baseline.md has no row with a date, a full revision and a reason')
  })

  test('shares packages only when each of them is the one of its lock', () => {
    const packages = (version: string) => ({
      'node_modules/zod': { version },
      'node_modules/xstate': { version: '5.0.0' },
      'node_modules/msgpackr': { version: '2.0.0' },
    })
    const lock = JSON.stringify({ packages: { ...packages('4.0.0'), 'node_modules/another-platform': { version: '1.0.0' } } })

    expect(isInstalledFrom(lock, JSON.stringify({ packages: packages('4.0.0') }))).toBe(true)
    expect(isInstalledFrom(lock, JSON.stringify({ packages: packages('4.0.1') }))).toBe(false)
    expect(isInstalledFrom(lock, JSON.stringify({ packages: {} }))).toBe(false)
  })
})

test('timers that come due while time is stopped fire when it goes on', async () => {
  const { environment, stop, goOn } = repeatable()
  const fired: string[] = []
  environment.clock.setTimeout(() => fired.push('kept'), 1)
  const handle = environment.clock.setTimeout(() => fired.push('cleared'), 1)
  stop()
  // Node fires timers in the order of their time: this one is later.
  await new Promise((resolve) => setTimeout(resolve, 5))
  environment.clock.clearTimeout(handle)

  expect(fired).toEqual([])
  goOn()
  expect(fired).toEqual(['kept'])
})

test('a planted cost spends its share of the CPU time once more', () => {
  const before = cpuMicroseconds()
  while (cpuMicroseconds() < before + 5_000);
  burnMore(before, 0.15)

  expect(cpuMicroseconds() - before).toBeGreaterThanOrEqual(5_000 * 1.15)
})
