import { assign, emit, setup } from 'xstate'
import type { GatewayCap, GatewayScope } from '../../contracts/gateway.ts'

/** ms in which the first frame has to be a `connect` that is accepted. */
const handshakeMs = 10_000

/** ms in which a peer that is behind has to catch up: a line may be slow, and a history long. */
const catchUpMs = 60_000

/** What a peer is told with the end of its connection: the codes of RFC 6455. */
const closeCodes = { policy: 1008, restart: 1012 } as const
const slow = { code: closeCodes.policy, reason: 'slow consumer: read the history' } as const

type Context = { scopes: readonly GatewayScope[]; caps: readonly GatewayCap[] }

type ConnectionEvent =
  /** The first frame was a `connect` with the right token. */
  | { type: 'accepted'; scopes: readonly GatewayScope[]; caps: readonly GatewayCap[] }
  /** It was not. */
  | { type: 'refused'; reason: string }
  /** More waits to be sent than should, and some of it must not be left out. */
  | { type: 'behind' }
  /** Little enough waits again. */
  | { type: 'caughtUp' }
  /** More waits than there is room for. */
  | { type: 'overrun' }
  /** Too many of its frames cannot be understood, or it does not keep to its limits. */
  | { type: 'misbehaved'; reason: string }
  /** The node begins to shut down. */
  | { type: 'leaving' }
  /** The peer, or the line, is gone. */
  | { type: 'gone' }

/**
 * One connection to the gateway, from its handshake to its end. Its frames pass beside the machine, which says whether they are heard: before the handshake
 * nothing but `connect` is.
 */
export const connectionMachine = setup({
  types: {
    context: {} as Context,
    events: {} as ConnectionEvent,
    emitted: {} as { type: 'close'; code: number; reason: string },
  },
  actions: {
    remember: assign((_, { scopes, caps }: Context) => ({ scopes, caps })),
    close: emit((_, { code, reason }: { code: number; reason: string }) => ({ type: 'close' as const, code, reason })),
  },
  delays: { handshake: handshakeMs, catchUp: catchUpMs },
}).createMachine({
  id: 'connection',
  context: { scopes: [], caps: [] },
  initial: 'handshaking',
  on: {
    gone: '.ended',
    leaving: { target: '.ended', actions: { type: 'close', params: { code: closeCodes.restart, reason: 'this node is shutting down' } } },
    misbehaved: { target: '.ended', actions: { type: 'close', params: ({ event }) => ({ code: closeCodes.policy, reason: event.reason }) } },
  },
  states: {
    handshaking: {
      on: {
        accepted: { target: 'open', actions: { type: 'remember', params: ({ event: { scopes, caps } }) => ({ scopes, caps }) } },
        refused: { target: 'ended', actions: { type: 'close', params: ({ event }) => ({ code: closeCodes.policy, reason: event.reason }) } },
      },
      after: {
        handshake: { target: 'ended', actions: { type: 'close', params: { code: closeCodes.policy, reason: 'no connect came within 10 s' } } },
      },
    },
    open: {
      initial: 'keepingUp',
      on: { overrun: { target: 'ended', actions: { type: 'close', params: slow } } },
      states: {
        keepingUp: { on: { behind: 'behind' } },
        behind: {
          on: { caughtUp: 'keepingUp' },
          after: { catchUp: { target: '#connection.ended', actions: { type: 'close', params: slow } } },
        },
      },
    },
    ended: { type: 'final' },
  },
})
