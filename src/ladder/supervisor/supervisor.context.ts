/** What a run of a supervisor remembers, and how each thing that happens changes it. Pure. */
import { type Called, isInWork, keptCalls, type WorkAsks, type WorkState } from '../calling/work.context.ts'
import { errorBody, type LadderErrorBody } from '../errors.ts'
import { type RunInput as AnyRunInput, type Artifacts, began } from '../run.rules.ts'

/** The actor that acknowledges: no intent can have this name. */
export const ackWork = 'ack()'

/** It can be enough, somebody else may be wanted, and the router may be told something. */
export type Verdict<Name extends string = string> = { satisfied?: boolean; reassignTo?: Name | readonly Name[]; feedback?: string }

/** Who has chosen: code, a model, who classifies, who begins, the one before, or the evaluation. */
export type DecisionSource = 'route' | 'router' | 'classifier' | 'initialAgent' | 'intent.next' | 'evaluate'
/** @property next nobody: it is over */
export type Decision = { source: DecisionSource; next: readonly string[]; raw: unknown; reasoning?: string; confidence?: number }

/** What became of one that was chosen; times are ms since the epoch. */
export type BranchRecord = {
  status: 'completed' | 'failed'
  output?: unknown
  error?: LadderErrorBody
  attempts: number
  /** Names of runs inside of it, which stand among the children of the report. */
  runs?: readonly string[]
  /** What tools of its agent gave beside their answers, as they gave it. */
  artifacts?: Artifacts
  startedAt: number
  endedAt: number
}
/** Of the iteration that is under way. @property adds to the state, as its schema made it */
type Branch = BranchRecord & { adds?: object }
export type IterationRecord = {
  number: number
  decision: Decision
  branches: Readonly<Record<string, BranchRecord>>
  verdict?: Verdict
  /** Names of runs of who chose and who evaluated. */
  runs?: readonly string[]
  /** As it was at its end. */
  state: unknown
  startedAt: number
  endedAt: number
}

export type TerminatedBy = 'router' | 'route' | 'classifier' | 'intent.next' | 'evaluate' | 'max-iterations' | 'cancelled' | 'error'

/** `known` is what code finds in its context, beside what the caller has brought along: of a turn of an orchestrator, what was recalled. */
export type SupervisorInput = AnyRunInput & { state: unknown; directive?: Decision; known?: Readonly<Record<string, unknown>> }
export type SupervisorRun = WorkState & {
  state: unknown
  known?: Readonly<Record<string, unknown>>
  iterations: readonly IterationRecord[]
  /** The iteration that is under way. */
  now: { startedAt: number; decision?: Decision; branches: Readonly<Record<string, Branch>>; runs?: readonly string[] }
  /** Who is next without being chosen. */
  directive?: Decision | undefined
  feedback?: string | undefined
  terminatedBy?: TerminatedBy | undefined
  /** All iterations have ended. */
  isConcluding?: boolean
  /** Its data was made with the end of the last one. */
  isMade?: boolean
  /** What became of the acknowledgement, once it has begun. */
  ack?: AckRecord
}

/** `late`: the iteration did not wait for it. Times are ms since the epoch. */
type AckRecord = { status: 'running' | 'completed' | 'failed' | 'late'; error?: LadderErrorBody; startedAt: number; endedAt: number }

/** How a piece of its code came out. */
type Failed = { ended: 'failed'; error: LadderErrorBody }
/** @property state what it adds to the state */
export type Chosen = (({ ended: 'completed'; output: Decision; state?: object } | Failed) & Called) | WorkAsks
/** @property adds to the state, where a schema says what */
export type BranchEnd = (({ ended: 'completed'; output: unknown; adds?: object } | Failed) & Called) | WorkAsks
export type Merged = (
  | {
      ended: 'completed'
      state: unknown
      conflicts: readonly string[]
      verdict?: Verdict
      directive?: Decision
      /** The data of the run, where it is over: what the output makes of the state, or the state. */
      made?: 'state' | { data: unknown }
    }
  | Failed
) &
  Called

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

/** Who chose, or evaluated, has ended: what ran inside of that belongs to the iteration. */
export const advised = (run: SupervisorRun, work: string, called: Called['called']): SupervisorRun => {
  const kept = { ...run, ...keptCalls(run, work, called) }
  const { [work]: ended, ...going } = kept.going
  const runs = ended ? ended.runs : called?.map(({ runId }) => runId)
  return { ...kept, going, ...(runs && { now: { ...kept.now, runs: [...(kept.now.runs ?? []), ...runs] } }) }
}

const added = (state: unknown, more: unknown): unknown => (typeof more === 'object' && more !== null ? { ...(state as object), ...more } : state)

