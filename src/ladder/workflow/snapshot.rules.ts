/** What of a run of a workflow its store is told. Pure. */
import { type Kept, recordOf } from '../kept.rules.ts'
import type { Taken } from '../stores/mirror.ts'
import type { WorkflowShape } from './workflow.chart.rules.ts'
import { type RunContext, type StepEnd, type StepRecord, settled } from './workflow.context.ts'

/** A group of parallel steps is told once, when all of it has ended; a step that is tried again has not. */
export const afterStep =
  (shape: WorkflowShape) =>
  (run: RunContext, step: string, end: StepEnd, at: number): Taken | undefined => {
    const { steps } = shape
    const index = steps.findIndex(({ name }) => name === step)
    if (index < 0 || end.ended === 'asks' || (end.ended === 'failed' && end.again)) return undefined
    const after = { ...run, ...settled(run, step, end, at, false) }
    const { onward } = end
    const next = onward ? ('goto' in onward ? onward.goto : null) : end.ended === 'failed' ? step : (steps[index + 1]?.name ?? null)
    return { next, state: after.state, steps: recordsOf(shape, after.steps) }
  }

export const atEnd =
  (shape: WorkflowShape) =>
  ({ error, next, state, steps }: RunContext): Taken => ({ next: error ? (next ?? null) : null, state, steps: recordsOf(shape, steps) })

const recordsOf = ({ steps }: WorkflowShape, all: Kept<StepRecord>) =>
  recordOf(
    all,
    steps.flatMap(({ name, children }) => [...children, name]),
  )
