import type { AnyStateMachine } from 'xstate'
import { pacedLoopMachine } from '../loop/paced-loop.machine.ts'
import { askMachine } from './ask.machine.ts'
import { askSetup } from './ask.setup.ts'

const { states } = askMachine.config as unknown as { states: { asking: { on: object } } }
const edge = { guard: 'isWatched', actions: 'report' }

/** An agent that is asked step by step: it says what it would do next, and waits until it is told to proceed. */
export const pacedAskMachine: AnyStateMachine = askSetup
  .createMachine({
    ...askMachine.config,
    description: 'An agent is asked, and goes on when it is told to.',
    states: {
      ...states,
      asking: { ...states.asking, on: { ...states.asking.on, 'step.wanted': edge, 'step.answered': edge, proceed: { actions: 'tellLoop' } } },
    },
  } as never)
  .provide({ actors: { loop: pacedLoopMachine as never } }) as unknown as AnyStateMachine
