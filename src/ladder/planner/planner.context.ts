/** What a run of a planner remembers, and how each thing that happens changes it. Pure. */
import type { Report } from '../envelope.ts'
import type { LadderErrorBody } from '../errors.ts'
import {
  type RunInput as AnyRunInput,
  type Artifacts,
  began,
  below,
  callerOf,
  isWithin,
  type RunApart,
  type RunEnd,
  type RunState,
} from '../run.rules.ts'
import { needsOf, type Plan, type PlanStep, referencesIn } from './plan.rules.ts'

/** A step of one of the plans; times are ms since the epoch. */
export type StepRecord = {
  step: PlanStep
  /** Of which plan it is, from 1. */
  plan: number
  status: 'waiting' | 'running' | 'completed' | 'failed' | 'skipped' | 'cancelled'
  output?: unknown
  error?: LadderErrorBody
  attempts: number
  startedAt: number
  endedAt: number
  /** Runs inside of it that have ended. */
  reports: readonly Report[]
}

/** @property given a plan that was approved before the run began */
export type PlannerInput = AnyRunInput & { given?: unknown }
export type PlannerRun = RunState & {
  /** What is to be checked: what the model wrote, or a person gave. */
  proposed?: unknown
  /** Whether a person gave it. */
  isGiven: boolean
  plan?: Plan
  /** A plan that waits for a person. */
  awaits?: Plan | undefined
  plans: number
  replans: number
  /** Runs that planned. */
  planning: readonly Report[]
  records: readonly StepRecord[]
  /** What is to happen when nothing runs any more. */
  verdict?: 'abort' | 'replan' | undefined
  /** For the next plan: what is to be different. */
  feedback?: string | undefined
  /** Steps that had been begun when it was gone on with. */
  spent: number
  /** What tools gave beside their answers in steps that have ended. */
  artifacts?: Artifacts
  /** The run that plans is under way. */
  isPlanning: boolean
  /** Its steps are being done: they are what it goes on with. */
  isDoing: boolean
}

/** A step, as an actor of its own. */
export type StepInput = {
  runId: string
  plannerRunId: string
  /** By which name a caller has brought along a context. */
  caller: string
  /** Where its run stands. */
  inside: ReturnType<typeof below>
  step: PlanStep
  outputs: Readonly<Record<string, unknown>>
  attempt: number
}
/**
 * @property stopped it was cancelled: its author is not asked what is to follow
 * @property calls runs that its code has called, and that have not ended; `called` those that have
 */
export type StepRun = StepInput & {
  stopped?: true
  reason?: string
  calls?: readonly RunApart[]
  called?: readonly Report[]
  value?: unknown
  output?: unknown
  error?: LadderErrorBody
  report?: Report
  artifacts?: Artifacts
  judged?: Judged
}
/** @property decision null: nothing was said */
export type Judged = { decision: 'continue' | 'abort' | 'replan' | null; feedback?: string }
export type StepEnd = Pick<StepRun, 'output' | 'error' | 'report' | 'called' | 'artifacts'> & Judged
const reportsOf = ({ report, called = [] }: Pick<StepEnd, 'report' | 'called'>): readonly Report[] => [...(report ? [report] : []), ...called]

export const begun = (input: PlannerInput, at: number): PlannerRun => {
  const { given, ...run } = began(input, at)
  return {
    ...run,
    ...(given !== undefined && { proposed: given }),
    isGiven: given !== undefined,
    plans: 0,
    replans: 0,
    planning: [],
    records: [],
    spent: 0,
    isPlanning: false,
    isDoing: false,
  }
}

/** The run that plans next. */
export const planningRun = ({ runId, planning }: PlannerRun): string => `${runId}/plan()/${planning.length + 1}`

export const proposedBy = (run: PlannerRun, { data, report }: RunEnd): Partial<PlannerRun> => ({
  proposed: data,
  isGiven: false,
  isPlanning: false,
  planning: [...run.planning, report],
  waiting: run.waiting.filter(({ ask }) => !isWithin(ask, planningRun(run))),
})

export const completedIn = ({ records }: Pick<PlannerRun, 'records'>): readonly string[] =>
  records.flatMap(({ status, step }) => (status === 'completed' ? [step.id] : []))

export const outputsOf = ({ records }: Pick<PlannerRun, 'records'>): Record<string, unknown> =>
  Object.fromEntries(records.flatMap(({ status, step, output }) => (status === 'completed' ? [[step.id, output ?? null]] : [])))

/** Steps that have been completed are not run again; those that a plan before would have run are gone. */
export const adopted = (run: PlannerRun, plan: Plan, at: number): Partial<PlannerRun> => {
  const done = completedIn(run)
  const number = run.plans + 1
  const fresh = plan.steps
    .filter(({ id }) => !done.includes(id))
    .map((step): StepRecord => ({ step, plan: number, status: 'waiting', attempts: 0, startedAt: at, endedAt: at, reports: [] }))
  return {
    plan,
    plans: number,
    records: [...run.records.filter(({ status }) => status !== 'waiting'), ...fresh],
    awaits: undefined,
    proposed: undefined,
    feedback: undefined,
    verdict: undefined,
    isDoing: true,
  }
}

const isNow = ({ plans }: PlannerRun, record: StepRecord): boolean => record.plan === plans
const inNow = (run: PlannerRun, status: StepRecord['status']): readonly number[] =>
  run.records.flatMap((record, index) => (isNow(run, record) && record.status === status ? [index] : []))

