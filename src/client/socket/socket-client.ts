/** A client of a gateway's WebSocket, for pages and for programs: the effects of the chart, and what goes over its links. */
import { createActor, fromCallback, fromPromise } from 'xstate'
import type { CommandInput, CommandName } from '../../contracts/commands.ts'
import { definedOf } from '../../contracts/defined.ts'
import { actorClock } from '../../contracts/environment.ts'
import { isRuntimeError, RuntimeError } from '../../contracts/errors.ts'
import {
  type ConnectParams,
  type EventFrame,
  type GatewayEventName,
  type GatewayEvents,
  type GatewayScope,
  gatewayProtocol,
  type ServerFrame,
  type Subscribed,
  type Welcome,
} from '../../contracts/gateway.ts'
import type { Address } from '../../contracts/subjects.ts'
import { type Link, lostLink, openLink, type SocketConstructor } from './link.ts'
import { type Heard, Listeners } from './listeners.ts'
import { type Outcome, PendingCalls, type Timers } from './pending-calls.ts'
import { probeReady } from './probe-ready.ts'
import { type EventGap, RunSequence } from './run-sequence.ts'
import { pageSignals, type Signals } from './signals.ts'
import { type SocketEvent, socketMachine } from './socket.machine.ts'

export type SocketClientOptions = {
  /** `ws://127.0.0.1:4317/ws`; with `http` it is the same place. */
  url: string
  token: string
  /** Who connects, as the gateway writes it down. */
  client: ConnectParams['client']
  /** Default: all that the token allows. */
  scopes?: GatewayScope[]
  clock?: Timers
  WebSocket?: SocketConstructor
  /** Says when a new try is worth it. Default: the page is looked at again, or online. */
  signals?: Signals
  /** Resolves when the node at this address is ready. Default: a request to its `/readyz`. */
  probe?: (url: string, signal: AbortSignal) => Promise<void>
}

/** `waiting`: for the next try; `refused`: there will be none. */
export type SocketStatus = 'connecting' | 'handshaking' | 'ready' | 'waiting' | 'refused' | 'closed'
type Off = () => void

/** Asks anew for the run that is going on: something of it was missed. */
export type SessionSubscription = { refresh(): void; off(): void }

export type SocketClient = {
  readonly status: SocketStatus
  /** Why it is `waiting` or `refused`. */
  readonly error: unknown
  /** What the gateway has said of itself last. */
  readonly welcome: Welcome | undefined
  onStatus(listener: (status: SocketStatus) => void): Off
  /** Resolves when calls can be made. @throws RuntimeError why the gateway does not take us, or `closed` */
  ready(): Promise<Welcome>
  /**
   * @param options.timeoutMs default 30 s
   * @throws RuntimeError what the gateway answers; `log_unavailable`, retryable, where there is no connection, or it ends first; `timeout`
   */
  call<Result, Name extends CommandName = CommandName>(method: Name, params: CommandInput<Name>, options?: { timeoutMs?: number }): Promise<Result>
  on<Name extends GatewayEventName>(event: Name, listener: (payload: GatewayEvents[Name]) => void): Off
  /** There is a connection again: what happened meanwhile was not heard, so histories are to be read anew. */
  on(event: 'reconnected', listener: (welcome: Welcome) => void): Off
  /** Events of a run were missed; what comes after them makes them good, so this is for whoever looks after the connection. */
  on(event: 'gap', listener: (gap: EventGap) => void): Off
  /** Hears all about one session, in the order in which the gateway says it, on every link anew. */
  subscribe(sessionKey: string, hear: (heard: Heard) => void): SessionSubscription
  /** Hears that there may be more in the journal of an actor than before: when it is watched from now on, on every link anew, and with every commit. */
  watch(address: Address, look: () => void): Off
  close(): void
}

const callMs = 30_000
/** Until the gateway has said how much it takes; a greeting is small. */
const greetingBytesMax = 16_384

