/** What the names mean that all charts with work in them share. */
import { assign, type EventObject, enqueueActions } from 'xstate'
import type { AskReport } from '../../index.ts'
import { type RunEnd, waitingSince } from '../run.rules.ts'
import { runOf } from './work.chart.rules.ts'
import { answered, asking, attempted, isInWork, type WorkAsks, type WorkState } from './work.context.ts'

type Params = { step: string }
type Scope = { context: WorkState; event: EventObject }
type Done = EventObject & { output: unknown }

const wantsRun = (event: EventObject): WorkAsks | undefined => {
  const end = (event as Done).output as { ended?: string } | undefined
  return end?.ended === 'asks' ? (end as WorkAsks) : undefined
}

/** Their types are those of the machine that takes them. */
export const workActions = (now: () => number): Record<string, never> =>
  ({
    attempt: assign(({ context }: Scope, { step }: Params) => attempted(context, step, now())),
    ask: assign(({ context, event }: Scope, { step }: Params) => {
      const wanted = wantsRun(event)
      return wanted ? asking(context, step, wanted) : {}
    }),
    takeAnswer: assign(({ context, event }: Scope, { step }: Params) => answered(context, step, (event as Done).output as RunEnd)),
    hear: assign(({ context, event }: Scope) => ({ waiting: waitingSince(context, event as unknown as AskReport) })),
    /** A run that stands in another one may have a journal of its own all the same: then it is asked itself who waits in it. */
    passReport: enqueueActions(({ context, event, enqueue, self }) => {
      if ((context as WorkState).inside && self._parent) enqueue.sendParent(event)
    }),
    /** It goes to the run that wants to make the call. */
    decide: enqueueActions(({ context, event, enqueue }) => {
      const { ask } = event as unknown as { ask: string }
      const run = context as WorkState
      for (const work of Object.keys(run.going)) if (isInWork(ask, run, work)) enqueue.sendTo(runOf(work), event)
    }),
  }) as unknown as Record<string, never>

export const workGuards: Record<string, never> = {
  'is inside': ({ context }: Scope) => context.inside !== undefined,
  asks: ({ event }: Scope) => wantsRun(event) !== undefined,
} as unknown as Record<string, never>
