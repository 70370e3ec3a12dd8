/** One contender in this process, all figures of one round. Started by `bench/ladder-steps.bench.ts`. */
import { serve, settledBytes } from '../child.ts'
import { median, percentile } from '../measure.ts'
import { type Contender, historyKept, historyMax, type Open, type Sizes } from './contender.ts'

/** `short` and `long` steps in a workflow, and how often each is run; `fans`: how often the supervisor is. */
export type Amounts = { warmUpMs: number; short: number; shorts: number; long: number; longs: number; fan: number; fans: number; turns: number }

/** µs a step, µs a run of the supervisor, µs a turn; `growth`: how many times the time of the first tenth the last one takes. */
export type Figures = {
  short: number
  shortWorst: number
  long: number
  growth: number
  fan: number
  fanWorst: number
  turn: number
  turnGrowth: number
}

/** KiB that a long run and a session hold: when a tenth of it is done, and at its end. */
export type Held = { early: number; late: number; turnEarly: number; turnLate: number }

export type MeasuredInput = { question: 'time' | 'memory'; module: string; variant: string; folder: string; amounts: Amounts }

/** @returns when each step began, and when all was over, in ms */
const timed = async ({ steps }: Contender, count: number): Promise<number[]> => {
  const moments: number[] = []
  const counted = await steps(count, () => moments.push(performance.now()))
  moments.push(performance.now())
  if (counted !== count || moments.length !== count + 1)
    throw new Error(`${moments.length - 1} of ${count} steps have run, and counted to ${counted}`)
  return moments
}

/** µs a step. */
const between = (moments: readonly number[], from: number, to: number): number =>
  (((moments[to] as number) - (moments[from] as number)) * 1000) / (to - from)

const fanned = async ({ fan }: Contender, wanted: number): Promise<number> => {
  const start = performance.now()
  const said = await fan()
  if (said !== wanted) throw new Error(`${said} of ${wanted} have said something`)
  return (performance.now() - start) * 1000
}

/** @returns when each turn began, and when all was over, in ms */
const talked = async ({ talk }: Contender, turns: number): Promise<number[]> => {
  const moments: number[] = []
  await talk(turns, () => moments.push(performance.now()))
  moments.push(performance.now())
  return moments
}

const time = async (contender: Contender, { warmUpMs, short, shorts, long, longs, fan, fans, turns }: Amounts): Promise<Figures> => {
  const warm = performance.now() + warmUpMs
  do {
    await timed(contender, short)
    await fanned(contender, fan)
    await talked(contender, historyMax)
  } while (performance.now() < warm)
  const runs: number[][] = []
  for (let run = 0; run < shorts; run++) runs.push(await timed(contender, short))
  const each = runs.flatMap((moments) => moments.slice(1).map((_, step) => between(moments, step, step + 1)))
  const took: number[] = []
  for (let run = 0; run < fans; run++) took.push(await fanned(contender, fan))
  const growth: number[] = []
  const whole: number[] = []
  for (let run = 0; run < longs; run++) {
    const moments = await timed(contender, long)
    whole.push(between(moments, 0, long))
    growth.push(between(moments, long * 0.9, long) / between(moments, 0, long / 10))
  }
  const session = await talked(contender, turns)
  return {
    turn: between(session, 0, turns),
    turnGrowth: between(session, turns * 0.9, turns) / between(session, 0, turns / 10),
    short: median(runs.map((moments) => between(moments, 0, short))),
    shortWorst: percentile(each, 0.99),
    long: median(whole),
    growth: median(growth),
    fan: median(took),
    fanWorst: percentile(took, 0.99),
  }
}

/** What the collector leaves on the heap, in KiB. It waits for nothing, so that a step in the middle of a run can ask. */
const heldNow = (): number => {
  // Twice, since what is only held weakly goes with the second.
  for (let round = 0; round < 2; round++) (globalThis.gc as () => void)()
  return process.memoryUsage().heapUsed / 1024
}

const memory = async (contender: Contender, { long, turns }: Amounts): Promise<Held> => {
  // What a first run leaves behind, such as compiled code, is nothing that a run holds.
  for (let run = 0; run < 2; run++) await timed(contender, long)
  await settledBytes()
  const before = heldNow()
  const held: number[] = []
  let step = 0
  await contender.steps(long, () => {
    if (++step === long / 10 || step === long) held.push(heldNow() - before)
  })
  await talked(contender, turns)
  const between = heldNow()
  let turn = 0
  await contender.talk(turns, () => {
    if (++turn === turns / 10 || turn === turns) held.push(heldNow() - between)
  })
  const [early = 0, late = 0, turnEarly = 0, turnLate = 0] = held
  return { early, late, turnEarly, turnLate }
}

serve(async ({ question, module, variant, folder, amounts }: MeasuredInput): Promise<Figures | Held> => {
  const { open } = (await import(module)) as { open: Open }
  const sizes: Sizes = { steps: [amounts.short, amounts.long], fan: amounts.fan, history: { max: historyMax, kept: historyKept } }
  const contender = await open(sizes, { variant, folder })
  const found = await (question === 'time' ? time(contender, amounts) : memory(contender, amounts))
  await contender.close?.()
  return found
})
