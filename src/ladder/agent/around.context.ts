/** What a run of an agent remembers where code of its author, or a budget, stands around it; and how that changes. Pure. */
import type { AskReport } from '../../index.ts'
import type { LadderUsage } from '../envelope.ts'
import type { LadderErrorBody } from '../errors.ts'
import { noUsage, type Prices, spentBy, together } from '../usage.rules.ts'
import { type Budget, type Spent, spentAt, type Violation, violationOf } from './budget.rules.ts'

type Wanted = { callId: string; name: string; input: unknown }

export type Around = {
  /** What its middlewares have written down, by name. */
  states: Readonly<Record<string, object>>
  /** What the agent is given in the place of the input of its run. */
  given?: { input: unknown }
  /** What goes to the model, or what it has answered. */
  trip: { number: number; text: string; calls: readonly Wanted[]; isAnswered?: true }
  /** What its calls have come to, where somebody looks at that. */
  results?: readonly { tool: string; output: unknown }[]
  /** Used by the question under way. */
  spending: LadderUsage
  since: Spent
  violation?: Violation | undefined
  /** It has another model since its budget was used up. */
  fellBack?: true
  /** It is being stopped: it failed for that reason, or this text is its answer. */
  refusal?: LadderErrorBody | undefined
  said?: string | undefined
  /** What middleware has made of the newest answer. */
  revised?: string | undefined
  /** Its answer was kept from before. */
  cached?: { similarity: number }
}

/** What code around a trip comes to. */
export type TripEnd = { states: Around['states']; refusal?: LadderErrorBody; said?: string; revised?: string }

type Run = { told?: { text: string; prices?: Prices }; usage: LadderUsage; trips: number; length?: number; around?: Around }

/** @param hears whether somebody looks at what goes to the model */
export const nothingAround = (states: Around['states'], at: number, hears = false): Around => ({
  states,
  trip: { number: 1, text: '', calls: [] },
  ...(hears && { results: [] }),
  spending: noUsage,
  since: spentAt(noUsage, at),
})

/** @param run before the report has changed it */
export const stepSince = (run: Run, { report }: AskReport): Around | undefined => {
  const { around, told, trips } = run
  if (!around) return undefined
  switch (report.type) {
    case 'model.ended': {
      if (!report.spent) return around
      const { model, usage, costUsd = null } = report.spent
      return { ...around, spending: together(around.spending, spentBy({ usage, shares: { [model]: usage }, costUsd }, told?.prices)) }
    }
    case 'step.wanted':
      return { ...around, trip: { number: trips + 1, text: trips === 0 ? (told?.text ?? '') : '', calls: [] }, revised: undefined }
    case 'step.answered':
      return { ...around, trip: { number: trips, text: report.text, calls: report.calls, isAnswered: true }, ...(around.results && { results: [] }) }
    case 'tool.ended':
      return around.results ? { ...around, results: [...around.results, { tool: report.name, output: report.output }] } : around
    default:
      return around
  }
}

/** What is used up, if anything is. */
export const weighed = ({ around, usage }: Run, budget: Budget, at: number): Around | undefined => {
  if (!around || around.fellBack) return around
  return { ...around, violation: violationOf(budget, around.since, spentAt(together(usage, around.spending), at)) }
}

/** It is gone on with, with as much again as in the beginning. */
export const mended = (run: Run, at: number): Around | undefined => {
  if (!run.around) return undefined
  const { violation: _, refusal: __, said: ___, ...around } = run.around
  return { ...around, since: spentAt(run.usage, at) }
}
