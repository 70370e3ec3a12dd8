import { assign, fromCallback, fromPromise, setup } from 'xstate'
import { notProvided } from '../../actors/not-provided.setup.ts'
import { isRuntimeError, RuntimeError } from '../../contracts/errors.ts'

export type McpServerEvent =
  /** Somebody wants its tools. */
  | { type: 'use' }
  /** It has answered, and said which tools it has. */
  | { type: 'opened' }
  /** It says that its tools are others now. */
  | { type: 'changed' }
  /** It cannot be reached, or has gone. */
  | { type: 'lost'; error: unknown }
  | { type: 'close' }

/** @property server its name @property connectMs ms in which it has to answer, from its start on */
type McpServerInput = { server: string; connectMs: number }

type Context = McpServerInput & {
  /** Connections in a row that did not last. */
  attempt: number
  /** Why there is none at the moment. */
  error: unknown
  /** It has said that its tools are others while they were read. */
  stale: boolean
}

const attemptMax = 6
const firstPauseMs = 500
const longestPauseMs = 30_000

const failure = ({ event: { error } }: { event: { error: unknown } }) => ({ error })
const keepError = { type: 'keepError', params: failure } as const

const lateness = ({ context: { server, connectMs } }: { context: Context }): RuntimeError =>
  new RuntimeError('timeout', `the MCP server '${server}' did not answer within ${connectMs} ms`, {
    retryable: true,
    hint: 'see what it writes to its standard error, or give it longer with connectMs',
    data: { server },
  })

/** One connection to an MCP server that is to last: made when its tools are wanted first, and mended as long as that is worth it. Calls pass beside the machine. */
export const mcpServerMachine = setup({
  types: { input: {} as McpServerInput, context: {} as Context, events: {} as McpServerEvent },
  actors: {
    /** Starts its process, or connects to its address, reads its tools, and holds it until its state is left. */
    link: fromCallback<McpServerEvent>(() => undefined),
    /** Reads its tools again. */
    list: fromPromise<void>(notProvided),
  },
  guards: {
    /** It may be otherwise when tried again: a program that is not there stays so, and so does a refused key. */
    isPassing: ({ context }, { error }: { error: unknown }) => context.attempt + 1 < attemptMax && (!isRuntimeError(error) || error.retryable),
    hasAttempts: ({ context }) => context.attempt + 1 < attemptMax,
    isStale: ({ context }) => context.stale,
  },
  actions: {
    keepError: assign({ error: (_, { error }: { error: unknown }) => error }),
    keepLateness: assign({ error: lateness }),
    forgetError: assign({ error: undefined }),
    countAttempt: assign({ attempt: ({ context }) => context.attempt + 1 }),
    countAnew: assign({ attempt: 0 }),
    markStale: assign({ stale: true }),
    markFresh: assign({ stale: false }),
  },
  delays: {
    patience: ({ context }) => context.connectMs,
    retry: ({ context }) => Math.min(firstPauseMs * 2 ** context.attempt, longestPauseMs),
    /** A connection that lasted so long was a good one. */
    steady: 30_000,
    /** Servers say several times in a row that their tools are others. */
    settle: 500,
    rest: 60_000,
  },
}).createMachine({
  id: 'mcp-server',
  description: 'The connection to an MCP server: made when its tools are wanted first, mended when it breaks.',
  context: ({ input }) => ({ ...input, attempt: 0, error: undefined, stale: false }),
  initial: 'idle',
  on: { close: '.closed' },
  states: {
    idle: { on: { use: 'linked' } },
    linked: {
      invoke: { src: 'link' },
      on: {
        lost: [
          { guard: { type: 'isPassing', params: failure }, target: 'backing-off', actions: keepError },
          { target: 'failed', actions: keepError },
        ],
      },
      initial: 'connecting',
      states: {
        connecting: {
          on: { opened: 'ready' },
          after: {
            patience: [
              { guard: 'hasAttempts', target: '#mcp-server.backing-off', actions: 'keepLateness' },
              { target: '#mcp-server.failed', actions: 'keepLateness' },
            ],
          },
        },
        ready: {
          entry: 'forgetError',
          after: { steady: { actions: 'countAnew' } },
          initial: 'resting',
          states: {
            resting: { on: { changed: 'settling' } },
            settling: { after: { settle: 'listing' } },
            listing: {
              entry: 'markFresh',
              on: { changed: { actions: 'markStale' } },
              invoke: {
                src: 'list',
                onDone: [{ guard: 'isStale', target: 'settling' }, { target: 'resting' }],
                onError: { target: 'resting', description: 'the tools that were known stay' },
              },
            },
          },
        },
      },
    },
    'backing-off': {
      description: 'Its tools are still shown to models; a call waits for the next connection.',
      after: { retry: 'linked' },
      exit: 'countAttempt',
    },
    failed: {
      description: 'Its tools are gone. It is tried again when somebody wants them, but not at once.',
      entry: 'countAnew',
      after: { rest: 'idle' },
    },
    closed: { type: 'final' },
  },
})
