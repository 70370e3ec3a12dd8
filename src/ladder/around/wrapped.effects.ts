/** The code of an author around a run of a workflow or a supervisor, by the names of its actors. */
import type { AnyActorLogic } from 'xstate'
import type { LadderUsage } from '../envelope.ts'
import type { RunState } from '../run.rules.ts'
import { enterLogic, type LayerCode, leaveLogic } from './layers.effects.ts'
import { enterActor, leaveActor } from './wrapped.chart.rules.ts'
import type { WrappedAround } from './wrapped.context.ts'

type AroundCode = Required<Omit<LayerCode, 'about'>> & { of: 'workflow' | 'supervisor'; usageOf: (run: never) => LadderUsage }
type Run = RunState & { around?: WrappedAround }

export const wrapActors = ({ of, usageOf, ...code }: AroundCode): Record<string, AnyActorLogic> => {
  const about = (run: Run) => ({ [of]: code.name, ...(run.around?.own && { input: run.around.own.input }), usage: usageOf(run as never) })
  return { [enterActor]: enterLogic({ ...code, about }), [leaveActor]: leaveLogic({ ...code, about }) }
}
