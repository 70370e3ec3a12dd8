/** How every benchmark here measures: contenders in turn, round by round; medians with their spread; ratios of the same round. */

/** `BENCH_QUICK=1` shows that a benchmark runs; its figures mean nothing and are not kept. */
export const quick = process.env.BENCH_QUICK === '1'

/** How many of something to do in one round. */
export const amount = (full: number): number => (quick ? Math.max(2, Math.round(full / 100)) : full)

/** `BENCH_ROUNDS=3` asks for another number of them. */
export const rounds = (usual: number): number => (quick ? 1 : Number(process.env.BENCH_ROUNDS ?? usual))

const sorted = (values: readonly number[]): number[] => [...values].sort((a, b) => a - b)

export const median = (values: readonly number[]): number => {
  const all = sorted(values)
  const middle = all.length >> 1
  return all.length % 2 === 1 ? (all[middle] as number) : ((all[middle - 1] as number) + (all[middle] as number)) / 2
}

/** @param share 0.99 for the value that 99 of 100 do not exceed */
export const percentile = (values: readonly number[], share: number): number => {
  const all = sorted(values)
  return all[Math.min(all.length - 1, Math.max(0, Math.ceil(share * all.length) - 1))] as number
}

/** One line of an answer. A contender that could not be measured has the reason in place of figures. */
export type Row = { name: string } & ({ median: number; min: number; max: number; ratios: (number | null)[] } | { failed: string })

export type Goal = { text: string; bound: 'at most' | 'at least' | 'exactly'; limit: number; value: number; unit: string; met: boolean }

/** The answer to one question, as it is printed, kept and put on the page. */
export type Table = {
  title: string
  unit: string
  rounds: number
  /** What the columns after the spread say. */
  ratios: string[]
  rows: Row[]
  goals: Goal[]
  note?: string
}

export const goal = (text: string, value: number, bound: Goal['bound'], limit: number, unit: string): Goal => ({
  text,
  bound,
  limit,
  value,
  unit,
  met: bound === 'at most' ? value <= limit : bound === 'at least' ? value >= limit : value === limit,
})

/** The figures of one contender, one a round, beside those of the contenders that it is compared to. */
export const rowOf = (name: string, values: readonly number[], compared: readonly (readonly [number[], number[]] | null)[]): Row => ({
  name,
  median: median(values),
  min: Math.min(...values),
  max: Math.max(...values),
  ratios: compared.map((pair) => (pair ? median(pair[0].map((value, round) => value / (pair[1][round] as number))) : null)),
})

/** A table of figures that need no second contender, such as counts. */
export const plainTable = (title: string, unit: string, figures: readonly (readonly [string, number | number[]])[], goals: Goal[] = []): Table => {
  const all = figures.map(([name, value]) => [name, typeof value === 'number' ? [value] : value] as const)
  return {
    title,
    unit,
    rounds: Math.max(...all.map(([, values]) => values.length)),
    ratios: [],
    rows: all.map(([name, values]) => rowOf(name, values, [])),
    goals,
  }
}

export type Contender = {
  name: string
  /** Does its work once and answers with the figure of this round, in `unit`. */
  round: () => Promise<number> | number
}

export type Question = {
  title: string
  unit: string
  /** The first is what everything else is compared to. */
  contenders: [Contender, ...Contender[]]
  rounds?: number
  /** Bounds for the row of that name: of its median, or of its ratio to the first. */
  goals?: { row: string; of: 'median' | 'ratio'; bound: Goal['bound']; limit: number }[]
  note?: string
}

/**
 * One warm-up round each, then the contenders in turn, so that a machine that slows down slows all of them; another one begins each round, as what a round
 * leaves behind burdens the next.
 */
export const ask = async ({ title, unit, contenders, rounds: wanted = 5, goals = [], note }: Question): Promise<Table> => {
  const count = rounds(wanted)
  const values = contenders.map((): number[] => [])
  for (let round = -1; round < count; round++)
    for (const place of contenders.keys()) {
      const index = (place + Math.max(round, 0)) % contenders.length
      const value = await (contenders[index] as Contender).round()
      if (round >= 0) values[index]?.push(value)
    }
  const floor = values[0] as number[]
  const rows = contenders.map(({ name }, index) => rowOf(name, values[index] as number[], [[values[index] as number[], floor]]))
  const table: Table = {
    title,
    unit,
    rounds: count,
    ratios: ['ratio to the first'],
    rows,
    goals: goals.map(({ row: name, of, bound, limit }) => {
      const row = rows.find((one) => one.name === name)
      if (!row || 'failed' in row) throw new TypeError(`no row is named '${name}'`)
      const value = of === 'median' ? row.median : (row.ratios[0] as number)
      return goal(name, value, bound, limit, of === 'median' ? unit : 'times the first')
    }),
    ...(note === undefined ? {} : { note }),
  }
  show(table)
  return table
}

/** Three digits that mean something, and thousands apart. */
export const figure = (value: number): string => {
  if (!Number.isFinite(value)) return '–'
  if (Math.abs(value) >= 100) return Math.round(value).toLocaleString('en')
  return Number.isInteger(value) ? String(value) : value.toFixed(Math.abs(value) >= 10 ? 1 : 2)
}

export const goalLine = ({ text, bound, limit, value, unit, met }: Goal): string =>
  `${met ? 'met' : 'NOT MET'}: ${text}: ${figure(value)} ${unit}, the goal is ${bound} ${figure(limit)}`

/** Prints a table as it is measured, so that a long run shows what it has. */
export const show = ({ title, unit, rounds: count, ratios, rows, goals, note }: Table): void => {
  const spread = count > 1 ? `, median of ${count} rounds, min–max` : ''
  console.log(`\n${title} (${unit}${spread}${ratios.map((ratio) => `, ${ratio}`).join('')})`)
  const width = Math.max(44, ...rows.map(({ name }) => name.length))
  for (const row of rows) {
    if ('failed' in row) console.log(`  ${row.name.padEnd(width)}  not measured: ${row.failed}`)
    else {
      const range = count > 1 ? `   ${`${figure(row.min)}–${figure(row.max)}`.padEnd(15)}` : ''
      const against = row.ratios.map((ratio) => (ratio === null ? '        ' : `  × ${ratio.toFixed(2).padStart(5)}`)).join('')
      console.log(`  ${row.name.padEnd(width)} ${figure(row.median).padStart(9)}${range}${against}`)
    }
  }
  for (const one of goals) console.log(`  goal ${goalLine(one)}`)
  if (note) console.log(`  ${note}`)
}
