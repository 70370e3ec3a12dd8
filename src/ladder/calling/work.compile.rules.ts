/** What the names mean that all charts with work in them share. */
import { assign, type EventObject, enqueueActions } from 'xstate'
import type { AskReport } from '../../index.ts'
import { eventIn, toldInside } from '../awaited.ts'
import { actorIn } from '../events.rules.ts'
import type { HistoryReader } from '../history.rules.ts'
import { type DecisionEvent, decidedSince, hasParent, type RunApart, type RunEnd, runActor, waitingSince } from '../run.rules.ts'
import type { CallEndInput } from './calls.effects.ts'
import { callEndActor, runOf, timeOf } from './work.chart.rules.ts'
import {
  answered,
  asking,
  attempted,
  calledBy,
  dropped,
  isInWork,
  leaving,
  leftCall,
  nestedInput,
  type WorkAsks,
  type WorkState,
  workWithRun,
} from './work.context.ts'

type Params = { step: string }
type Scope = { context: WorkState; event: EventObject }
type Done = EventObject & { output: unknown }

const wantsRun = (event: EventObject): WorkAsks | undefined => {
  const end = (event as Done).output as { ended?: string } | undefined
  return end?.ended === 'asks' ? (end as WorkAsks) : undefined
}

/** What is remembered besides of work whose run has ended because all are cancelled. */
type CutOff = (run: never, work: string, at: number) => Partial<WorkState>

/** The work whose run has ended. */
const workOf = (run: WorkState, event: EventObject): string | undefined => Object.keys(run.going).find((work) => runOf(work) === actorIn(event))

const callEndOf = ({ ask }: RunApart): string => `end of ${ask}`
/** The run apart that has ended, or that could not be told. */
const callOf = (run: WorkState, event: EventObject): RunApart | undefined => calledBy(run).find((one) => callEndOf(one) === actorIn(event))

