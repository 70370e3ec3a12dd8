/** What is told of each step of a loop that a machine follows, or whose pace it sets. Pure. */
import type { AskEvent, StepReport } from '../../contracts/ask.ts'
import { definedOf } from '../../contracts/defined.ts'
import type { ModelCallOutput } from '../../contracts/model-call.ts'
import type { LoopContext } from './loop.context.ts'

/** Whoever runs delegated tools reckons with what each call has used; sessions do that themselves. */
export const modelEnded = ({ input }: LoopContext, { text, references, model, usage, costUsd }: ModelCallOutput) => ({
  type: 'model.ended' as const,
  text,
  ...definedOf({ references, spent: input.delegates && { model, usage, ...definedOf({ costUsd }) } }),
})

export const stepWanted = ({ totals }: LoopContext): StepReport => ({ type: 'step.wanted', step: totals.steps + 1 })

export const stepAnswered = ({ totals, answer, step }: LoopContext): StepReport => ({
  type: 'step.answered',
  step: totals.steps,
  text: answer.text,
  calls: step.calls.map(({ id, name, input }) => ({ callId: id, name, input })),
})

/** Another model goes on, if one is named. */
export const withModel = ({ asked }: LoopContext, { model }: Extract<AskEvent, { type: 'proceed' }>): Partial<LoopContext> =>
  model === undefined ? {} : { asked: { ...asked, candidates: [model], place: 0, round: 1, credential: null, tried: [] } }
