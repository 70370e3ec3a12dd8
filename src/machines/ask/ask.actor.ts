/** The machine that asks an agent, for machines of any author, and what it is given by the runtime in which they are registered. */
import type { AnyActorLogic, AnyStateMachine, PromiseActorLogic } from 'xstate'
import { fromTask } from '../../actors/index.ts'
import type { AskInput, AskOutput } from '../../contracts/ask.ts'
import type { Profile } from '../../contracts/profile.ts'
import { loopMachine } from '../loop/loop.machine.ts'
import { pacedLoopMachine } from '../loop/paced-loop.machine.ts'
import { loopActors } from '../turn/turn.actor.ts'
import type { TurnEffects } from '../turn/turn.services.ts'
import { askMachine } from './ask.machine.ts'
import { profileActor } from './ask.setup.ts'
import { pacedAskMachine } from './paced-ask.machine.ts'

/**
 * Asks an agent: `setup({ actors: { research: askAgent } })`, and then `invoke: { src: 'research', input: ({ context }) => ({ agent: 'researcher',
 * conversation: 'research', text: context.topic }) }`. Its answer is an {@link AskOutput}, also where it failed; it takes `{ type: 'cancel' }`, and with
 * `reports` what a person decides.
 */
export const askAgent = askMachine as unknown as PromiseActorLogic<AskOutput, AskInput>

/**
 * The same step by step, for a machine that wants to have a say in it. With `reports` it tells what it would do next (`step.wanted`: ask the model;
 * `step.answered`: run the tools of its answer, or take it), and does so when it is sent `{ type: 'proceed' }`. `cancel` ends it there; what was said is kept.
 */
export const askAgentByStep = pacedAskMachine as unknown as PromiseActorLogic<AskOutput, AskInput>

type AskServices = {
  /** @throws RuntimeError not_found */
  profile(agent: string, conversation: string): Profile
}

/** A machine in which agents are asked, with what that takes. The same machine where none is. */
export const withAgents = (machine: AnyStateMachine, effects: TurnEffects, { profile }: AskServices): AnyStateMachine => {
  const { loop, paced } = loopActors(effects)
  const asked = fromTask<Profile, Pick<AskInput, 'agent' | 'conversation'>>(async ({ input }) => profile(input.agent, input.conversation))
  const seen = new Map<unknown, AnyActorLogic>([
    [loopMachine, loop],
    [pacedLoopMachine, paced],
    [profileActor, asked as AnyActorLogic],
  ])
  const provided = (logic: AnyActorLogic): AnyActorLogic => {
    const known = seen.get(logic)
    if (known) return known
    if (!('implementations' in logic)) return logic
    // One that spawns its own kind is left as it is there.
    seen.set(logic, logic)
    const { actors } = logic.implementations as { actors: Record<string, AnyActorLogic> }
    const changed = Object.fromEntries(Object.entries(actors).flatMap(([name, one]) => (provided(one) === one ? [] : [[name, provided(one)]])))
    const made =
      Object.keys(changed).length === 0 ? logic : ((logic as unknown as AnyStateMachine).provide({ actors: changed } as never) as AnyActorLogic)
    seen.set(logic, made)
    return made
  }
  return provided(machine as AnyActorLogic) as unknown as AnyStateMachine
}
