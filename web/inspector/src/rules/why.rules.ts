/** Why a machine did what it did: whom it asked, in order, and what they answered. */
import type { Chart } from '../../../../src/actors/charts/chart.ts'
import type { Candidate, Read } from '../../../../src/contracts/inspection.ts'
import { valueWords } from './diff.rules.ts'
import { type Microstep, transitionOf } from './staged.rules.ts'

export type Reason = {
  /** Its place among those of its state and event, from 1. */
  number: number
  verdict: Candidate['verdict']
  /** Its guard, or its event. */
  name: string
  /** Where it leads, or that it stays. */
  to: string
  reads: string
  error?: string
}

export type Decision = {
  /** As people write it. */
  event: string
  reasons: Reason[]
  /** Behind the one that was taken: nobody asked them any more. */
  unasked: Reason[]
  /** Left out of those that said no, from the beginning. */
  before: number
}

const noMax = 6

const readWords = (reads: readonly Read[] = []): string =>
  reads.map(({ path, value }) => `${path.replace(/^(?:context|event)\./, '')} = ${valueWords(value, 60)}`).join(', ')

export const decisionsOf = (steps: readonly Microstep[], chart: Chart | undefined): Decision[] =>
  steps.map(({ event, candidates, taken }) => {
    const asked = candidates.filter(({ verdict }) => verdict !== 'unasked')
    const unasked = candidates.filter(({ verdict }) => verdict === 'unasked')
    const left = Math.max(0, asked.length - noMax - 1)
    const last = taken.at(-1) ?? candidates[0]
    const named = chart && last ? transitionOf(chart, last)?.event : undefined
    return {
      event: named ?? event.type,
      before: left,
      unasked: unasked.map((candidate) => reasonOf(candidate, chart)),
      reasons: asked.slice(left).map((candidate) => reasonOf(candidate, chart)),
    }
  })

const reasonOf = (candidate: Candidate, chart: Chart | undefined): Reason => {
  const { index, verdict, guard, reads, error, eventType } = candidate
  const transition = chart && transitionOf(chart, candidate)
  const name = guard ?? transition?.guard ?? transition?.event ?? (eventType || 'always')
  const targets = transition?.targets.map((id) => id.slice(id.lastIndexOf('.') + 1))
  return {
    number: index + 1,
    verdict,
    name,
    to: !targets ? '' : targets.length === 0 ? 'stays' : targets.join(', '),
    reads: readWords(reads),
    ...(error === undefined ? {} : { error }),
  }
}
