/** One contender in this process, all figures of one round. Started by `bench/turns.bench.ts`. */
import { serve } from '../child.ts'
import { median, percentile } from '../measure.ts'
import { type Message, script } from '../workload.ts'
import type { Contender, Open, Talk } from './contender.ts'

/** `warmUpMs` of both kinds of turn before anything counts: as much time for everybody, since what counts is a process that has been up for a while. */
export type Sizes = { warmUpMs: number; turns: number; sessions: number; each: number; long: number; longTurns: number }

/** µs, except `together`: turns per second, and `growth`: how many times the time of the first turns the last ones take. */
export type Figures = {
  plain: number
  plainWorst: number
  first: number
  tool: number
  toolWorst: number
  together: number
  growth: number
  /** Pieces in which an answer arrived: less than the deltas sent when somebody put them together on the way. */
  pieces: number
}

type Took = { us: number; firstUs: number; pieces: number }

const wanted = script.deltas * script.delta.length

/** @throws Error when a delta is missing or double, or the answer is not whole */
const timed = async (talk: Talk, message: Message): Promise<Took> => {
  let heard = 0
  let pieces = 0
  let first = 0
  const start = performance.now()
  const answer = await talk.say(message, (piece) => {
    if (pieces++ === 0) first = performance.now()
    heard += piece.length
  })
  const end = performance.now()
  if (heard !== wanted) throw new Error(`a ${message} turn let ${heard} of ${wanted} characters be heard`)
  if (answer.length !== wanted) throw new Error(`the answer of a ${message} turn has ${answer.length} of ${wanted} characters`)
  return { us: (end - start) * 1000, firstUs: (first - start) * 1000, pieces }
}

const alone = async ({ talk }: Contender, message: Message, turns: number): Promise<Took[]> => {
  const took: Took[] = []
  for (let index = 0; index < turns; index++) took.push(await timed(talk(), message))
  return took
}

/** All sessions at once, each with its turns one after the other. */
const together = async ({ talk }: Contender, { sessions, each }: Sizes): Promise<number> => {
  const talks = Array.from({ length: sessions }, talk)
  const start = performance.now()
  await Promise.all(
    talks.map(async (one) => {
      for (let index = 0; index < each; index++) await timed(one, 'tool')
    }),
  )
  return (sessions * each * 1000) / (performance.now() - start)
}

const growth = async ({ talk }: Contender, { long, longTurns }: Sizes): Promise<number> => {
  const early: number[] = []
  const late: number[] = []
  for (let session = 0; session < long; session++) {
    const one = talk()
    for (let index = 0; index < longTurns; index++) {
      const { us } = await timed(one, 'tool')
      if (index < 10) early.push(us)
      else if (index >= longTurns - 10) late.push(us)
    }
  }
  return median(late) / median(early)
}

serve(async ({ module, variant, folder, sizes }: { module: string; variant: string; folder: string; sizes: Sizes }): Promise<Figures> => {
  const { open } = (await import(module)) as { open: Open }
  const contender = await open(script, { variant, folder })
  const warm = performance.now() + sizes.warmUpMs
  while (performance.now() < warm) for (const message of ['plain', 'tool'] as const) await alone(contender, message, 5)
  const plain = await alone(contender, 'plain', sizes.turns)
  const tool = await alone(contender, 'tool', sizes.turns)
  const us = (took: Took[]) => took.map((one) => one.us)
  const figures: Figures = {
    plain: median(us(plain)),
    plainWorst: percentile(us(plain), 0.99),
    first: median(plain.map(({ firstUs }) => firstUs)),
    tool: median(us(tool)),
    toolWorst: percentile(us(tool), 0.99),
    together: await together(contender, sizes),
    growth: await growth(contender, sizes),
    pieces: Math.min(...[...plain, ...tool].map(({ pieces }) => pieces)),
  }
  await contender.close?.()
  return figures
})