export const socketClient = (options: SocketClientOptions): SocketClient => {
  const { token, client, scopes, clock = globalThis, WebSocket = globalThis.WebSocket, signals = pageSignals(), probe = probeReady } = options
  const url = addressOf(options.url)
  const calls = new PendingCalls(clock)
  const listeners = new Listeners()
  const sequence = new RunSequence()
  /** How often each actor is watched. */
  const watched = new Map<string, number>()
  let link: Link | undefined
  let nonce: string | undefined

  const start = (method: string, params: object, outcome: Outcome, timeoutMs = callMs): void => {
    const bytesMax =
      statusNow() === 'ready' ? (actor.getSnapshot().context.welcome?.policy.frameBytesMax ?? Number.POSITIVE_INFINITY) : greetingBytesMax
    calls.start((frame) => (link as Link).send(frame, bytesMax), method, params, timeoutMs, outcome)
  }
  const promised = <Result>(method: string, params: object, timeoutMs?: number): Promise<Result> =>
    new Promise((resolve, reject) => start(method, params, { resolve: (payload) => resolve(payload as Result), reject }, timeoutMs))

  const subscribeTo = (sessionKey: string): void => {
    const fail = (error: unknown): void => listeners.tellSession(sessionKey, { type: 'subscribe.failed', sessionKey, error })
    try {
      start(
        'chat.subscribe',
        { sessionKey },
        {
          resolve: (answer) => {
            sequence.begin((answer as Subscribed).run)
            listeners.tellSession(sessionKey, { type: 'subscribed', answer: answer as Subscribed })
          },
          // Without a link it is subscribed to again with the next one.
          reject: (error) => statusNow() === 'ready' && fail(error),
        },
      )
    } catch (error) {
      fail(error)
    }
  }

  const hear = (frame: ServerFrame): void => {
    if (frame.type === 'res') calls.answer(frame)
    else if (frame.type === 'event') hearEvent(frame)
  }
  const hearEvent = (frame: EventFrame): void => {
    if (frame.event === 'connect.challenge') {
      // A greeting without it is for the gateway to judge.
      nonce = (frame.payload as { nonce?: string } | undefined)?.nonce
      actor.send({ type: 'challenged' })
    }
    if (frame.event === 'chat') {
      const gap = sequence.take(frame.payload)
      if (gap) listeners.tellGap(gap)
    }
    listeners.tell(frame)
  }

  const provided = socketMachine.provide({
    actors: {
      link: fromCallback<SocketEvent>(({ sendBack }) => {
        const opened = openLink({ url, WebSocket, hear, end: (error) => sendBack({ type: 'lost', error }) })
        link = opened
        return () => {
          opened.close()
          link = undefined
          calls.end(lostLink(url, 'it was lost before the answer came'))
        }
      }),
      greet: fromCallback<SocketEvent>(({ sendBack }) => {
        const params: ConnectParams = {
          minProtocol: gatewayProtocol,
          maxProtocol: gatewayProtocol,
          client,
          caps: ['chat.patch'],
          auth: { token },
          ...definedOf({ scopes, nonce }),
        }
        const deny = (error: unknown): void => sendBack({ type: 'denied', error })
        try {
          start('connect', params, { resolve: (welcome) => sendBack({ type: 'welcomed', welcome: welcome as Welcome }), reject: deny })
        } catch (error) {
          deny(error)
        }
      }),
      ask: fromPromise(() => promised<void>('health', {})),
      probe: fromPromise(({ signal }) => probe(url, signal)),
    },
  })
  const actor = createActor(provided, { clock: actorClock(clock) })
  const statusNow = (): SocketStatus => statusOf(actor.getSnapshot().value)

  let last: SocketStatus = 'connecting'
  let wasReady = false
  const told = (): void => {
    const status = statusNow()
    if (status === last) return
    last = status
    // Ahead of whatever is read now, so that nothing can happen between the two.
    if (status === 'ready') for (const sessionKey of listeners.sessions()) subscribeTo(sessionKey)
    listeners.tellStatus(status)
    if (status !== 'ready') return
    if (wasReady) listeners.tellReconnected(actor.getSnapshot().context.welcome as Welcome)
    wasReady = true
  }
  const offSignals = signals(() => actor.getSnapshot().status === 'active' && actor.send({ type: 'wake' }))
  actor.subscribe({
    next: told,
    complete: () => {
      told()
      offSignals()
    },
  })
  actor.start()

  const unready = (): RuntimeError => {
    const { error } = actor.getSnapshot().context
    if (statusNow() === 'closed') return new RuntimeError('closed', 'this client was closed', { hint: 'make another one' })
    if (statusNow() === 'refused' && isRuntimeError(error)) return error
    return lostLink(url, 'not connected yet')
  }

  return {
    get status() {
      return statusNow()
    },
    get error() {
      return actor.getSnapshot().context.error
    },
    get welcome() {
      return actor.getSnapshot().context.welcome
    },
    onStatus: (listener) => listeners.onStatus(listener),
    ready: () =>
      new Promise((resolve, reject) => {
        const look = (): void => {
          const status = statusNow()
          if (status === 'ready') resolve(actor.getSnapshot().context.welcome as Welcome)
          else if (status === 'refused' || status === 'closed') reject(unready())
          else return
          off()
        }
        const off = listeners.onStatus(look)
        look()
      }),
    call: async <Result>(method: string, params: object, { timeoutMs }: { timeoutMs?: number } = {}) => {
      if (statusNow() !== 'ready') throw unready()
      return promised<Result>(method, params, timeoutMs)
    },
    on: (event: GatewayEventName | 'reconnected' | 'gap', listener: (payload: never) => void) => listeners.on(event, listener),
    subscribe(sessionKey, listener) {
      const off = listeners.onSession(sessionKey, listener)
      const refresh = (): void => {
        if (statusNow() === 'ready') subscribeTo(sessionKey)
      }
      refresh()
      return {
        refresh,
        off: () => {
          if (off() && statusNow() === 'ready') promised('chat.unsubscribe', { sessionKey }).catch(() => undefined)
        },
      }
    },
    watch({ kind, id }, look) {
      const key = `${kind}/${id}`
      watched.set(key, (watched.get(key) ?? 0) + 1)
      const begin = (): void => void promised('trace.subscribe', { kind, id }).then(look, look)
      const offs = [
        listeners.on('trace.grown', (grown: Address) => grown.kind === kind && grown.id === id && look()),
        listeners.onStatus((status) => status === 'ready' && begin()),
      ]
      if (statusNow() === 'ready') begin()
      return () => {
        if (offs.length === 0) return
        for (const off of offs.splice(0)) off()
        const left = (watched.get(key) ?? 1) - 1
        if (left > 0) return void watched.set(key, left)
        if (watched.delete(key) && statusNow() === 'ready') promised('trace.unsubscribe', { kind, id }).catch(() => undefined)
      }
    },
    close: () => actor.getSnapshot().status === 'active' && actor.send({ type: 'close' }),
  }
}

/** Nested states are named by their outermost, but for those of a link. */
const statusOf = (value: unknown): SocketStatus => {
  const named = typeof value === 'object' && value !== null && 'linked' in value ? value.linked : value
  return (typeof named === 'object' ? Object.keys(named as object)[0] : named) as SocketStatus
}

/** @throws RuntimeError bad_request */
const addressOf = (given: string): string => {
  const url = URL.canParse(given) ? new URL(given) : undefined
  if (!url || !/^(?:ws|http)s?:$/.test(url.protocol))
    throw new RuntimeError('bad_request', `'${String(given).slice(0, 80)}' is no address of a gateway`, {
      field: 'url',
      hint: 'such as ws://127.0.0.1:4317/ws',
    })
  url.protocol = url.protocol.replace('http', 'ws')
  url.hash = ''
  return url.href
}
