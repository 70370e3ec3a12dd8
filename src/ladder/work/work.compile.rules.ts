/** What the names mean that all charts with work in them share. */
import { assign, type EventObject, enqueueActions } from 'xstate'
import type { AskReport } from '../../index.ts'
import { eventIn, toldInside } from '../awaited.ts'
import type { HistoryReader } from '../history.rules.ts'
import { type DecisionEvent, decidedSince, hasParent, type RunEnd, runActor, waitingSince } from '../run.rules.ts'
import { runOf } from './work.chart.rules.ts'
import { answered, asking, attempted, dropped, isInWork, nestedInput, type WorkAsks, type WorkState, workWithRun } from './work.context.ts'

type Params = { step: string }
type Scope = { context: WorkState; event: EventObject }
type Done = EventObject & { output: unknown }

const wantsRun = (event: EventObject): WorkAsks | undefined => {
  const end = (event as Done).output as { ended?: string } | undefined
  return end?.ended === 'asks' ? (end as WorkAsks) : undefined
}

/** What is remembered of work whose run has ended because all are cancelled. */
type CutOff = (run: never, work: string, end: RunEnd, at: number) => Partial<WorkState>

/** The work whose run has ended. */
const workOf = (run: WorkState, event: EventObject): string | undefined =>
  Object.keys(run.going).find((work) => runOf(work) === (event as unknown as { actorId: string }).actorId)

/** Their types are those of the machine that takes them. */
export const workActions = (now: () => number, cutOff: CutOff = answered): Record<string, never> =>
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
    /** Its time is up, say: nobody waits for it. Where all are cancelled, it is told to end. */
    leaveRun: enqueueActions(({ event, enqueue }, { step }: Params) => {
      if (event.type !== 'cancel') enqueue.stopChild(runOf(step))
    }),
    /** A step of its own may wait for it; whoever holds a run has told it that. */
    takeTold: enqueueActions(({ context, event, enqueue }) => {
      if (!hasParent(context)) enqueue.raise(eventIn(event))
    }),
    passDown: enqueueActions(({ context, event, enqueue }) => {
      for (const work of workWithRun(context as WorkState)) for (const one of toldInside(event)) enqueue.sendTo(runOf(work), one)
    }),
    cancelRuns: enqueueActions(({ context, event, enqueue }) => {
      for (const work of workWithRun(context as WorkState)) enqueue.sendTo(runOf(work), event)
    }),
    takeCutOff: enqueueActions(({ context, event, enqueue }) => {
      const work = workOf(context as WorkState, event)
      if (work === undefined) return
      enqueue.assign(cutOff(context as never, work, (event as Done).output as RunEnd, now()))
      enqueue.stopChild(runOf(work))
    }),
    dropRun: enqueueActions(({ context, event, enqueue }) => {
      const work = workOf(context as WorkState, event)
      if (work !== undefined) enqueue.assign(dropped(context as WorkState, work))
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

export const workGuards: Record<string, never> = {
  'is inside': ({ context }: Scope) => context.inside !== undefined,
  'runs inside': ({ context }: Scope) => workWithRun(context).length > 0,
  'nothing runs inside': ({ context }: Scope) => workWithRun(context).length === 0,
  asks: ({ event }: Scope) => wantsRun(event) !== undefined,
} as unknown as Record<string, never>