/** What a request is has been said. */
export const classified = (run: SupervisorRun, { output, state }: { output: Decision; state?: object }): Partial<SupervisorRun> => ({
  ...decided(run, output),
  ...(state && { state: added(run.state, state) }),
})

/** Its word is in the state before branches add theirs. */
export const acknowledged = (run: SupervisorRun, end: BranchEnd, at: number): Partial<SupervisorRun> => {
  const { [ackWork]: work, ...going } = run.going
  const { nested, waiting } = { ...run, ...keptCalls(run, ackWork, end.called) }
  const times = { startedAt: work?.startedAt ?? at, endedAt: at }
  if (end.ended === 'completed') return { going, nested, waiting, state: added(run.state, end.output), ack: { status: 'completed', ...times } }
  return { going, nested, waiting, ack: { status: 'failed', ...(end.ended === 'failed' && { error: end.error }), ...times } }
}

/** Nobody waits for it any more. */
export const leftBehind = (run: SupervisorRun, at: number): Partial<SupervisorRun> => {
  const { [ackWork]: work, ...going } = run.going
  const waiting = run.waiting.filter(({ ask }) => !isInWork(ask, run, ackWork))
  return { going, waiting, ack: { status: 'late', error: late, startedAt: work?.startedAt ?? at, endedAt: at } }
}

const late: LadderErrorBody = errorBody('SUPERVISOR_FAILED', 'the acknowledgement was not ready when the first iteration ended', {
  hint: 'it is for a quick word: give it less to do',
})

/** What tools gave in all of it, for the run that it is inside of: as they gave it, in the order in which those were chosen who called them. */
export const artifactsOf = ({ iterations, now }: Pick<SupervisorRun, 'iterations' | 'now'>): Artifacts | undefined => {
  const all = [...iterations, now].flatMap(({ decision, branches }) => (decision?.next ?? []).flatMap((intent) => branches[intent]?.artifacts ?? []))
  return all.length === 0 ? undefined : Object.assign({}, ...all)
}

/** Nobody is chosen twice. */
export const decided = ({ now }: SupervisorRun, decision: Decision): Partial<SupervisorRun> => ({
  now: { ...now, decision: { ...decision, next: [...new Set(decision.next)] } },
  directive: undefined,
})

export const branched = (run: SupervisorRun, intent: string, end: BranchEnd, at: number): Partial<SupervisorRun> => {
  const { now, going, nested, waiting } = { ...run, ...keptCalls(run, intent, end.called) }
  const { [intent]: work = { startedAt: at, attempts: 0, pauseMs: 0 }, ...rest } = going
  const artifacts = work.answer?.artifacts
  const ran = { ...(work.runs && { runs: work.runs }), ...(artifacts && { artifacts }) }
  const times = { attempts: work.attempts, ...ran, startedAt: work.startedAt, endedAt: at }
  const record: Branch =
    end.ended === 'completed'
      ? { status: 'completed', output: end.output, ...(end.adds && { adds: end.adds }), ...times }
      : { status: 'failed', ...(end.ended === 'failed' && { error: end.error }), ...times }
  return { going: rest, nested, waiting, now: { ...now, branches: { ...now.branches, [intent]: record } } }
}

export const merged = (run: SupervisorRun, end: Extract<Merged, { ended: 'completed' }>, at: number): Partial<SupervisorRun> => {
  const { now, iterations } = run
  const { state, verdict, directive, made } = end
  const record: IterationRecord = {
    number: iterations.length,
    decision: now.decision ?? { source: 'route', next: [], raw: null },
    branches: Object.fromEntries(Object.entries(now.branches).map(([intent, { adds: _, ...branch }]) => [intent, branch])),
    ...(verdict && { verdict }),
    ...(now.runs && { runs: now.runs }),
    state,
    startedAt: now.startedAt,
    endedAt: at,
  }
  return {
    state,
    iterations: [...iterations, record],
    now: { startedAt: at, branches: {} },
    directive,
    feedback: verdict?.feedback,
    ...(made && { isMade: true, data: made === 'state' ? state : made.data }),
  }
}

/** Who failed, and of what. */
export const failedIn = (all: SupervisorRun['now']['branches'] = {}): (readonly [intent: string, message: string])[] =>
  Object.entries(all).flatMap(([intent, { error }]) => (error ? [[intent, error.message] as const] : []))

/** Why branches came to nothing, where none of them has completed. */
export const firstErrorIn = (all: SupervisorRun['now']['branches'] = {}): LadderErrorBody | undefined => {
  const branches = Object.values(all)
  return branches.some(({ status }) => status === 'completed') ? undefined : branches.find(({ error }) => error)?.error
}
