/** What a run remembers, and how each thing that happens changes it. Pure. */
import type { Report, ReportStatus } from '../envelope.ts'
import type { LadderErrorBody } from '../errors.ts'
import { type RunInput as AnyRunInput, began, type RunEnd, type RunState, rootOf } from '../run.rules.ts'

export type StepRecord = {
  status: Exclude<ReportStatus, 'cancelled'>
  output?: unknown
  error?: LadderErrorBody
  attempts: number
  /** ms since the epoch */
  startedAt: number
  endedAt: number
}

export type RunInput = AnyRunInput & { state: unknown }

/** When it began, its attempts, how long it pauses before the next one; and the run inside of it, once its code has said what that is given. */
type Going = { startedAt: number; attempts: number; pauseMs: number; asks?: Asks; answer?: RunEnd }
type Asks = { input: unknown; state: unknown; runId: string }

export type RunContext = RunState & {
  state: unknown
  steps: Record<string, StepRecord>
  /** What is under way, by name. */
  going: Record<string, Going>
  /** Runs inside of steps that have ended, failed attempts among them, by the name of the step. */
  nested: Record<string, readonly Report[]>
  /** What the children of a parallel step made of the state, by name. */
  branches: Record<string, unknown>
  /** The events that steps were waiting for, by the name of the step, until it has ended. */
  given: Record<string, unknown>
  /** How often each step was entered, and all of them together. */
  visits: Record<string, number>
  visited: number
  /** The step that a resumed run begins with. */
  next?: string | undefined
  /** The step that ended last. */
  last?: string | undefined
}

/** How the code of a step came out, as it stands in the journal. */
export type StepEnd =
  | { ended: 'completed'; output: unknown; state: unknown; onward?: { goto: string } | { end: true } }
  /** An executable is to run inside of it. `state` as its code has left it by then. */
  | { ended: 'asks'; input: unknown; state: unknown }
  | { ended: 'skipped'; onward?: { goto: string } | { end: true } }
  | { ended: 'failed'; error: LadderErrorBody; again?: { pauseMs: number }; onward?: { goto: string } | { end: true } }

export const begun = (input: RunInput, at: number): RunContext => ({
  ...began(input, at),
  state: input.state,
  steps: {},
  going: {},
  nested: {},
  branches: {},
  given: {},
  visits: {},
  visited: 0,
})

/** A step is entered: it may have run before. */
export const entered = (context: RunContext, step: string): Partial<RunContext> => ({
  visits: { ...context.visits, [step]: (context.visits[step] ?? 0) + 1 },
  visited: context.visited + 1,
  next: step,
  branches: {},
  given: {},
})

export const attempted = ({ going }: RunContext, step: string, at: number): Partial<RunContext> => {
  const before = going[step]
  return { going: { ...going, [step]: { startedAt: before?.startedAt ?? at, attempts: (before?.attempts ?? 0) + 1, pauseMs: 0 } } }
}

/** Its code wants a run inside of it: that one has a name that no other has. */
export const asking = (
  { runId, going, nested }: RunContext,
  step: string,
  { input, state }: { input: unknown; state: unknown },
): Partial<RunContext> => {
  const before = going[step]
  if (!before) return {}
  const number = (nested[step]?.length ?? 0) + 1
  return { going: { ...going, [step]: { ...before, asks: { input, state, runId: `${runId}/${step}/${number}` } } } }
}

export const answered = ({ going, nested }: RunContext, step: string, answer: RunEnd): Partial<RunContext> => {
  const before = going[step]
  if (!before) return {}
  return { going: { ...going, [step]: { ...before, answer } }, nested: { ...nested, [step]: [...(nested[step] ?? []), answer.report] } }
}

/** What a run inside of a step is given. */
export const nestedInput = (run: RunContext, step: string): AnyRunInput => {
  const { runId, input } = run.going[step]?.asks ?? { runId: `${run.runId}/${step}`, input: undefined }
  return { runId, input, inside: { rootRunId: rootOf(run), parentRunId: `${run.runId}/${step}` } }
}

export const paused = ({ going }: RunContext, step: string, pauseMs: number): Partial<RunContext> => {
  const before = going[step]
  return before ? { going: { ...going, [step]: { ...before, pauseMs } } } : {}
}

/** What came out of a step, or of a child of one, whose state waits until all have ended. */
export const settled = (context: RunContext, step: string, end: StepEnd, at: number, isChild: boolean): Partial<RunContext> => {
  const { [step]: work = { startedAt: at, attempts: 0 }, ...going } = context.going
  const common = { attempts: work.attempts, startedAt: work.startedAt, endedAt: at }
  const record: StepRecord =
    end.ended === 'completed'
      ? { status: 'completed', output: end.output, ...common }
      : end.ended === 'skipped'
        ? { status: 'skipped', ...common }
        : { status: 'failed', ...(end.ended === 'failed' && { error: end.error }), ...common }
  const steps = { ...context.steps, [step]: record }
  if (isChild && end.ended === 'completed') return { steps, going, branches: { ...context.branches, [step]: end.state } }
  return { steps, going, last: isChild ? context.last : step, ...(end.ended === 'completed' && { state: end.state }) }
}
