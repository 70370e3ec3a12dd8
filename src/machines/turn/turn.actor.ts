/** Gives {@link turnMachine} and {@link loopMachine} their effects. */
import type { AnyActorLogic } from 'xstate'
import { placeable } from '../../actors/index.ts'
import { loopMachine } from '../loop/loop.machine.ts'
import { pacedLoopMachine } from '../loop/paced-loop.machine.ts'
import { toolMachine } from '../tool-call/tool.machine.ts'
import { lookUpMachine } from '../understanding/lookup.machine.ts'
import { understandingMachine } from '../understanding/understanding.machine.ts'
import { laneActor } from './lane.effects.ts'
import type { Publisher } from './publisher.setup.ts'
import { turnMachine, turnWith } from './turn.machine.ts'
import type { LocalServices, TurnEffects } from './turn.services.ts'

type Effects = Omit<TurnEffects, 'askAside'>

const partsOf = ({ callModel, summarise, execute, checkTool, lookUp, say }: Effects) => {
  const lookup = lookUpMachine.provide({ actors: { lookUp: placeable(lookUp) } })
  const understanding = understandingMachine.provide({ actors: { lookup, say: placeable(say) } })
  const tool = toolMachine.provide({ actors: { execute: placeable(execute), check: placeable(checkTool) } })
  const actors = { callModel: placeable(callModel), summarise: placeable(summarise), tool, understanding }
  return { loop: loopMachine.provide({ actors }), paced: pacedLoopMachine.provide({ actors }), understanding }
}

/** The agent loop alone, for machines that are no sessions: by itself, and in their pace. */
export const loopActors = (effects: Effects): { loop: AnyActorLogic; paced: AnyActorLogic } => partsOf(effects)

export const turnActor = (effects: Effects, { lanes, clock, log }: LocalServices, publisher?: Publisher) => {
  const { loop, understanding } = partsOf(effects)
  return (publisher ? turnWith(publisher) : turnMachine).provide({ actors: { loop, understanding, lane: laneActor({ lanes, clock, log }) } })
}
