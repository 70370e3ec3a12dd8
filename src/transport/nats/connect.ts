/** The connection itself: which servers it goes to, how soon a dead link is noticed, and what the server must support. */
import { AsyncLocalStorage } from 'node:async_hooks'
import { subscribe } from 'node:diagnostics_channel'
import type { Socket } from 'node:net'
import { type ConnectionOptions, connect, type NatsConnection } from '@nats-io/transport-node'
import type { Environment } from '../../contracts/environment.ts'
import { errorBody, messageOf, RuntimeError } from '../../contracts/errors.ts'
import { natsBus } from './bus.ts'
import { connectionTo, shown } from './credentials.ts'
import { endConnection } from './end-connection.ts'

/** Below it, batches of direct gets and message TTLs are missing. */
const serverFloor = [2, 11] as const

/** A connection without streams, for a client that only talks to nodes. @throws RuntimeError as {@link connectTo} does */
export const connectBus = async (url: string, log: Environment['log'], connection: ConnectionOptions = {}) => {
  const nc = await connectTo(url, connection)
  return { nc, bus: natsBus(nc, log), flush: () => nc.flush(), close: () => endConnection(nc) }
}

/**
 * The client leaves a socket open on which a server never said a word (@nats-io/transport-node 3.4), and an open socket keeps the process alive. This finds the
 * sockets that were made in the course of a `connect`.
 */
const dials = new AsyncLocalStorage<{ sockets: Socket[] | undefined }>()
subscribe('net.client.socket', (message) => {
  dials.getStore()?.sockets?.push((message as { socket: Socket }).socket)
})

/** @throws RuntimeError log_unavailable, unauthorised, bad_request */
export const connectTo = async (url: string, options: ConnectionOptions): Promise<NatsConnection> => {
  // A dead link is noticed within ten seconds rather than minutes, and never given up.
  const patient = { timeout: 5_000, pingInterval: 5_000, maxPingOut: 2, maxReconnectAttempts: -1, reconnectTimeWait: 500 }
  // A stack for each request, in case it fails, would cost more than the request.
  const all = { name: 'statecast', noAsyncTraces: true, ...patient, ...connectionTo(url), ...options }
  const dial: { sockets: Socket[] | undefined } = { sockets: [] }
  try {
    return await dials.run(dial, () => connect(all))
  } catch (cause) {
    for (const socket of dial.sockets ?? []) socket.destroy()
    const message = messageOf(cause)
    if (/authoriz|authentic|user auth|permission/i.test(`${(cause as Error).name} ${message}`))
      throw new RuntimeError('unauthorised', `${shown(url)} refuses these credentials`, {
        cause,
        field: 'url',
        hint: 'check user and password, token, or creds file of this connection',
      })
    if (/certificate|CERT_|ERR_TLS|SSL/.test(`${(cause as { code?: string }).code} ${message}`))
      throw new RuntimeError('log_unavailable', `${shown(url)} and this program do not trust each other's certificates: ${message}`, {
        cause,
        field: 'url',
        hint: 'name the CA, and your own certificate where the server wants one: `ca`, `cert` and `key` of a NATS context, or `nats: { tls: { caFile, … } }` of the app',
      })
    throw new RuntimeError('log_unavailable', `no NATS server answers at ${shown(url)}: ${message}`, {
      cause,
      retryable: true,
      field: 'url',
      hint: 'start one (nats-server -a 127.0.0.1 -js -sd ./nats-data), or check host and port; embedded:./folder needs none',
    })
  } finally {
    dial.sockets = undefined
  }
}

/** @throws RuntimeError unsupported: too old, or without JetStream */
export const requireServer = ({ info }: NatsConnection, url: string): void => {
  const [major = 0, minor = 0] = (info?.version ?? '').split('.').map(Number)
  const floor = serverFloor.join('.')
  if (major < serverFloor[0] || (major === serverFloor[0] && minor < serverFloor[1]))
    throw new RuntimeError('unsupported', `${shown(url)} is nats-server ${info?.version}, at least ${floor} is needed`, {
      hint: `install nats-server ${floor} or newer`,
    })
  if (info?.jetstream !== true)
    throw new RuntimeError('unsupported', `${shown(url)} runs without JetStream`, {
      hint: "start it with -js, or write 'jetstream {}' into its configuration",
    })
}

/** Logs the changes of the link. */
export const reportStatus = (nc: NatsConnection, log: Environment['log']): void => {
  void (async () => {
    for await (const status of nc.status()) {
      if (status.type === 'disconnect') log.warn({ server: status.server }, 'the link to NATS is down; it is tried again')
      else if (status.type === 'reconnect') log.info({ server: status.server }, 'the link to NATS is up again')
      else if (status.type === 'error') log.error({ error: errorBody(status.error) }, 'NATS refused something')
    }
  })()
}
