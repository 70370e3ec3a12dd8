/** What the gate decides, without measuring anything: the least of several rounds, when there are enough of them, and which figure fails. */
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

/** An interruption, a collection and a cold cache only add to a slice, so the least is nearest to what the code costs. */
export const least = (all: readonly Timed[]): Timed => ({
  cpu: Math.min(...all.map(({ cpu }) => cpu)),
  // A major collection makes it negative.
  allocated: Math.min(...all.map(({ allocated }) => allocated).filter((bytes) => bytes > 0)),
})

export const timedFigures = (rounds: Rounds, works: readonly Work[]): Figure[] =>
  works.flatMap((work) => {
    const leastOf = (side: Side) => least(rounds[side].flatMap((round) => round[work] ?? []))
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

export const ratioOf = ({ baseline, now }: Pick<Figure, 'baseline' | 'now'>): number => (now === baseline ? 1 : now / baseline)

/** What could not be measured, NaN or infinite, never passes. */
export const passes = (figure: Figure): boolean => ratioOf(figure) <= figure.limit && Number.isFinite(figure.now)

/** @property leftMs until the gate must end @property roundMs what the latest round took */
type Pace = { leftMs: number; roundMs: number; roundsMax?: number }

/** Whether another round is worth its time: a doubtful figure is measured again before it fails, and before it passes. */
export const wantsMore = (done: number, figures: readonly Figure[], { leftMs, roundMs, roundsMax = mostRounds }: Pace): boolean => {
  if (done >= roundsMax) return false
  // On a machine too busy for its time the gate takes longer, rather than fail for what it did not see.
  if (done < leastRounds) return true
  if (roundMs > leftMs) return false
  return figures.some((figure) => !(ratioOf(figure) <= clearRatio))
}
