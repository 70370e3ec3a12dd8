import { assign, fromPromise, raise, setup, stateIn } from 'xstate'
import { notProvided } from '../../actors/not-provided.setup.ts'
import type { ConversationEvent, HistoryRead } from './conversation.context.ts'

type Context = HistoryRead & {
  /** The run that somebody has stopped, until it has ended. */
  stopping: string | undefined
}

const known = ({ context: { messages } }: { context: Context }) => ({ messages })
const read = ({ event: { output } }: { event: { output: HistoryRead } }) => output
const keepRead = { type: 'keepRead', params: read } as const
const stopped = ({ event: { runId } }: { event: { runId: string } }) => ({ runId })

/** One conversation that a page has open. What is said in it passes beside the machine. */
export const conversationMachine = setup({
  types: { context: {} as Context, events: {} as ConversationEvent },
  actors: {
    /** Reads the newest messages, and no fewer than were known, and shows them. */
    readNewest: fromPromise<HistoryRead, { messages: number }>(notProvided),
    /** Reads those before the first that is known, and shows them all. */
    readEarlier: fromPromise<HistoryRead>(notProvided),
    /** Reads what no event tells, and shows it. */
    look: fromPromise<void>(notProvided),
  },
  guards: {
    hasEarlier: ({ context }) => context.more,
    isOvertaken: stateIn('#conversation.history.reading.overtaken'),
    isSeenTooEarly: stateIn('#conversation.session.looking.overtaken'),
  },
  actions: {
    keepRead: assign((_, { messages, more }: HistoryRead) => ({ messages, more })),
    keepStopped: assign({ stopping: (_, { runId }: { runId: string }) => runId }),
    forgetStopped: assign({ stopping: undefined }),
    wantLook: raise({ type: 'look' }),
  },
  delays: { pause: 2_000 },
}).createMachine({
  id: 'conversation',
  description:
    'One conversation that a page has open: when its history is read, when its session is looked at, and whether its run is being stopped.',
  context: { messages: 0, more: false, stopping: undefined },
  type: 'parallel',
  states: {
    history: {
      initial: 'away',
      on: { disconnected: '.away' },
      states: {
        away: { description: 'Nothing can be read. What is known is still shown.', on: { connected: 'reading' } },
        reading: {
          invoke: {
            src: 'readNewest',
            input: known,
            onDone: [
              { guard: 'isOvertaken', target: 'reading', reenter: true, actions: keepRead },
              { target: 'read', actions: [keepRead, 'wantLook'] },
            ],
            onError: 'failed',
          },
          initial: 'current',
          states: {
            current: { on: { outdated: 'overtaken' } },
            overtaken: { description: 'What was asked for before is not the answer to what is wanted now: it is shown, and read again.' },
          },
        },
        read: { on: { outdated: 'reading', earlier: { guard: 'hasEarlier', target: 'readingEarlier' } } },
        readingEarlier: {
          invoke: { src: 'readEarlier', onDone: { target: 'read', actions: keepRead }, onError: 'read' },
          on: { outdated: 'reading' },
        },
        failed: { description: 'There is a connection, and no answer.', on: { outdated: 'reading' }, after: { pause: 'reading' } },
      },
    },
    session: {
      initial: 'resting',
      states: {
        resting: { on: { look: 'looking', 'run.ended': 'looking' } },
        looking: {
          invoke: {
            src: 'look',
            onDone: [{ guard: 'isSeenTooEarly', target: 'looking', reenter: true }, { target: 'resting' }],
            onError: { description: 'The connection says for itself that it is gone.', target: 'resting' },
          },
          initial: 'current',
          states: {
            current: { on: { look: 'overtaken', 'run.ended': 'overtaken' } },
            overtaken: { description: 'It has changed since it was looked at.' },
          },
        },
      },
    },
    run: {
      initial: 'going',
      states: {
        going: { on: { stop: { target: 'stopping', actions: { type: 'keepStopped', params: stopped } } } },
        stopping: {
          description: 'Somebody has said stop, and it has not stopped yet.',
          exit: 'forgetStopped',
          on: { 'stop.refused': 'going', 'run.ended': 'going' },
        },
      },
    },
  },
})
