/** What the names in the chart of a planner mean. */
import { type AnyActorLogic, type AnyStateMachine, assign, type EventObject, emit, enqueueActions, setup } from 'xstate'
import type { AskReport } from '../../index.ts'
import { endActions, type WhenEnded } from '../ending.ts'
import { errorBody, type LadderCode, type LadderErrorBody, wordsOf } from '../errors.ts'
import { actorIn } from '../events.rules.ts'
import { below, hasParent, isWithin, type RunEnd, rootOf, runActor, waitingSince } from '../run.rules.ts'
import type { Plan } from './plan.rules.ts'
import { chartOf, type PlannerShape, planActor, stepActor } from './planner.chart.rules.ts'
import {
  adopted,
  begun,
  begunSteps,
  cutOff,
  failureOf,
  hopeless,
  indexOf,
  isOver,
  mended,
  outputsOf,
  type PlannerInput,
  type PlannerRun,
  planningRun,
  proposedBy,
  ready,
  running,
  type StepEnd,
  type StepRecord,
  skipped,
  started,
  stepActorId,
  stepEnded,
  stepInput,
  stepLeft,
} from './planner.context.ts'
import type { Checked } from './planner.effects.ts'
import { reportOf } from './report.rules.ts'

type PlannerParts = { actors: Readonly<Record<string, AnyActorLogic>>; question: (run: PlannerRun) => string; now: () => number; ended: WhenEnded }
type Done = EventObject & { output?: unknown; error?: unknown }
type Word = { type: string } & Record<string, unknown>

const placeIn = (event: EventObject): number => indexOf(actorIn(event))
/** Actors that work inside of it. */
const runsIn = (run: PlannerRun): string[] => [...(run.isPlanning ? [planActor] : []), ...running(run).map(stepActorId)]
const runEndIn = (event: EventObject): RunEnd => (event as Done).output as RunEnd
const checkedIn = (event: EventObject): Checked => (event as Done).output as Checked
const planIn = (event: EventObject): Plan => (checkedIn(event) as { plan: Plan }).plan
const faultIn = (event: EventObject): LadderErrorBody | undefined => {
  const checked = checkedIn(event)
  return 'error' in checked ? checked.error : undefined
}

/** Of what somebody's code, or the journal, has thrown. */
const broken = (code: LadderCode, what: string, event: EventObject): LadderErrorBody => {
  const { error: cause } = event as Done
  return errorBody(code, `${what}: ${wordsOf(cause)}`, { cause })
}
const fault = (code: LadderCode, message: string, context: Record<string, unknown> = {}, hint?: string): LadderErrorBody =>
  errorBody(code, message, { context, hint })

