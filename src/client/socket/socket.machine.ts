import { assign, fromCallback, fromPromise, setup } from 'xstate'
import { notProvided } from '../../actors/not-provided.setup.ts'
import { isRuntimeError, RuntimeError } from '../../contracts/errors.ts'
import { gatewayProtocol, type Welcome } from '../../contracts/gateway.ts'

export type SocketEvent =
  /** The link is up, and the server has asked who we are. */
  | { type: 'challenged' }
  | { type: 'welcomed'; welcome: Welcome }
  | { type: 'denied'; error: unknown }
  /** The link has ended, or was never there. */
  | { type: 'lost'; error: unknown }
  /** The page is looked at again, or the machine is back on its network: what was waited for may be there. */
  | { type: 'wake' }
  | { type: 'close' }

type Context = {
  /** Links in a row that did not last. */
  attempt: number
  /** Why there is none at the moment, or never will be. */
  error: unknown
  /** What the server has said of itself last. */
  welcome: Welcome | undefined
}

const firstPauseMs = 500
const longestPauseMs = 30_000

const failure = ({ event: { error } }: { event: { error: unknown } }) => ({ error })
const keepError = { type: 'keepError', params: failure } as const
const welcomed = ({ event: { welcome } }: { event: { welcome: Welcome } }) => ({ welcome })
const tooLate = { target: '#socket.waiting', actions: 'keepLateness' } as const
const unreached = '#socket.waiting.watching'

const lateness = (): RuntimeError =>
  new RuntimeError('timeout', 'the gateway did not answer in time', { retryable: true, hint: 'it is tried again by itself' })
const mismatch = ({ protocol }: Welcome): RuntimeError =>
  new RuntimeError('unsupported', `the gateway speaks version ${protocol} of the protocol, this client ${gatewayProtocol}`, {
    hint: 'use a client and a node of the same release; in a browser, load the page anew',
  })

/** One connection to a gateway that is to last, over as many links as it takes. What goes over a link passes beside the machine. */
export const socketMachine = setup({
  types: { context: {} as Context, events: {} as SocketEvent },
  actors: {
    /** Opens a WebSocket, and holds it until its state is left. */
    link: fromCallback<SocketEvent>(() => undefined),
    /** Says who we are. No promise: a gateway that denies us hangs up in the same breath, which is not to be heard first. */
    greet: fromCallback<SocketEvent>(() => undefined),
    /** Asks whether anybody is there; what is answered does not matter. */
    ask: fromPromise<void>(notProvided),
    /** Resolves when the node is ready. */
    probe: fromPromise<void>(notProvided),
  },
  guards: {
    isOurs: (_, { welcome }: { welcome: Welcome }) => welcome.protocol === gatewayProtocol,
    /** It may be otherwise when tried again: no wrong token is, and no other protocol. */
    isPassing: (_, { error }: { error: unknown }) => isRuntimeError(error) && error.retryable,
  },
  actions: {
    keepError: assign({ error: (_, { error }: { error: unknown }) => error }),
    keepLateness: assign({ error: lateness }),
    keepMismatch: assign({ error: (_, { welcome }: { welcome: Welcome }) => mismatch(welcome) }),
    keepWelcome: assign({ welcome: (_, { welcome }: { welcome: Welcome }) => welcome, error: undefined }),
    countAttempt: assign({ attempt: ({ context }) => context.attempt + 1 }),
    countAnew: assign({ attempt: 0 }),
  },
  delays: {
    retry: ({ context }) => Math.min(firstPauseMs * 2 ** context.attempt, longestPauseMs),
    answer: 10_000,
    healthPause: 30_000,
    probePause: 2_000,
    probeLimit: 1_500,
    /** A link that lasted so long was a good one: a server that drops everybody at once is asked less and less often. */
    steady: 5_000,
  },
}).createMachine({
  id: 'socket',
  description: 'The connection of a client to the WebSocket of a gateway: it mends itself for as long as the gateway would take it.',
  context: { attempt: 0, error: undefined, welcome: undefined },
  initial: 'linked',
  on: { close: '.closed' },
  states: {
    linked: {
      invoke: { src: 'link' },
      on: { lost: { target: 'waiting', actions: keepError } },
      initial: 'connecting',
      states: {
        connecting: {
          on: { challenged: 'handshaking', lost: { target: unreached, actions: keepError } },
          after: { answer: { ...tooLate, target: unreached } },
        },
        handshaking: {
          invoke: { src: 'greet' },
          on: {
            welcomed: [
              { guard: { type: 'isOurs', params: welcomed }, target: 'ready', actions: { type: 'keepWelcome', params: welcomed } },
              { target: '#socket.refused', actions: { type: 'keepMismatch', params: welcomed } },
            ],
            denied: [
              { guard: { type: 'isPassing', params: failure }, target: '#socket.waiting', actions: keepError },
              { target: '#socket.refused', actions: keepError },
            ],
          },
          after: { answer: tooLate },
        },
        ready: {
          after: { steady: { actions: 'countAnew' } },
          initial: 'resting',
          states: {
            resting: {
              // After a sleep of the machine a link may look alive that is not.
              on: { wake: 'asking' },
              after: { healthPause: 'asking' },
            },
            asking: {
              invoke: { src: 'ask', onDone: 'resting', onError: { target: 'resting', description: 'a refusal is an answer' } },
              after: { answer: tooLate },
            },
          },
        },
      },
    },
    waiting: {
      on: { wake: 'linked' },
      after: { retry: 'linked' },
      exit: 'countAttempt',
      initial: 'resting',
      states: {
        resting: { description: 'The node is there and ended the link: each pause is longer than the one before.' },
        watching: { description: 'The node was not reached: the first probe that it answers ends the wait.', after: { probePause: 'probing' } },
        probing: { invoke: { src: 'probe', onDone: '#socket.linked', onError: 'watching' }, after: { probeLimit: 'watching' } },
      },
    },
    refused: { type: 'final' },
    closed: { type: 'final' },
  },
})
