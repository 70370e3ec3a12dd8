import type { AnyStateMachine } from 'xstate'
import type { ModelCallOutput } from '../../contracts/model-call.ts'
import { loopMachine } from './loop.machine.ts'
import { loopSetup } from './loop.setup.ts'

type Arrow = { target?: string; guard?: unknown; actions?: unknown }
type State = { always: readonly Arrow[]; invoke: { onDone: readonly Arrow[] } }

const { states } = loopMachine.config as unknown as { states: Record<'prompting' | 'calling', State> }
const { prompting, calling } = states
const answer = ({ event }: { event: { output: ModelCallOutput } }) => ({ answer: event.output })

/** What is answered, with calls or without, is looked at first. */
const judged = calling.invoke.onDone.flatMap((arrow) => {
  if (arrow.target === 'invoking') return []
  return arrow.target === 'completed'
    ? [{ guard: { type: 'hasSomething', params: answer }, target: 'judging', actions: { type: 'takeAnswer', params: answer } }]
    : [arrow]
})

/**
 * The agent loop in the pace of whoever asks: it waits before each call of the model, and after each answer before its tools run. Derived, so that nothing but
 * the waiting differs; and a chart of its own, so that sessions do not carry it.
 */
export const pacedLoopMachine: AnyStateMachine = loopSetup.createMachine({
  ...loopMachine.config,
  description: 'The agent loop, step by step: whoever asks says when it goes on.',
  states: {
    ...states,
    prompting: { ...prompting, always: [...prompting.always.filter(({ target }) => target === 'failed'), { target: 'pacing' }] },
    pacing: {
      description: 'May the model be asked?',
      entry: 'tellWanted',
      on: {
        proceed: [
          { guard: 'isFull', target: 'compacting', actions: 'takeModel' },
          { target: 'calling', actions: 'takeModel' },
        ],
      },
    },
    calling: { ...calling, invoke: { ...calling.invoke, onDone: judged } },
    judging: {
      description: 'It was answered. May its tools run, or is it the answer?',
      entry: 'tellAnswered',
      on: {
        proceed: [
          { guard: 'wantsTools', target: 'invoking', actions: 'takeModel' },
          { guard: 'steered', target: 'steering' },
          { target: 'completed' },
        ],
      },
    },
  },
} as never) as unknown as AnyStateMachine
