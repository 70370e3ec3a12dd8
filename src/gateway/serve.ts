/** The HTTP server of a node. */
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { serve } from '@hono/node-server'
import { RuntimeError } from '../contracts/errors.ts'
import { type GatewayOptions, gatewayApp } from './app.ts'
import { isLoopback } from './guard.ts'

export type ServeOptions = Pick<GatewayOptions, 'runtime' | 'log' | 'host' | 'tokens'> & { port: number }

export type Gateway = {
  url: string
  /** Takes no new work and no new connections; what is open stays open. */
  drain(): void
  /** Ends all connections. */
  close(): Promise<void>
}

/** @throws RuntimeError conflict when the port is in use, bad_request for a host that is not here */
export const serveGateway = async ({ runtime, log, host, port, tokens }: ServeOptions): Promise<Gateway> => {
  const draining = new AbortController()
  const closing = new AbortController()
  const app = gatewayApp({ runtime, log, tokens, host, draining: draining.signal, closing: closing.signal })
  const server = serve({ fetch: app.fetch, hostname: host, port }) as Server
  await new Promise<void>((resolve, reject) => {
    server.once('listening', resolve)
    server.once('error', (cause: NodeJS.ErrnoException) => reject(cannotListen(cause, host, port)))
  })
  const bound = server.address() as AddressInfo
  const shown = host.includes(':') ? `[${host}]` : host
  const stopped = new Promise<void>((resolve) => server.once('close', resolve))
  return {
    url: `http://${shown}:${bound.port}`,
    drain: () => {
      draining.abort()
      server.close()
    },
    close: async () => {
      draining.abort()
      closing.abort()
      if (server.listening) server.close()
      // What streams still have to say has been written; a client that does not read shall not hold us.
      const patience = setTimeout(() => server.closeAllConnections(), 500)
      server.closeIdleConnections()
      await stopped
      clearTimeout(patience)
    },
  }
}

/** Beyond this machine the file in the data folder is not enough: somebody has to have decided who knows the token. @throws RuntimeError forbidden */
export const checkExposure = (host: string, token: string | undefined): void => {
  if (isLoopback(host)) return
  if (token === undefined || token.length < 16)
    throw new RuntimeError('forbidden', `${host} can be reached from other machines, and no token of your own is set`, {
      field: 'host',
      hint: 'set STATECAST_TOKEN to at least 16 characters, or leave --host at 127.0.0.1',
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
