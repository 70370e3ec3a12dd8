/** How every benchmark here measures: rounds of subject and floor in turn in one process, medians with their spread, ratios round by round. */
import { cpus, totalmem } from 'node:os'

/** `BENCH_QUICK=1` shows that a benchmark runs; its figures mean nothing. */
const quick = process.env.BENCH_QUICK === '1'

/** How many of something to do in one round. */
export const amount = (full: number): number => (quick ? Math.max(2, Math.round(full / 100)) : full)

export const median = (values: readonly number[]): number => {
  const sorted = [...values].sort((a, b) => a - b)
  const middle = sorted.length >> 1
  return sorted.length % 2 === 1 ? (sorted[middle] as number) : ((sorted[middle - 1] as number) + (sorted[middle] as number)) / 2
}

export type Contender = {
  name: string
  /** Does its work once and answers with the figure of this round, in `unit`. */
  round: () => Promise<number> | number
}

export type Question = {
  question: string
  unit: string
  /** The first is what everything else is compared to. */
  contenders: [Contender, ...Contender[]]
  rounds?: number
  /** What the ratio of the second contender to the first should be at most. */
  goal?: { ratioMax: number }
}

export type Result = {
  question: string
  unit: string
  rows: { name: string; median: number; min: number; max: number; ratio: number }[]
  goal?: { ratioMax: number; met: boolean }
}

const figure = (value: number): string => (value >= 100 ? value.toFixed(0) : value >= 10 ? value.toFixed(1) : value.toFixed(2))

/** One warm-up round each, then the contenders in turn, so that a machine that slows down slows all of them. */
export const ask = async ({ question, unit, contenders, rounds = quick ? 1 : 5, goal }: Question): Promise<Result> => {
  const values = contenders.map((): number[] => [])
  for (let round = -1; round < rounds; round++)
    for (const [index, contender] of contenders.entries()) {
      const value = await contender.round()
      if (round >= 0) values[index]?.push(value)
    }
  const rows = contenders.map(({ name }, index) => {
    const own = values[index] as number[]
    const ratio = median(own.map((value, round) => value / (values[0]?.[round] as number)))
    return { name, median: median(own), min: Math.min(...own), max: Math.max(...own), ratio }
  })
  console.log(`\n${question} (${unit}, median of ${rounds} rounds, min–max, ratio to the first)`)
  for (const row of rows)
    console.log(`  ${row.name.padEnd(44)} ${figure(row.median).padStart(8)}   ${figure(row.min)}–${figure(row.max)}   × ${row.ratio.toFixed(2)}`)
  const met = goal === undefined ? undefined : (rows[1]?.ratio ?? Number.POSITIVE_INFINITY) <= goal.ratioMax
  if (goal) console.log(`  goal: × ${goal.ratioMax} at most: ${met ? 'met' : 'MISSED'}`)
  return { question, unit, rows, ...(goal ? { goal: { ...goal, met: met === true } } : {}) }
}

export const machine = (): string =>
  `${cpus()[0]?.model ?? 'unknown processor'}, ${cpus().length} cores, ${Math.round(totalmem() / 2 ** 30)} GiB, Node ${process.versions.node}`