export const plannerMachine = (shape: PlannerShape, { actors, question, now, ended }: PlannerParts): AnyStateMachine => {
  const { name, concurrency, maxSteps, maxReplans } = shape
  const word = (type: string, run: PlannerRun, more: object = {}): Word => ({
    type: `planner.${type}`,
    runId: run.runId,
    rootRunId: rootOf(run),
    planner: name,
    ...more,
  })
  const end = (run: PlannerRun, event: EventObject, step: StepEnd) => stepEnded(run, placeIn(event), step, maxReplans, now())
  const left = (run: PlannerRun): number => Math.min(concurrency - running(run).length, (maxSteps ?? Number.POSITIVE_INFINITY) - begunSteps(run))
  /** The step that has ended the run. */
  const lastFailed = ({ records }: PlannerRun): StepRecord | undefined => records.findLast(({ status }) => status === 'failed')
  return setup({
    types: { context: {} as PlannerRun, input: {} as PlannerInput, emitted: {} as Word, output: {} as RunEnd },
    actors: actors as Record<string, never>,
    actions: {
      begin: emit(({ context }) => word('starting', context)),
      startPlanning: enqueueActions(({ context, enqueue }) => {
        const input = { runId: planningRun(context), input: question(context), inside: below(context, context.runId) }
        enqueue.assign({ isPlanning: true })
        enqueue.spawnChild(runActor(shape.planner) as never, { id: planActor, input })
      }),
      /** It has ended, or nobody waits for it; where all are cancelled, it is told to end. */
      leavePlanning: enqueueActions(({ event, enqueue }) => {
        if (event.type !== 'cancel') enqueue.stopChild(planActor)
      }),
      tellPlanning: emit(({ context }) => word('planning', context)),
      tellReplanning: emit(({ context }) => word('replanning', context, { replans: context.replans, feedback: context.feedback ?? null })),
      takePlanning: assign(({ context, event }) => proposedBy(context, runEndIn(event))),
      adopt: assign(({ context, event }) => ({ ...adopted(context, planIn(event), now()), error: undefined })),
      tellPlanned: emit(({ context }) => word('planned', context, { plan: context.plan })),
      await: assign(({ event }) => ({ awaits: planIn(event), endedAt: now() })),
      tellAwaiting: emit(({ context }) => word('awaiting-approval', context, { plan: context.awaits })),
      /** The plan as it stands, or another one that a person made of it. */
      takeApproved: assign(({ context, event }) => ({
        proposed: (event as unknown as { plan?: unknown }).plan ?? context.awaits,
        isGiven: true,
        error: undefined,
      })),
      /** What a person gave cannot be followed: the plan before still waits. */
      refuse: assign(({ event }) => ({ error: faultIn(event), isGiven: false })),
      /** As many steps begin as may. */
      fill: enqueueActions(({ context, enqueue }) => {
        if (context.verdict !== undefined) return
        const lost = hopeless(context)
        const after = skipped(context, lost, now())
        const indexes = ready(after).slice(0, Math.max(0, left(after)))
        if (lost.length + indexes.length === 0) return
        const going = started(after, indexes, now())
        enqueue.assign({ records: going.records })
        for (const index of lost) enqueue.emit(word('step.skipped', context, stepWord(going, index)))
        for (const index of indexes) {
          enqueue.emit(word('step.starting', context, stepWord(going, index)))
          const { capability } = (going.records[index] as StepRecord).step
          enqueue.spawnChild(stepActor(capability) as never, { id: stepActorId(index), input: stepInput(going, index) })
        }
      }),
      takeStep: assign(({ context, event }) => end(context, event, (event as Done).output as StepEnd)),
      breakStep: assign(({ context, event }) =>
        end(context, event, { error: broken('STEP_FAILED', `a step of '${name}' broke`, event), decision: null }),
      ),
      tellStep: emit(({ context, event }) => {
        const { status = 'failed', error } = context.records[placeIn(event)] ?? {}
        return word(`step.${status}`, context, { ...stepWord(context, placeIn(event)), ...(error && { error }) })
      }),
      /** Only steps that run are alive. */
      dropActor: enqueueActions(({ event, enqueue }) => enqueue.stopChild(actorIn(event))),
      cancelRuns: enqueueActions(({ context, event, enqueue }) => {
        const { reason = 'the plan has ended' } = event as { reason?: string }
        for (const id of runsIn(context)) enqueue.sendTo(id, { type: 'cancel', reason })
      }),
      stopRuns: enqueueActions(({ context, enqueue }) => {
        for (const id of runsIn(context)) enqueue.stopChild(id)
      }),
      takeLeft: assign(({ context, event }) =>
        actorIn(event) === planActor
          ? { planning: [...context.planning, runEndIn(event).report], isPlanning: false }
          : stepLeft(context, placeIn(event), (event as Done).output as StepEnd, now()),
      ),
      breakLeft: assign(({ context, event }) =>
        actorIn(event) === planActor
          ? { isPlanning: false }
          : stepLeft(context, placeIn(event), { error: broken('STEP_FAILED', `a step of '${name}' broke`, event) }, now()),
      ),
      cutOff: assign(({ context }) => cutOff(context, now())),
      replan: assign(({ context }) => ({ replans: context.replans + 1, verdict: undefined, isDoing: false })),
      hear: assign(({ context, event }) => ({ waiting: waitingSince(context, event as unknown as AskReport) })),
      passReport: enqueueActions(({ context, event, enqueue }) => {
        if (hasParent(context)) enqueue.sendParent(event)
      }),
      /** It goes to the run that wants to make the call. */
      passDown: enqueueActions(({ context, event, enqueue }) => {
        for (const index of running(context)) enqueue.sendTo(stepActorId(index), event)
      }),
      decide: enqueueActions(({ context, event, enqueue }) => {
        const { ask } = event as unknown as { ask: string }
        if (isWithin(ask, planningRun(context))) enqueue.sendTo(planActor, event)
        for (const index of running(context)) if (isWithin(ask, stepInput(context, index).runId)) enqueue.sendTo(stepActorId(index), event)
      }),
      failToPlan: assign(({ event }) => {
        const { error } = runEndIn(event)
        return {
          error: {
            ...fault('PLANNER_FAILED', `no plan was made for '${name}': ${error?.message}`, { code: error?.code }),
            ...(error && { cause: error.message }),
          },
        }
      }),
      failInvalid: assign(({ event }) => ({ error: faultIn(event), feedback: faultIn(event)?.message })),
      failToWait: assign({
        error: fault(
          'PLANNER_FAILED',
          `a plan of '${name}' cannot wait for approval inside of another run`,
          {},
          'leave planOnly out, or execute the planner by itself',
        ),
      }),
      abort: assign(({ context }) => {
        const failure = lastFailed(context)
        const message = failure?.error ? `'${name}' has ended: ${failureOf(failure.step, failure.error)}` : `onStep of '${name}' has ended the run`
        return {
          ...cutOff(context, now()),
          error: fault(
            'PLANNER_FAILED',
            message,
            failure ? { step: failure.step.id, code: failure.error?.code } : {},
            'resume() does what is left of the plan once more',
          ),
        }
      }),
      failToReplan: assign({
        error: fault('PLANNER_FAILED', `'${name}' would plan anew, and has done so ${maxReplans} times`, { maxReplans }),
        verdict: undefined,
      }),
      wearOut: assign({ error: fault('PLANNER_FAILED', `'${name}' has begun ${maxSteps} steps and would go on`, { maxSteps: maxSteps ?? null }) }),
      breakDown: assign(({ event }) => ({
        error: broken('PLANNER_FAILED', `a plan of '${name}' cannot be stored`, event),
      })),
      failToConclude: assign(({ event }) => ({
        endedAt: now(),
        error: broken('PLANNER_FAILED', `the output of '${name}' could not be made`, event),
      })),
      takeData: assign(({ event }) => ({ data: (event as Done).output })),
      complete: assign(({ context }) => ({ endedAt: now(), ...(!shape.isConcluded && { data: outputsOf(context) }) })),
      cancel: assign(({ context, event }) => ({
        error: fault('PLANNER_CANCELLED', `'${name}' was cancelled`, {
          cancelledAt: context.records.filter(({ status }) => status === 'completed').length,
          reason: (event as { reason?: string }).reason ?? null,
        }),
      })),
      mend: assign(({ context }) => mended(context)),
      end: assign({ endedAt: () => now() }),
      ...endActions(ended, word),
    },
    guards: {
      'is inside': ({ context }) => context.inside !== undefined,
      'was given': ({ context }) => context.isGiven,
      'is approved': ({ context }) => context.isGiven,
      'was awaited': ({ context }) => context.awaits !== undefined,
      'was doing': ({ context }) => context.isDoing,
      'came to nothing': ({ event }) => runEndIn(event).error !== undefined,
      'is invalid': ({ event }) => faultIn(event) !== undefined,
      'is invalid and was awaited': ({ context, event }) => faultIn(event) !== undefined && context.awaits !== undefined,
      'runs inside': ({ context }) => runsIn(context).length > 0,
      'runs nothing': ({ context }) => runsIn(context).length === 0,
      aborts: ({ context }) => context.verdict === 'abort',
      'may replan': ({ context }) => context.verdict === 'replan' && running(context).length === 0 && context.replans < maxReplans,
      'may not replan': ({ context }) => context.verdict === 'replan' && running(context).length === 0,
      'wears out': ({ context }) => !isOver(context) && running(context).length === 0 && maxSteps !== undefined && begunSteps(context) >= maxSteps,
      'is over': ({ context }) => isOver(context),
    },
  }).createMachine({
    ...chartOf(shape),
    context: ({ input }: { input: PlannerInput }) => begun(input, now()),
    output: ({ context }: { context: PlannerRun }): RunEnd => ({
      ...(context.error ? { error: context.error } : { data: context.data }),
      report: reportOf(shape, context),
      ...(context.artifacts && { artifacts: context.artifacts }),
    }),
  } as never) as unknown as AnyStateMachine
}

const stepWord = ({ records }: PlannerRun, index: number) => {
  const { id, capability } = (records[index] as StepRecord).step
  return { step: id, capability }
}
