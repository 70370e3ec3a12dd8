/** What a run of a supervisor remembers, and how each thing that happens changes it. Pure. */
import type { LadderErrorBody } from '../errors.ts'
import { type RunInput as AnyRunInput, began } from '../run.rules.ts'
import type { WorkAsks, WorkState } from '../work/work.context.ts'

/** It can be enough, somebody else may be wanted, and the router may be told something. */
export type Verdict<Name extends string = string> = { satisfied?: boolean; reassignTo?: Name | readonly Name[]; feedback?: string }

/** Who has chosen: code, a model, who begins, the one before, or the evaluation. */
export type DecisionSource = 'route' | 'router' | 'initialAgent' | 'intent.next' | 'evaluate'
/** @property next nobody: it is over */
export type Decision = { source: DecisionSource; next: readonly string[]; raw: unknown; reasoning?: string }

/** What became of one that was chosen; times are ms since the epoch. */
export type BranchRecord = {
  status: 'completed' | 'failed'
  output?: unknown
  error?: LadderErrorBody
  attempts: number
  /** Of the run inside of it, which stands among the children of the report. */
  runId?: string
  startedAt: number
  endedAt: number
}
export type IterationRecord = {
  number: number
  decision: Decision
  branches: Readonly<Record<string, BranchRecord>>
  verdict?: Verdict
  /** As it was at its end. */
  state: unknown
  startedAt: number
  endedAt: number
}

export type TerminatedBy = 'router' | 'route' | 'intent.next' | 'evaluate' | 'max-iterations' | 'cancelled' | 'error'

/** `known` is what code finds in its context, beside what the caller has brought along: of a turn of an orchestrator, what was recalled. */
export type SupervisorInput = AnyRunInput & { state: unknown; directive?: Decision; known?: Readonly<Record<string, unknown>> }
export type SupervisorRun = WorkState & {
  state: unknown
  known?: Readonly<Record<string, unknown>>
  iterations: readonly IterationRecord[]
  /** The iteration that is under way. */
  now: { startedAt: number; decision?: Decision; branches: Readonly<Record<string, BranchRecord>> }
  /** Who is next without being chosen. */
  directive?: Decision | undefined
  feedback?: string | undefined
  terminatedBy?: TerminatedBy | undefined
  /** All iterations have ended. */
  isConcluding?: boolean
}

/** How a piece of its code came out. */
export type Chosen = { ended: 'completed'; output: Decision } | { ended: 'failed'; error: LadderErrorBody } | WorkAsks
export type BranchEnd = { ended: 'completed'; output: unknown } | { ended: 'failed'; error: LadderErrorBody } | WorkAsks
export type Merged =
  | { ended: 'completed'; state: unknown; conflicts: readonly string[]; verdict?: Verdict; directive?: Decision }
  | { ended: 'failed'; error: LadderErrorBody }

export const begun = (input: SupervisorInput, at: number): SupervisorRun => ({
  ...began(input, at),
  state: input.state,
  ...(input.directive && { directive: input.directive }),
  ...(input.known && { known: input.known }),
  going: {},
  nested: {},
  iterations: [],
  now: { startedAt: at, branches: {} },
})

/** Nobody is chosen twice. */
export const decided = ({ now }: SupervisorRun, decision: Decision): Partial<SupervisorRun> => ({
  now: { ...now, decision: { ...decision, next: [...new Set(decision.next)] } },
  directive: undefined,
})

export const branched = ({ now, going }: SupervisorRun, intent: string, end: BranchEnd, at: number): Partial<SupervisorRun> => {
  const { [intent]: work = { startedAt: at, attempts: 0, pauseMs: 0 }, ...rest } = going
  const ran = work.answer ? { runId: work.answer.report.runId } : {}
  const times = { attempts: work.attempts, ...ran, startedAt: work.startedAt, endedAt: at }
  const record: BranchRecord =
    end.ended === 'completed'
      ? { status: 'completed', output: end.output, ...times }
      : { status: 'failed', ...(end.ended === 'failed' && { error: end.error }), ...times }
  return { going: rest, now: { ...now, branches: { ...now.branches, [intent]: record } } }
}

export const merged = (run: SupervisorRun, end: Extract<Merged, { ended: 'completed' }>, at: number): Partial<SupervisorRun> => {
  const { now, iterations } = run
  const { state, verdict, directive } = end
  const record: IterationRecord = {
    number: iterations.length,
    decision: now.decision ?? { source: 'route', next: [], raw: null },
    branches: now.branches,
    ...(verdict && { verdict }),
    state,
    startedAt: now.startedAt,
    endedAt: at,
  }
  return { state, iterations: [...iterations, record], now: { startedAt: at, branches: {} }, directive, feedback: verdict?.feedback }
}
