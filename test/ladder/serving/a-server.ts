/** Executables behind a real HTTP server. */
import type { AddressInfo } from 'node:net'
import { serve as serveNode } from '@hono/node-server'
import { createRuntime, type Runtime, type RuntimeOptions } from '../../../src/index.ts'
import { type AnyExecutable, type Handler, ladder, type ServeOptions, serve } from '../../../src/ladder/index.ts'
import { afterThisTest } from '../../support/cleanup.ts'

export const token = 'a-token-of-thirty-two-characters'

export const listening = async (handler: Handler): Promise<string> => {
  const server = serveNode({ fetch: handler, hostname: '127.0.0.1', port: 0 })
  await new Promise<void>((resolve) => server.once('listening', resolve))
  afterThisTest(() => new Promise((resolve) => ('closeAllConnections' in server && server.closeAllConnections(), server.close(resolve))))
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

export const aServer = async (executables: AnyExecutable[], options: Partial<ServeOptions> = {}, app: RuntimeOptions = {}) => {
  const runtime: Runtime = await createRuntime({ transport: 'memory:', extensions: [ladder({ executables })], ...app })
  afterThisTest(() => runtime.close())
  const url = await listening(serve(executables, { token, ...options }))
  const post = (path: string, body?: unknown, { headers = {}, ...more }: Omit<RequestInit, 'headers'> & { headers?: Record<string, string> } = {}) =>
    fetch(`${url}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${token}`, ...headers },
      body: typeof body === 'string' ? body : JSON.stringify(body ?? {}),
      ...more,
    })
  return { runtime, url, post }
}