export const running = (run: PlannerRun): readonly number[] => inNow(run, 'running')
export const isOver = (run: PlannerRun): boolean => running(run).length === 0 && inNow(run, 'waiting').length === 0
const attemptsIn = ({ records }: PlannerRun): number => records.reduce((sum, { attempts }) => sum + attempts, 0)
/** Since the run began, or was gone on with. */
export const begunSteps = (run: PlannerRun): number => attemptsIn(run) - run.spent

/** Those that wait for what will not be completed, in any plan that is followed. */
export const hopeless = (run: PlannerRun): readonly number[] => {
  const lost = new Set(run.records.flatMap((record) => (isNow(run, record) && isLost(record) ? [record.step.id] : [])))
  const found: number[] = []
  for (let more = true; more; ) {
    more = false
    for (const index of inNow(run, 'waiting')) {
      const { step } = run.records[index] as StepRecord
      if (lost.has(step.id) || !needsOf(step).some((need) => lost.has(need))) continue
      lost.add(step.id)
      found.push(index)
      more = true
    }
  }
  return found
}
const isLost = ({ status }: StepRecord): boolean => status === 'failed' || status === 'skipped' || status === 'cancelled'

/** Those that may begin. */
export const ready = (run: PlannerRun): readonly number[] => {
  const done = completedIn(run)
  return inNow(run, 'waiting').filter((index) => needsOf((run.records[index] as StepRecord).step).every((need) => done.includes(need)))
}

export const skipped = (run: PlannerRun, indexes: readonly number[], at: number): PlannerRun =>
  changed(run, indexes, () => ({ status: 'skipped', startedAt: at, endedAt: at }))

export const started = (run: PlannerRun, indexes: readonly number[], at: number): PlannerRun =>
  changed(run, indexes, ({ attempts }) => ({ status: 'running', attempts: attempts + 1, startedAt: at, endedAt: at }))

const changed = (run: PlannerRun, indexes: readonly number[], change: (record: StepRecord) => Partial<StepRecord>): PlannerRun => ({
  ...run,
  records: run.records.map((record, index) => (indexes.includes(index) ? { ...record, ...change(record) } : record)),
})

export const stepActorId = (index: number): string => `step-${index}`
export const indexOf = (actorId: string): number => Number(actorId.slice('step-'.length))

/** No two attempts of any step have one name. */
export const stepInput = (run: PlannerRun, index: number): StepInput => {
  const { step } = run.records[index] as StepRecord
  const outputs = outputsOf(run)
  return {
    runId: `${run.runId}/${step.id}`,
    plannerRunId: run.runId,
    caller: callerOf(run),
    inside: below(run, `${run.runId}/${step.id}`),
    step,
    outputs: Object.fromEntries(referencesIn(step.input).map((id) => [id, outputs[id]])),
    attempt: run.records.reduce((sum, record) => sum + (record.step.id === step.id ? record.attempts : 0), 0),
  }
}

/** In words that name the step once. */
export const failureOf = ({ id }: PlanStep, { message }: LadderErrorBody): string =>
  message.includes(`the step '${id}'`) ? message : `the step '${id}' failed: ${message}`

/** @param maxReplans a step that failed leads to another plan as long as there may be one */
export const stepEnded = (run: PlannerRun, index: number, end: StepEnd, maxReplans: number, at: number): Partial<PlannerRun> => {
  const { step } = run.records[index] as StepRecord
  const { output, error, artifacts, decision, feedback } = end
  const next = decision ?? (error === undefined ? 'continue' : run.replans < maxReplans ? 'replan' : 'abort')
  const after = changed(run, [index], ({ reports }) => ({
    ...(error ? { status: 'failed', error } : { status: 'completed', output }),
    endedAt: at,
    reports: [...reports, ...reportsOf(end)],
  }))
  const said = feedback ?? (next === 'replan' && error ? failureOf(step, error) : undefined)
  return {
    records: after.records,
    ...(artifacts && { artifacts: { ...run.artifacts, ...artifacts } }),
    waiting: run.waiting.filter(({ ask }) => !isWithin(ask, `${run.runId}/${step.id}`)),
    ...(next !== 'continue' && run.verdict !== 'abort' && { verdict: next }),
    ...(said !== undefined && { feedback: [...(run.feedback === undefined ? [] : [run.feedback]), said].join('\n') }),
  }
}

/** One that was cancelled has said what it used. */
export const stepLeft = (
  run: PlannerRun,
  index: number,
  end: Pick<StepEnd, 'output' | 'error' | 'report' | 'called'>,
  at: number,
): Partial<PlannerRun> => ({
  records: changed(run, [index], ({ reports }) => ({
    ...(end.error ? { status: 'cancelled' } : { status: 'completed', output: end.output }),
    endedAt: at,
    reports: [...reports, ...reportsOf(end)],
  })).records,
  waiting: run.waiting.filter(({ ask }) => !isWithin(ask, `${run.runId}/${(run.records[index] as StepRecord).step.id}`)),
})

/** What runs is cut off. */
export const cutOff = (run: PlannerRun, at: number): Partial<PlannerRun> => ({
  records: changed(run, running(run), () => ({ status: 'cancelled', endedAt: at })).records,
  waiting: [],
  isPlanning: false,
  endedAt: at,
})

/** What has been completed stays, and the plan as well. */
export const mended = (run: PlannerRun): Partial<PlannerRun> => ({
  error: undefined,
  verdict: undefined,
  waiting: [],
  isPlanning: false,
  spent: attemptsIn(run),
  records: run.isDoing
    ? run.records.map((record) => {
        const { error: _, ...rest } = record
        return isNow(run, record) && record.status !== 'completed' ? { ...rest, status: 'waiting' } : record
      })
    : run.records,
})
