import { assign, fromPromise, setup } from 'xstate'
import { notProvided } from '../../actors/not-provided.setup.ts'

type AnswerEvent =
  /** A person is asked, and nothing else goes on; or something goes on again. */
  { type: 'waits' } | { type: 'goes.on' } | { type: 'reader.came' } | { type: 'reader.left' }

type Context = { readers: number; error: unknown }

/** One answer while it is recorded for those who read it as a UI stream. What is said passes beside the machine. */
export const answerMachine = setup({
  types: {
    context: {} as Context,
    events: {} as AnswerEvent,
  },
  actors: {
    /** Takes in what the session says, up to the outcome. */
    record: fromPromise<void>(notProvided),
  },
  guards: { nobodyReads: ({ context }) => context.readers === 0 },
  actions: {
    countReader: assign({ readers: ({ context }) => context.readers + 1 }),
    discountReader: assign({ readers: ({ context }) => context.readers - 1 }),
    keepError: assign({ error: (_, { error }: { error: unknown }) => error }),
  },
  delays: {
    /** A second call of the same step may be about to begin; whoever is asked now is asked no less for it. */
    settle: 50,
  },
}).createMachine({
  id: 'answer',
  description: 'One answer while it is recorded for those who read it as a UI stream.',
  context: { readers: 0, error: undefined },
  initial: 'recording',
  states: {
    recording: {
      on: { 'reader.came': { actions: 'countReader' }, 'reader.left': { actions: 'discountReader' } },
      invoke: {
        src: 'record',
        onDone: 'ended',
        onError: { target: 'failed', actions: { type: 'keepError', params: ({ event }) => ({ error: event.error }) } },
      },
      initial: 'working',
      states: {
        working: { description: 'Recorded whether or not anybody reads.', on: { waits: 'settling' } },
        settling: { on: { 'goes.on': 'working' }, after: { settle: 'paused' } },
        paused: {
          description: 'A person is asked: streams end here, and go on with the decision. All of it is in the journal, so that it need not be kept.',
          always: { guard: 'nobodyReads', target: '#answer.forgotten' },
          on: { 'goes.on': 'working' },
        },
      },
    },
    ended: { type: 'final', description: 'The outcome is recorded.' },
    failed: { type: 'final', description: 'What becomes of it is not known here.' },
    forgotten: { type: 'final', description: 'Read from the journal by whoever wants it next.' },
  },
})
