/** What the names in the chart of one step mean. */
import { type AnyActorLogic, type AnyStateMachine, assign, type EventObject, enqueueActions, sendParent, sendTo, setup } from 'xstate'
import type { AskReport } from '../../index.ts'
import { toldInside } from '../awaited.ts'
import { callEndActor } from '../calling/work.chart.rules.ts'
import type { Called } from '../calling/work.context.ts'
import { errorBody, type LadderErrorBody, wordsOf } from '../errors.ts'
import { apartIn, type RunEnd, runActor, waitingSince } from '../run.rules.ts'
import type { PlanStep } from './plan.rules.ts'
import { codeActor, judgeActor, type PlannerShape, stepChartOf } from './planner.chart.rules.ts'
import type { Judged, StepEnd, StepInput, StepRun } from './planner.context.ts'
import type { Done } from './planner.effects.ts'

type Ended = EventObject & { output?: unknown; error?: unknown }
type StepParts = { code: AnyActorLogic; judge: AnyActorLogic; endCalls: AnyActorLogic; run?: AnyActorLogic | undefined }

const doneIn = (event: EventObject): Done => (event as Ended).output as Done
/** Code has ended: what it has called stands beside what was called before. */
const withCalled = ({ called = [] }: StepRun, event: EventObject): Partial<StepRun> => {
  const { called: more = [] } = doneIn(event)
  return { calls: [], ...(called.length + more.length > 0 && { called: [...called, ...more] }) }
}
const runEndIn = (event: EventObject): RunEnd => (event as Ended).output as RunEnd

const cancelledError = ({ id }: PlanStep): LadderErrorBody =>
  errorBody('PLANNER_CANCELLED', `the step '${id}' was cancelled`, { context: { step: id } })

export const stepMachine = (
  shape: PlannerShape,
  capability: PlannerShape['capabilities'][number],
  { code, judge, endCalls, run }: StepParts,
): AnyStateMachine => {
  const broken = ({ step }: StepRun, what: string, thrown: unknown): LadderErrorBody =>
    errorBody('STEP_FAILED', `${what} the step '${step.id}': ${wordsOf(thrown)}`, { context: { step: step.id }, cause: thrown })
  const actors = {
    [codeActor(capability.name)]: code,
    ...(shape.isJudged && { [judgeActor]: judge }),
    [callEndActor]: endCalls,
    ...(run && { [runActor(capability.executable as string)]: run }),
  }
  return setup({
    types: { context: {} as StepRun, input: {} as StepInput, output: {} as StepEnd },
    actors: actors as unknown as Record<string, never>,
    actions: {
      takeValue: assign(({ context, event }) => ({ ...withCalled(context, event), value: (doneIn(event) as { output: unknown }).output })),
      takeOutput: assign(({ context, event }) => ({ ...doneIn(event), ...withCalled(context, event) })),
      takeCalled: assign(({ context, event }) => withCalled(context, event)),
      hear: assign(({ context, event }) => ({
        calls: apartIn({ waiting: waitingSince({ waiting: context.calls ?? [] }, event as unknown as AskReport) }),
      })),
      stop: assign(({ event }) => ({ reason: (event as { reason?: string }).reason ?? 'cancelled' })),
      takeRun: assign(({ event }) => {
        const { data, error, report, artifacts } = runEndIn(event)
        return { report, ...(artifacts && { artifacts }), ...(error ? { error } : { output: data }) }
      }),
      takeVerdict: assign(({ context, event }) => {
        const { called: _, ...judged } = (event as unknown as Ended).output as Judged & Called
        return { ...withCalled(context, event), judged }
      }),
      break: assign(({ context, event }) => ({ error: broken(context, 'what cannot be stored was given by', (event as unknown as Ended).error) })),
      breakVerdict: assign(({ context, event }) => ({
        error: broken(context, `onStep of '${shape.name}' failed after`, (event as unknown as Ended).error),
        judged: { decision: 'abort' as const },
      })),
      cancelRun: enqueueActions(({ event, enqueue }) => {
        enqueue.assign({ stopped: true as const })
        enqueue.sendTo('run', event)
      }),
      cutOff: assign(({ context: { step } }) => ({ error: cancelledError(step) })),
      passReport: sendParent(({ event }) => event),
      decide: sendTo('run', ({ event }) => event),
      passDown: enqueueActions(({ event, enqueue }) => {
        for (const one of toldInside(event)) enqueue.sendTo('run', one)
      }),
    },
    guards: {
      'has failed': ({ event }) => 'error' in doneIn(event),
      'was cancelled': ({ context }) => context.stopped === true,
      'has called': ({ context }) => (context.calls ?? []).length > 0,
    },
  }).createMachine({
    ...stepChartOf(shape, capability),
    context: ({ input }: { input: StepInput }): StepRun => input,
    output: ({ context: { output, error, report, called, artifacts, judged } }: { context: StepRun }): StepEnd => ({
      ...(error ? { error } : { output }),
      ...(report && { report }),
      ...(called && { called }),
      ...(artifacts && { artifacts }),
      decision: judged?.decision ?? null,
      ...(judged?.feedback !== undefined && { feedback: judged.feedback }),
    }),
  } as never) as unknown as AnyStateMachine
}
