import type { LoopOutput, TurnStatus } from '../../contracts/turn.ts'
import { loopInput, output } from './ask.context.ts'
import { askSetup } from './ask.setup.ts'

const ended = ({ event }: { event: { output: LoopOutput } }) => ({ answer: event.output })
const edge = { guard: 'isWatched', actions: 'report' } as const

/** An agent that is asked once by a machine of any kind, in a conversation inside of that one's actor. */
export const askMachine = askSetup.createMachine({
  id: 'ask',
  description: 'An agent is asked, and works until it has an answer.',
  context: ({ input }) => ({ input, profile: null, answer: null, error: null, waiting: [] }),
  output: ({ context, event }) => output(context, (event as unknown as { output: TurnStatus }).output),
  initial: 'configuring',
  states: {
    configuring: {
      description: 'How does this agent run today?',
      invoke: {
        id: 'profile',
        src: 'profile',
        input: ({ context: { input } }) => ({ agent: input.agent, conversation: input.conversation }),
        onDone: { target: 'asking', actions: [{ type: 'takeProfile', params: ({ event }) => ({ profile: event.output }) }, 'say'] },
        onError: { target: 'failed', actions: { type: 'rememberError', params: ({ event }) => ({ error: event.error }) } },
      },
      on: { cancel: 'cancelled' },
    },
    asking: {
      description: 'The agent loop works, or waits for a person.',
      invoke: {
        id: 'loop',
        src: 'loop',
        input: loopInput,
        onDone: [
          { guard: { type: 'hasFailed', params: ended }, target: 'failed', actions: { type: 'takeAnswer', params: ended } },
          { guard: { type: 'wasCancelled', params: ended }, target: 'cancelled', actions: { type: 'takeAnswer', params: ended } },
          { target: 'completed', actions: { type: 'takeAnswer', params: ended } },
        ],
      },
      on: {
        approve: { actions: 'tellLoop' },
        answer: { actions: 'tellLoop' },
        cancel: { actions: 'tellLoop' },
        'model.started': edge,
        'model.ended': edge,
        'tool.started': edge,
        'tool.ended': edge,
        'tool.delegated': edge,
        'tool.waiting': [{ guard: 'isWatched', target: '.awaiting-input', actions: ['keepWaiting', 'report'] }],
        'tool.decided': [{ guard: 'isWatched', actions: ['endWaiting', 'report'] }],
      },
      after: { wallTime: { actions: { type: 'expire', params: { why: 'wallTime' } } } },
      initial: 'answering',
      states: {
        answering: { after: { runTimeout: { actions: { type: 'expire', params: { why: 'runTimeout' } } } } },
        'awaiting-input': {
          description: 'At least one call waits for a person: that takes as long as it takes.',
          tags: 'waiting',
          always: { guard: 'nobodyWaits', target: 'answering' },
        },
      },
    },
    completed: { type: 'final', output: 'completed' },
    failed: { type: 'final', output: 'failed' },
    cancelled: { type: 'final', output: 'cancelled' },
  },
})
