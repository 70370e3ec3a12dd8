/** The HTTP server of a node. */
import type { Server } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { serve } from '@hono/node-server'
import { RuntimeError } from '../../contracts/errors.ts'
import { systemClock } from '../../runtime/index.ts'
import { type AnswerLimits, AnswerRoom, answerLimits } from '../answer-room.ts'
import type { RelayLimits } from '../relay/index.ts'
import { type Sockets, serveSockets } from '../ws/index.ts'
import { admission } from './admission.ts'
import { type GatewayOptions, gatewayApp } from './app.ts'
import { Connections } from './connections.ts'
import { callerOf, isLoopback, requireOurs } from './guard.ts'
import { clientOf, gatewayLimits } from './limits.ts'
import { Throttle } from './throttle.ts'
import { checkStrength, newToken } from './token.ts'

export type ServeOptions = Pick<GatewayOptions, 'runtime' | 'log' | 'host' | 'tokens' | 'limits' | 'clock'> & {
  port: number
  answers?: Partial<AnswerLimits>
  relay?: Partial<RelayLimits>
}

export type Gateway = {
  url: string
  /** Clients on the WebSocket. */
  sockets(): number
  /** Takes no new work, and says so on the WebSocket. Who waits for an answer, or asks whether this node is ready, is still answered. */
  drain(): void
  /** Ends all connections. */
  close(): Promise<void>
}

/** @throws RuntimeError conflict when the port is in use, bad_request for a host that is not here */
export const serveGateway = async ({ port, ...options }: ServeOptions): Promise<Gateway> => {
  const { host, runtime, log, tokens, clock = systemClock } = options
  const limits = { ...gatewayLimits, ...options.limits }
  const draining = new AbortController()
  const closing = new AbortController()
  const admit = admission(draining.signal)
  const room = new AnswerRoom({ ...answerLimits, ...options.answers }, clock)
  let connections: Connections | undefined
  let sockets: Sockets | undefined
  const trust = (socket: Socket) => connections?.trust(socket)
  const throttle = new Throttle(limits, clock, (client) => log.warn({ client }, 'wrong tokens from this address are answered 429 now'))
  const app = gatewayApp({
    ...options,
    room,
    throttle,
    draining: draining.signal,
    closing: closing.signal,
    trust,
    connections: () => connections?.count ?? 0,
    sockets: () => sockets?.open ?? 0,
  })
  // Who opens a connection and says nothing, or says it letter by letter, does not keep it.
  const serverOptions = {
    headersTimeout: limits.headersMs,
    requestTimeout: limits.requestMs,
    connectionsCheckingInterval: Math.min(1000, limits.headersMs),
  }
  const server = serve({ fetch: app.fetch, hostname: host, port, serverOptions }) as Server
  connections = new Connections(server, limits)
  await new Promise<void>((resolve, reject) => {
    server.once('listening', resolve)
    server.once('error', (cause: NodeJS.ErrnoException) => reject(cannotListen(cause, host, port)))
  })
  const served = serveSockets(server, {
    runtime,
    log,
    clock,
    check: ({ headers }) => {
      requireOurs(headers, host)
      admit()
    },
    authorise: (token, { socket }) => {
      const caller = callerOf(token, clientOf(socket.remoteAddress), { tokens, throttle, accessOf: (hash) => runtime().accessOf(hash) })
      trust(socket)
      return caller
    },
    trust: ({ socket }) => trust(socket),
    admit,
    room,
    relay: options.relay,
  })
  sockets = served
  const bound = server.address() as AddressInfo
  const shown = host.includes(':') ? `[${host}]` : host
  const stopped = new Promise<void>((resolve) => server.once('close', resolve))
  return {
    url: `http://${shown}:${bound.port}`,
    sockets: () => served.open,
    drain: () => {
      draining.abort()
      served.leave()
    },
    close: async () => {
      draining.abort()
      closing.abort()
      served.close()
      if (server.listening) server.close()
      // What streams still have to say has been written; a client that does not read shall not hold us.
      const patience = setTimeout(() => server.closeAllConnections(), 500)
      server.closeIdleConnections()
      await stopped
      clearTimeout(patience)
    },
  }
}

/**
 * Beyond this machine the file in the data folder is not enough: somebody has to have decided who knows the token.
 * @throws RuntimeError forbidden, bad_request for a token that could be guessed
 */
export const checkExposure = (host: string, token: string | undefined): void => {
  if (token !== undefined) checkStrength(token)
  if (isLoopback(host) || token !== undefined) return
  throw new RuntimeError('forbidden', `${host} can be reached from other machines, and no token of your own is set`, {
    field: 'host',
    hint: `set STATECAST_TOKEN to a token of your own (${newToken}), or leave --host at 127.0.0.1`,
  })
}

const cannotListen = (cause: NodeJS.ErrnoException, host: string, port: number): RuntimeError => {
  if (cause.code === 'EADDRINUSE')
    return new RuntimeError('conflict', `port ${port} of ${host} is in use`, {
      cause,
      field: 'port',
      hint: 'choose another with --port, or --port 0 for any',
    })
  if (cause.code === 'EACCES')
    return new RuntimeError('forbidden', `port ${port} may not be used by this user`, { cause, field: 'port', hint: 'choose one above 1023' })
  return new RuntimeError('bad_request', `cannot listen on ${host}:${port}: ${cause.message}`, {
    cause,
    field: 'host',
    hint: 'give an address of this machine',
  })
}
