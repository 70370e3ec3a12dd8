import { assign, emit, fromCallback, fromPromise, setup } from 'xstate'
import { notProvided } from '../../actors/not-provided.setup.ts'

type ErrandInput = {
  /** ms for which a reader who has hung up may come back before the turn is stopped. */
  patienceMs: number
  /** ms for which an answer can be fetched again before its session is deleted; null where it stays. */
  keepMs: number | null
}

type ErrandEvent =
  /** Somebody asks for the answer, or has it, or waits no longer. */
  | { type: 'joined' }
  | { type: 'left' }
  /** A tool call waits for a person. */
  | { type: 'approval' }

type Context = ErrandInput & {
  readers: number
  /** Attempts to delete the session. */
  attempts: number
}

const attemptMax = 5

/** A request in a session that nobody else watches, from its acceptance until nothing of it is left to do. */
export const errandMachine = setup({
  types: {
    input: {} as ErrandInput,
    context: {} as Context,
    events: {} as ErrandEvent,
    emitted: {} as { type: 'stays' },
  },
  actors: {
    /** Waits until the message has its outcome. */
    wait: fromPromise<void>(notProvided),
    /** Tells when a tool call waits for a person. */
    listen: fromCallback<ErrandEvent>(() => undefined),
    /** Refuses all tool calls that wait: nobody could answer. */
    deny: fromPromise<void>(notProvided),
    stop: fromPromise<void>(notProvided),
    /** Deletes the session. */
    remove: fromPromise<void>(notProvided),
  },
  guards: {
    isRead: ({ context }) => context.readers > 0,
    isUnread: ({ context }) => context.readers === 0,
    isKept: ({ context }) => context.keepMs === null,
    mayTryAgain: ({ context }) => context.attempts < attemptMax,
  },
  actions: {
    countIn: assign({ readers: ({ context }) => context.readers + 1 }),
    countOut: assign({ readers: ({ context }) => Math.max(0, context.readers - 1) }),
    countAttempt: assign({ attempts: ({ context }) => context.attempts + 1 }),
    tellStays: emit({ type: 'stays' }),
  },
  delays: {
    patience: ({ context }) => context.patienceMs,
    keep: ({ context }) => context.keepMs ?? 0,
    again: 1_000,
    /** What is said of an approval may be lost between nodes. */
    look: 5_000,
  },
}).createMachine({
  id: 'errand',
  description: 'A request in a session that nobody else watches, from its acceptance until nothing of it is left to do.',
  context: ({ input }) => ({ ...input, readers: 1, attempts: 0 }),
  on: { joined: { actions: 'countIn' }, left: { actions: 'countOut' } },
  initial: 'working',
  states: {
    working: {
      type: 'parallel',
      invoke: { src: 'wait', onDone: 'answered', onError: 'answered' },
      states: {
        questions: {
          description: 'Tool calls that wait for a person are refused.',
          invoke: { src: 'listen' },
          on: { approval: '.denying' },
          initial: 'denying',
          states: {
            denying: { invoke: { src: 'deny', onDone: 'listening', onError: 'listening' } },
            listening: { after: { look: 'denying' } },
          },
        },
        readers: {
          description: 'When nobody waits for the answer any more, the turn is stopped.',
          initial: 'some',
          states: {
            some: { always: { guard: 'isUnread', target: 'none' } },
            none: { always: { guard: 'isRead', target: 'some' }, after: { patience: 'stopping' } },
            stopping: { invoke: { src: 'stop', onDone: 'stopped', onError: 'failing' } },
            failing: { after: { again: 'stopping' } },
            stopped: {},
          },
        },
      },
    },
    answered: {
      description: 'Readers still fetch what they missed.',
      always: { guard: 'isUnread', target: 'parting' },
    },
    parting: {
      description: 'A repetition of the request finds its answer here.',
      always: [
        { guard: 'isKept', target: 'over' },
        { guard: 'isRead', target: 'answered' },
      ],
      after: { keep: 'removing' },
    },
    removing: {
      invoke: {
        src: 'remove',
        onDone: 'over',
        onError: [
          { guard: 'mayTryAgain', target: 'pausing', actions: 'countAttempt' },
          { target: 'over', actions: 'tellStays' },
        ],
      },
    },
    pausing: { after: { again: 'removing' } },
    over: { type: 'final' },
  },
})
