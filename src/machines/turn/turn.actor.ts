/** Gives {@link turnMachine} its effects. */
import { placeable } from '../../actors/index.ts'
import { loopMachine } from '../loop/loop.machine.ts'
import { toolMachine } from '../tool-call/tool.machine.ts'
import { laneActor } from './lane.effects.ts'
import type { Publisher } from './publisher.setup.ts'
import { turnMachine, turnWith } from './turn.machine.ts'
import type { LocalServices, TurnEffects } from './turn.services.ts'

type Effects = Omit<TurnEffects, 'askAside'>

export const turnActor = ({ callModel, summarise, execute, checkTool }: Effects, { lanes, clock, log }: LocalServices, publisher?: Publisher) => {
  const tool = toolMachine.provide({ actors: { execute: placeable(execute), check: placeable(checkTool) } })
  const loop = loopMachine.provide({ actors: { callModel: placeable(callModel), summarise: placeable(summarise), tool } })
  return (publisher ? turnWith(publisher) : turnMachine).provide({ actors: { loop, lane: laneActor({ lanes, clock, log }) } })
}
