/** The figures of steps of several contenders, measured in turn, as tables. */
import { inChild } from '../child.ts'
import { type Goal, goal, median, quick, rounds, rowOf, type Table } from '../measure.ts'
import type { Entry } from '../turns/contender.ts'
import { withFolder } from '../workload.ts'
import type { Amounts, Figures, Held, MeasuredInput } from './measured.ts'

export type Measured = { name: string; rounds: (Figures & Held)[]; failed?: string }
export type Failed = { name: string; reason: string }

const amounts: Amounts = quick
  ? { warmUpMs: 20, short: 10, shorts: 2, long: 20, longs: 1, fan: 3, fans: 3, turns: 20 }
  : { warmUpMs: 2_000, short: 100, shorts: 10, long: 1_000, longs: 2, fan: 10, fans: 100, turns: 1_000 }

export const metrics: { key: keyof (Figures & Held); title: string; unit: string }[] = [
  { key: 'short', title: `a step of a workflow of ${amounts.short} steps`, unit: 'µs, p50 of its runs' },
  { key: 'shortWorst', title: `the slowest of a hundred steps of a workflow of ${amounts.short} steps`, unit: 'µs, p99' },
  { key: 'long', title: `a step of a workflow of ${amounts.long} steps`, unit: 'µs, p50 of its runs' },
  { key: 'growth', title: `the last tenth of ${amounts.long} steps against the first tenth`, unit: 'times as long' },
  { key: 'early', title: `heap of a run when ${amounts.long / 10} steps are done`, unit: 'KiB' },
  { key: 'late', title: `heap of a run when ${amounts.long} steps are done`, unit: 'KiB' },
  { key: 'fan', title: `a supervisor that asks ${amounts.fan} at once and puts together what they say`, unit: 'µs, p50' },
  { key: 'fanWorst', title: `a supervisor that asks ${amounts.fan} at once, the slowest of a hundred`, unit: 'µs, p99' },
  { key: 'turn', title: `a turn of a session of ${amounts.turns} turns, compacted now and then`, unit: 'µs' },
  { key: 'turnGrowth', title: `the last tenth of ${amounts.turns} turns against the first tenth`, unit: 'times as long' },
  { key: 'turnEarly', title: `heap of a session after ${amounts.turns / 10} turns`, unit: 'KiB' },
  { key: 'turnLate', title: `heap of a session after ${amounts.turns} turns`, unit: 'KiB' },
]

const program = new URL('measured.ts', import.meta.url)

const asked = <Answer>(question: MeasuredInput['question'], { module, variant, env = {} }: Entry): Promise<Answer> =>
  withFolder((folder) =>
    inChild<Answer>(program, { question, module, variant, folder, amounts } satisfies MeasuredInput, {
      env,
      flags: ['--expose-gc'],
      timeoutMs: 600_000,
    }),
  )

export const measure = async (entries: readonly Entry[]): Promise<Measured[]> => {
  const measured = entries.map(({ name }): Measured => ({ name, rounds: [] }))
  for (let round = 0; round < rounds(3); round++)
    for (const [index, entry] of entries.entries()) {
      const one = measured[index] as Measured
      if (one.failed !== undefined) continue
      try {
        one.rounds.push({ ...(await asked<Figures>('time', entry)), ...(await asked<Held>('memory', entry)) })
      } catch (error) {
        one.failed = error instanceof Error ? (error.message.split('\n')[0] ?? '') : String(error)
        console.log(`  ${entry.name}: ${one.failed}`)
      }
    }
  return measured
}

type Key = (typeof metrics)[number]['key']

export const valuesOf = (measured: readonly Measured[], name: string, key: Key): number[] | undefined =>
  measured.find((one) => one.name === name && one.failed === undefined)?.rounds.map((figures) => figures[key])

/** A bound for ours: relative to another contender in the same round, or for itself. */
export type Wanted = { key: Key; subject: Entry; to?: string; limit: number }

const goalsOf = (measured: readonly Measured[], key: Key, wanted: readonly Wanted[]): Goal[] =>
  wanted.flatMap(({ key: of, subject, to, limit }) => {
    const own = valuesOf(measured, subject.name, of)
    if (of !== key || !own) return []
    if (to === undefined) return [goal(subject.name, median(own), 'at most', limit, metrics.find((one) => one.key === key)?.unit ?? '')]
    const other = valuesOf(measured, to, of)
    return other
      ? [goal(`${subject.name}, against ${to}`, median(own.map((value, round) => value / (other[round] as number))), 'at most', limit, 'times')]
      : []
  })

/** What is a ratio already, or a difference that may be nothing, is not compared. */
const uncompared: readonly Key[] = ['growth', 'early', 'late', 'turnGrowth', 'turnEarly', 'turnLate']

export const tableOf = (
  measured: readonly Measured[],
  failed: readonly Failed[],
  { key, title, unit }: (typeof metrics)[number],
  ours: readonly Entry[],
  wanted: readonly Wanted[],
): Table => {
  const subjects = uncompared.includes(key) ? [] : ours
  const rows = measured.map((one) => {
    if (one.failed !== undefined) return { name: one.name, failed: one.failed }
    const values = one.rounds.map((figures) => figures[key])
    const compared = subjects.map(({ name }) => {
      const own = valuesOf(measured, name, key)
      return own && name !== one.name ? ([own, values] as const) : null
    })
    return rowOf(one.name, values, compared)
  })
  return {
    title,
    unit,
    rounds: rounds(3),
    ratios: subjects.map(({ name }) => `${name}, ÷ this`),
    rows: [...rows, ...failed.map(({ name, reason }) => ({ name, failed: reason }))],
    goals: goalsOf(measured, key, wanted),
  }
}
