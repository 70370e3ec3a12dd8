/** What a run remembers, and how each thing that happens changes it. Pure. */
import { type Called, keptCalls, type WorkAsks, type WorkState } from '../calling/work.context.ts'
import type { ReportStatus } from '../envelope.ts'
import type { LadderErrorBody } from '../errors.ts'
import { type Kept, keep, kept } from '../kept.rules.ts'
import { type RunInput as AnyRunInput, type Artifacts, began } from '../run.rules.ts'

export type StepRecord = {
  /** `cancelled`: an executable was at work in it when the run was. */
  status: Extract<ReportStatus, 'completed' | 'failed' | 'skipped' | 'cancelled'>
  output?: unknown
  error?: LadderErrorBody
  attempts: number
  /** How often it was entered, where that was more than once. Of children of parallel steps their parent says it. */
  visits?: number
  /** ms since the epoch */
  startedAt: number
  endedAt: number
}

export type RunInput = AnyRunInput & { state: unknown }

export type RunContext = WorkState & {
  state: unknown
  steps: Kept<StepRecord>
  /** What the children of a parallel step made of the state, by name. */
  branches: Record<string, unknown>
  /** The events that steps were waiting for, by the name of the step, until it has ended. */
  given: Record<string, unknown>
  /** Those that came before their step waited for them, by the name of the step. */
  early?: Readonly<Record<string, unknown>>
  /** How many steps were entered, and how often the one that is under way was. */
  visited: number
  visits: number
  /** The step that a resumed run begins with. */
  next?: string | undefined
  /** The step that ended last. */
  last?: string | undefined
  /** What tools gave beside their answers in runs inside of steps that have completed. */
  artifacts?: Artifacts
}

/** How the code of a step came out, as it stands in the journal. */
export type StepEnd = (
  | { ended: 'completed'; output: unknown; state: unknown; onward?: { goto: string } | { end: true } }
  | WorkAsks
  | { ended: 'skipped'; onward?: { goto: string } | { end: true } }
  | { ended: 'failed'; error: LadderErrorBody; again?: { pauseMs: number }; onward?: { goto: string } | { end: true } }
) &
  Called

export const begun = (input: RunInput, at: number): RunContext => ({
  ...began(input, at),
  state: input.state,
  steps: {},
  going: {},
  nested: {},
  branches: {},
  given: {},
  visited: 0,
  visits: 0,
})

/** A step was not entered yet, or is the one that a run which has stopped begins with; and nothing is kept for it. */
export const isToCome = ({ steps, next, error, early = {} }: RunContext, step: string): boolean =>
  (step === next ? error !== undefined : kept(steps, step) === undefined) && !Object.hasOwn(early, step)

/** A step is entered: it may have run before. */
export const entered = (context: RunContext, step: string): Partial<RunContext> => {
  const before = kept(context.steps, step)
  return {
    visited: context.visited + 1,
    visits: before ? (before.visits ?? 1) + 1 : 1,
    next: step,
    branches: {},
    given: {},
  }
}

/** What came out of a step, or of a child of one, whose state waits until all have ended. */
export const settled = (context: RunContext, step: string, end: StepEnd, at: number, isChild: boolean): Partial<RunContext> => {
  const { [step]: work = { startedAt: at, attempts: 0, pauseMs: 0 }, ...going } = context.going
  const common = {
    attempts: work.attempts,
    startedAt: work.startedAt,
    endedAt: at,
    ...(!isChild && context.visits > 1 && { visits: context.visits }),
  }
  const record: StepRecord =
    end.ended === 'completed'
      ? { status: 'completed', output: end.output, ...common }
      : end.ended === 'skipped'
        ? { status: 'skipped', ...common }
        : { status: 'failed', ...(end.ended === 'failed' && { error: end.error }), ...common }
  const steps = keep(context.steps, step, record)
  const { nested = context.nested, waiting = context.waiting } = keptCalls(context, step, end.called)
  const given = end.ended === 'completed' ? work.answer?.artifacts : undefined
  const added = given && { artifacts: { ...context.artifacts, ...given } }
  if (isChild && end.ended === 'completed') return { steps, going, nested, waiting, ...added, branches: { ...context.branches, [step]: end.state } }
  return { steps, going, nested, waiting, ...added, last: isChild ? context.last : step, ...(end.ended === 'completed' && { state: end.state }) }
}

/** The run inside of a step has ended because all are cancelled; so has the step that it is a child of. */
export const cutOff = (
  { steps }: { steps: readonly { name: string; children: readonly string[] }[] },
  run: RunContext,
  work: string,
  at: number,
): Partial<RunContext> => {
  const parent = steps.find(({ children }) => children.includes(work))?.name
  const recordOf = (step: string): StepRecord => {
    const { startedAt = at, attempts = 0 } = run.going[step] ?? {}
    return { status: 'cancelled', attempts, startedAt, endedAt: at }
  }
  const ended = [work, ...(parent === undefined ? [] : [parent])]
  return { steps: ended.reduce((all, step) => keep(all, step, recordOf(step)), run.steps) }
}