/** Their types are those of the machine that takes them. */
export const workActions = (now: () => number, cutOff: CutOff = () => ({})): Record<string, never> =>
  ({
    attempt: assign(({ context }: Scope, { step }: Params) => attempted(context, step, now())),
    ask: assign(({ context, event }: Scope, { step }: Params) => {
      const wanted = wantsRun(event)
      return wanted ? asking(context, step, wanted) : {}
    }),
    takeAnswer: assign(({ context, event }: Scope, { step }: Params) => answered(context, step, (event as Done).output as RunEnd)),
    startRun: enqueueActions(({ context, enqueue }, { step, executable, reader }: Params & { executable: string; reader?: HistoryReader }) => {
      enqueue.spawnChild(runActor(executable) as never, { id: runOf(step), input: nestedInput(context as WorkState, step, reader) })
    }),
    /** It has ended, or nobody waits for it. Where all are cancelled, or its time is up, it is told to end. */
    leaveRun: enqueueActions(({ event, enqueue }, { step }: Params) => {
      if (event.type !== 'cancel' && !event.type.startsWith(`xstate.after.${timeOf(step)}.`)) enqueue.stopChild(runOf(step))
    }),
    /** A step of its own may wait for it; whoever holds a run has told it that. */
    takeTold: enqueueActions(({ context, event, enqueue }) => {
      if (!hasParent(context)) enqueue.raise(eventIn(event))
    }),
    passDown: enqueueActions(({ context, event, enqueue }) => {
      for (const work of workWithRun(context as WorkState)) for (const one of toldInside(event)) enqueue.sendTo(runOf(work), one)
    }),
    cancelRuns: enqueueActions(({ context, event, enqueue }) => {
      const { reason = 'cancelled' } = event as { reason?: string }
      endRuns(enqueue, context as WorkState, workWithRun(context as WorkState), calledBy(context as WorkState), reason)
    }),
    /** Of one piece of work. */
    cancelRun: enqueueActions(({ context, enqueue }, { step }: Params) => {
      const run = context as WorkState
      endRuns(enqueue, run, workWithRun(run).includes(step) ? [step] : [], calledBy(run, step), `the time of '${step}' is up`)
    }),
    stopRun: enqueueActions(({ context, enqueue }, { step }: Params) => {
      const run = context as WorkState
      enqueue.stopChild(runOf(step))
      enqueue.assign({ waiting: run.waiting.filter(({ ask }) => !isInWork(ask, run, step)) })
    }),
    takeCutOff: enqueueActions(({ context, event, enqueue }) => {
      const run = context as WorkState
      const end = (event as Done).output as RunEnd | null
      const call = callOf(run, event)
      const work = call?.apart.work ?? workOf(run, event)
      if (work === undefined) return
      const kept = { ...run, ...(call ? leftCall(run, call, end) : answered(run, work, end as RunEnd)) }
      enqueue.assign({ ...kept, ...(end && cutOff(kept as never, work, now())) })
      enqueue.stopChild(actorIn(event))
    }),
    dropRun: enqueueActions(({ context, event, enqueue }) => {
      const run = context as WorkState
      const call = callOf(run, event)
      if (call) enqueue.assign(leftCall(run, call, null))
      const work = workOf(run, event)
      if (work !== undefined) enqueue.assign(dropped(run, work))
    }),
    stopRuns: enqueueActions(({ context, enqueue }) => {
      for (const work of workWithRun(context as WorkState)) enqueue.stopChild(runOf(work))
    }),
    hear: assign(({ context, event }: Scope) => ({ waiting: waitingSince(context, event as unknown as AskReport) })),
    /** A run that stands in another one may have a journal of its own all the same: then it is asked itself who waits in it. */
    passReport: enqueueActions(({ context, event, enqueue }) => {
      if (hasParent(context)) enqueue.sendParent(event)
    }),
    /** It goes to the run that wants to make the call. */
    decide: enqueueActions(({ context, event, enqueue }) => {
      const { ask } = event as unknown as { ask: string }
      const run = context as WorkState
      enqueue.assign({ decided: decidedSince(run, event as unknown as DecisionEvent) })
      for (const work of Object.keys(run.going)) if (isInWork(ask, run, work)) enqueue.sendTo(runOf(work), event)
    }),
  }) as unknown as Record<string, never>

type Enqueue = {
  sendTo: (id: string, event: EventObject) => void
  spawnChild: (src: never, options: never) => void
  assign: (changed: object) => void
}

const endRuns = (enqueue: Enqueue, run: WorkState, works: readonly string[], all: readonly RunApart[], reason: string): void => {
  for (const work of works) enqueue.sendTo(runOf(work), { type: 'cancel', reason } as EventObject)
  const called = all.filter(({ apart }) => !apart.isLeft)
  for (const one of called) {
    const input: CallEndInput = { ...one, reason }
    enqueue.spawnChild(callEndActor as never, { id: callEndOf(one), input } as never)
  }
  if (called.length > 0) enqueue.assign(leaving(run, called))
}

const hasInside = (run: WorkState, work: string): boolean => workWithRun(run).includes(work) || calledBy(run, work).length > 0
const runsAny = (run: WorkState): boolean => workWithRun(run).length + calledBy(run).length > 0

export const workGuards: Record<string, never> = {
  'is inside': ({ context }: Scope) => context.inside !== undefined,
  'runs inside': ({ context }: Scope) => runsAny(context),
  'nothing runs inside': ({ context }: Scope) => !runsAny(context),
  'has a run inside': ({ context }: Scope, { step }: Params) => hasInside(context, step),
  'has no run inside': ({ context }: Scope, { step }: Params) => !hasInside(context, step),
  'is inside of': ({ context, event }: Scope, { step }: Params) => (callOf(context, event)?.apart.work ?? workOf(context, event)) === step,
  asks: ({ event }: Scope) => wantsRun(event) !== undefined,
} as unknown as Record<string, never>
