/** The figures of turns of several contenders, measured in turn, as tables. */
import { inChild } from '../child.ts'
import { type Goal, goal, median, quick, rounds, rowOf, type Table } from '../measure.ts'
import { withFolder } from '../workload.ts'
import type { Entry } from './contender.ts'
import type { Figures, Sizes } from './measured.ts'

/** A bound relative to another contender in the same run. */
export type Relative = { of: keyof Figures; subject: Entry; to: string; bound: 'at most' | 'at least'; limit: number }
export type Failed = { name: string; reason: string }

const sizes: Sizes = quick
  ? { warmUpMs: 20, turns: 4, sessions: 4, each: 2, long: 1, longTurns: 20 }
  : { warmUpMs: 2_000, turns: 200, sessions: 200, each: 5, long: 3, longTurns: 100 }

export type Measured = { name: string; rounds: Figures[]; failed?: string }

export const metrics: { key: keyof Figures; title: string; unit: string }[] = [
  { key: 'plain', title: 'a plain turn: one message, 100 deltas', unit: 'µs, p50' },
  { key: 'plainWorst', title: 'a plain turn, the slowest of a hundred', unit: 'µs, p99' },
  { key: 'first', title: 'from the message to the first delta', unit: 'µs, p50' },
  { key: 'tool', title: 'a tool turn: one message, one tool call, its result, 100 deltas', unit: 'µs, p50' },
  { key: 'toolWorst', title: 'a tool turn, the slowest of a hundred', unit: 'µs, p99' },
  { key: 'together', title: '200 sessions at once, five tool turns each', unit: 'turns/s' },
  { key: 'growth', title: 'tool turns 91–100 of a session against turns 1–10', unit: 'times as long' },
]

const growthMax = 1.2

export const measure = async (entries: Entry[]): Promise<Measured[]> => {
  const measured = entries.map(({ name }): Measured => ({ name, rounds: [] }))
  for (let round = 0; round < rounds(3); round++)
    for (const [index, { name, module, variant, env }] of entries.entries()) {
      const one = measured[index] as Measured
      if (one.failed !== undefined) continue
      try {
        const program = new URL('measured.ts', import.meta.url)
        const input = (folder: string) => ({ module, variant, folder, sizes })
        one.rounds.push(await withFolder((folder) => inChild<Figures>(program, input(folder), env ? { env } : {})))
      } catch (error) {
        one.failed = error instanceof Error ? (error.message.split('\n')[0] ?? '') : String(error)
        console.log(`  ${name}: ${one.failed}`)
      }
    }
  return measured
}

export const valuesOf = (measured: Measured[], name: string, key: keyof Figures): number[] | undefined => {
  const found = measured.find((one) => one.name === name && one.failed === undefined)
  return found?.rounds.map((figures) => figures[key])
}

const goalsOf = (measured: Measured[], key: keyof Figures, ours: readonly Entry[], relative: readonly Relative[]): Goal[] => {
  const goals = relative.flatMap(({ of, subject, to, bound, limit }) => {
    const [own, other] = [valuesOf(measured, subject.name, of), valuesOf(measured, to, of)]
    if (of !== key || !own || !other) return []
    const ratio = median(own.map((value, round) => value / (other[round] as number)))
    return [goal(`${subject.name}, against ${to}`, ratio, bound, limit, 'times')]
  })
  if (key !== 'growth') return goals
  return ours.flatMap(({ name }) => {
    const own = valuesOf(measured, name, key)
    return own ? [goal(name, median(own), 'at most', growthMax, 'times as long')] : []
  })
}

/** @param ours those that the others are compared to @param relative their goals */
export const tableOf = (
  measured: Measured[],
  failed: readonly Failed[],
  { key, title, unit }: (typeof metrics)[number],
  ours: readonly Entry[],
  relative: readonly Relative[],
): Table => {
  const subjects = key === 'growth' ? [] : ours
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
    goals: goalsOf(measured, key, ours, relative),
  }
}
