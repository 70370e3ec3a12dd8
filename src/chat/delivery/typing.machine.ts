import { assign, emit, setup } from 'xstate'
import type { FullDelivery } from '../../contracts/channel.ts'

/** What happens in a turn, as far as it may be seen that somebody types. */
export type TypingEvent =
  /** The turn begins, or has something to send at its end. */
  | { type: 'run.start' }
  /** The model begins to say something. */
  | { type: 'message.start' }
  | { type: 'reasoning' }
  /** Text that is not silent. */
  | { type: 'text' }
  /** A tool begins, or goes on. */
  | { type: 'tool' }
  /** Nothing more will be said. */
  | { type: 'run.complete' }
  /** Nothing more will be sent. */
  | { type: 'cleanup' }

type TypingEmitted = { type: 'typing' } | { type: 'stopped' }

type Context = FullDelivery['typing'] & { sawText: boolean; complete: boolean }

/**
 * Whether a channel shows that the agent is typing while a turn goes on. It runs beside the effect that delivers, and is not journalled. Once the turn is over and
 * everything is sent, nothing starts it again.
 */
export const typingMachine = setup({
  types: {
    input: {} as FullDelivery['typing'],
    context: {} as Context,
    events: {} as TypingEvent,
    emitted: {} as TypingEmitted,
  },
  guards: {
    startsWithRun: ({ context }) => mayType(context) && context.mode === 'instant',
    startsWithMessage: ({ context }) => mayType(context) && context.mode === 'message' && context.sawText,
    startsWithReasoning: ({ context }) => mayType(context) && context.mode === 'thinking',
    mayType: ({ context }) => mayType(context),
  },
  delays: {
    every: ({ context }) => context.everyMs,
    lifetime: ({ context }) => context.lifetimeMs,
  },
  actions: {
    giveSign: emit({ type: 'typing' }),
    takeSignBack: emit({ type: 'stopped' }),
    noteText: assign({ sawText: true }),
    noteComplete: assign({ complete: true }),
  },
}).createMachine({
  id: 'typing',
  description: 'Whether somebody is seen to type while a turn goes on.',
  context: ({ input }) => ({ ...input, sawText: false, complete: false }),
  initial: 'idle',
  on: {
    'run.complete': { actions: 'noteComplete' },
    cleanup: '.sealed',
  },
  states: {
    idle: {
      description: 'Nobody is seen to type.',
      on: {
        'run.start': { guard: 'startsWithRun', target: 'typing' },
        'message.start': { guard: 'startsWithMessage', target: 'typing' },
        reasoning: { guard: 'startsWithReasoning', target: 'typing' },
        text: { guard: 'mayType', target: 'typing', actions: 'noteText' },
        tool: { guard: 'mayType', target: 'typing' },
      },
    },
    typing: {
      description: 'The sign is given again and again, until there was no activity for its lifetime.',
      exit: 'takeSignBack',
      type: 'parallel',
      states: {
        sign: {
          initial: 'given',
          states: { given: { entry: 'giveSign', after: { every: { target: 'given', reenter: true } } } },
        },
        life: {
          initial: 'running',
          states: {
            running: {
              after: { lifetime: '#typing.idle' },
              on: {
                'run.start': { target: 'running', reenter: true },
                'message.start': { target: 'running', reenter: true },
                reasoning: { target: 'running', reenter: true },
                text: { target: 'running', reenter: true, actions: 'noteText' },
                tool: { target: 'running', reenter: true },
              },
            },
          },
        },
      },
    },
    sealed: { description: 'It is over: whatever comes late changes nothing.', type: 'final' },
  },
})

const mayType = ({ mode, everyMs, complete }: Context): boolean => mode !== 'never' && everyMs > 0 && !complete
