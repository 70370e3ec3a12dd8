/** The WebSocket of a gateway: takes upgrades of its server, and tells everybody what is for everybody. */

import type { IncomingMessage, Server } from 'node:http'
import type { Duplex } from 'node:stream'
import { WebSocketServer } from 'ws'
import type { Clock } from '../../contracts/environment.ts'
import { errorBody, RuntimeError } from '../../contracts/errors.ts'
import type { GatewayEventName, GatewayEvents } from '../../contracts/gateway.ts'
import { SessionFeeds } from '../chat/index.ts'
import { statusOf } from '../error-status.ts'
import { Relay, type RelayLimits, relayPath } from '../relay/index.ts'
import { Connection } from './connection.ts'
import type { ConnectionParts, SocketCaller } from './connection-parts.ts'
import { type SocketLimits, socketLimits } from './limits.ts'
import { ListChanges } from './list-changes.ts'

const socketPath = '/ws'

type SocketOptions = Pick<ConnectionParts, 'runtime' | 'log' | 'admit' | 'room'> & {
  clock: Clock
  /** @throws RuntimeError forbidden where the request comes from elsewhere, closed while the node ends */
  check: (request: IncomingMessage) => void
  /** Says whether a token is ours. @returns who shows it, and what it allows now @throws RuntimeError unauthorised, rate_limited */
  authorise: (token: string, request: IncomingMessage) => SocketCaller
  /** Its connection stays, however many come that show nothing: the address it asked for was a secret of ours. */
  trust: (request: IncomingMessage) => void
  limits?: Partial<SocketLimits>
  relay?: Partial<RelayLimits> | undefined
}

export type Sockets = {
  readonly open: number
  /** Says that this node will shut down; what runs is still told. */
  leave(): void
  close(): void
}

export const serveSockets = (server: Server, { check, authorise, trust, clock, ...options }: SocketOptions): Sockets => {
  const limits = { ...socketLimits, ...options.limits }
  // Without compression: a small frame cannot become a large one.
  const sockets = new WebSocketServer({ noServer: true, maxPayload: limits.frameBytesMax, perMessageDeflate: false, clientTracking: false })
  const connections = new Set<Connection>()
  const feeds = new SessionFeeds(options.runtime, clock)
  const relay = new Relay({ ...options, clock, limits: options.relay })
  let seq = 0
  let leaving = false

  const tellAll = <Name extends GatewayEventName>(event: Name, payload: GatewayEvents[Name]): void => {
    seq++
    for (const connection of connections) connection.tell(event, payload, seq)
  }
  const changes = new ListChanges(clock, (keys) => {
    for (const connection of connections) connection.tellChanged(keys)
  })
  const every = (ms: number, task: () => void): (() => void) => {
    let timer = clock.setTimeout(function again() {
      timer = clock.setTimeout(again, ms)
      task()
    }, ms)
    return () => clock.clearTimeout(timer)
  }
  const stops = [
    every(limits.tickMs, () => tellAll('tick', { timestamp: clock.now() })),
    every(limits.healthMs, () => {
      if (connections.size === 0) return
      options
        .runtime()
        .health()
        .then((health) => tellAll('health', health))
        .catch((error: unknown) => options.log.debug({ error: errorBody(error) }, 'the health of this node could not be told'))
    }),
  ]

  const leave = (): void => {
    if (!leaving) tellAll('shutdown', { reason: 'this node is shutting down' })
    leaving = true
  }

  const upgrade = (request: IncomingMessage, socket: Duplex, head: Buffer): void => {
    // Who is refused may be gone before the refusal is written.
    socket.on('error', (error) => options.log.debug({ error: errorBody(error) }, 'an upgrade broke off'))
    try {
      const path = pathOf(request.url)
      if (path !== socketPath && !path.startsWith(relayPath))
        throw new RuntimeError('not_found', 'there is no socket at this address', { hint: `open ${socketPath}` })
      check(request)
      if (path !== socketPath) {
        relay.upgrade(path, request, socket, head)
        trust(request)
        return
      }
    } catch (error) {
      refuse(socket, error)
      return
    }
    sockets.handleUpgrade(request, socket, head, (client) => {
      const parts = { ...options, clock, limits, feeds, authorise: (token: string) => authorise(token, request) }
      const connection = new Connection(client, parts, () => connections.delete(connection))
      connections.add(connection)
      changes.follow(options.runtime())
    })
  }
  server.on('upgrade', upgrade)
  return {
    get open() {
      return connections.size
    },
    leave,
    close: () => {
      server.off('upgrade', upgrade)
      for (const stop of stops) stop()
      changes.stop()
      leave()
      for (const connection of connections) connection.leave()
      relay.close()
      feeds.close()
      sockets.close()
    },
  }
}

/** Not as an address of its own: `//` would be one without a host. */
const pathOf = (url = '/'): string => url.split(/[?#]/, 1)[0] ?? '/'

/** There is no response object yet: the refusal is written by hand. */
const refuse = (socket: Duplex, error: unknown): void => {
  const body = errorBody(error)
  const text = JSON.stringify({ error: body })
  socket.end(
    [
      `HTTP/1.1 ${statusOf(body)} Refused`,
      'content-type: application/json',
      `content-length: ${Buffer.byteLength(text)}`,
      'connection: close',
      '',
      text,
    ].join('\r\n'),
  )
}
