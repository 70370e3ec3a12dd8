/** What the gate decides, without measuring anything: the least of several rounds, when there are enough of them, and which figure fails. */
import { percentile } from '../measure.ts'
import type { Count } from './counts.ts'
import type { Timed, Work } from './works.ts'

export type Side = 'baseline' | 'now'
export const sides: readonly Side[] = ['baseline', 'now']

/** By work, the least of one round. */
export type Round = Partial<Record<Work, Timed>>
export type Rounds = Record<Side, Round[]>

/** @property limit of the ratio of `now` to `baseline` */
export type Figure = { name: string; unit: string; limit: number; baseline: number; now: number }

/** For what is timed, and allocation, which depends a little on what the compiler has optimised by then. */
export const timedLimit = 1.1
/** A count is the same on every run. */
export const countLimit = 1
/** Up to here, more rounds would not change the verdict. */
export const clearRatio = 1.05
/** Fewer rounds meet too few moments of quiet, and too few ways in which the compiler may go; {@link mostRounds} decide. */
export const leastRounds = 3
export const mostRounds = 8

/**
 * Of one round. An interruption and a cold cache only add CPU time to a slice, so the least is nearest to what the code costs. Allocation is the same in
 * nearly all slices, but for the few in which a collection takes something back: a quarter of them may lie below.
 */
export const leastOfSlices = (slices: readonly Timed[]): Timed => ({
  cpu: Math.min(...slices.map(({ cpu }) => cpu)),
  allocated: percentile(
    slices.map(({ allocated }) => allocated),
    0.25,
  ),
})

const leastOfRounds = (rounds: readonly Timed[]): Timed => ({
  cpu: Math.min(...rounds.map(({ cpu }) => cpu)),
  allocated: Math.min(...rounds.map(({ allocated }) => allocated)),
})

export const timedFigures = (rounds: Rounds, works: readonly Work[]): Figure[] =>
  works.flatMap((work) => {
    const leastOf = (side: Side) => leastOfRounds(rounds[side].flatMap((round) => round[work] ?? []))
    const [baseline, now] = [leastOf('baseline'), leastOf('now')]
    return [
      { name: `${work}: CPU time`, unit: 'µs', limit: timedLimit, baseline: baseline.cpu, now: now.cpu },
      { name: `${work}: allocation`, unit: 'KB', limit: timedLimit, baseline: baseline.allocated / 1000, now: now.allocated / 1000 },
    ]
  })

/** A message of the server's own may fall into one attempt, and hardly into all. */
export const mostCounts = 3

/** Of each count the least of all attempts. */
export const countedFigures = (attempts: Record<Side, readonly (readonly Count[])[]>): Figure[] =>
  (attempts.baseline[0] ?? []).map(({ name, unit }) => {
    const leastOf = (side: Side) => Math.min(...attempts[side].map((counts) => counts.find((count) => count.name === name)?.value ?? Number.NaN))
    return { name, unit, limit: countLimit, baseline: leastOf('baseline'), now: leastOf('now') }
  })

export const ratioOf = ({ baseline, now }: Pick<Figure, 'baseline' | 'now'>): number => now / baseline

/** A figure that was not measured never passes: NaN, infinite, or zero, which is what a meter that sees nothing reads. */
export const passes = (figure: Figure): boolean =>
  ratioOf(figure) <= figure.limit && Number.isFinite(figure.now) && figure.now > 0 && figure.baseline > 0

/** @property leftMs of the usual time of the gate @property roundMs what the latest round took */
type Pace = { leftMs: number; roundMs: number; roundsMax?: number }

/**
 * Whether another round is worth its time. A figure fails only after all rounds, however long they take on a busy machine; one that is near its limit and
 * passes is measured again as long as there is time.
 */
export const wantsMore = (done: number, figures: readonly Figure[], { leftMs, roundMs, roundsMax = mostRounds }: Pace): boolean => {
  if (done >= roundsMax) return false
  if (done < leastRounds || !figures.every(passes)) return true
  return roundMs <= leftMs && figures.some((figure) => ratioOf(figure) > clearRatio)
}
