/** Gives {@link turnMachine} its effects. */
import { fromWork } from '../../actors/index.ts'
import { loopMachine } from '../loop/loop.machine.ts'
import { toolMachine } from '../tool-call/tool.machine.ts'
import { laneActor } from './concurrency.effects.ts'
import type { Publisher } from './publisher.setup.ts'
import { turnMachine, turnWith } from './turn.machine.ts'
import type { TurnPlace, TurnWorks } from './turn.services.ts'

export const turnActor = ({ callModel, summarise, execute }: TurnWorks, { lanes, clock, log }: TurnPlace, publisher?: Publisher) => {
  const tool = toolMachine.provide({ actors: { execute: fromWork(execute) } })
  const loop = loopMachine.provide({ actors: { callModel: fromWork(callModel), summarise: fromWork(summarise), tool } })
  return (publisher ? turnWith(publisher) : turnMachine).provide({ actors: { loop, lane: laneActor({ lanes, clock, log }) } })
}
