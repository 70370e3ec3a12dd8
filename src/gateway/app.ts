/** The routes of a node. */
import { Hono } from 'hono'
import { type CommandName, isCommand } from '../contracts/commands.ts'
import type { Logger } from '../contracts/environment.ts'
import { errorBody, isRuntimeError, RuntimeError } from '../contracts/errors.ts'
import { execute } from '../runtime/commands.ts'
import { statusOf } from '../runtime/status.ts'
import type { Runtime } from '../runtime.ts'
import { eventStream } from './events.ts'
import { checkHost, checkToken } from './guard.ts'

export type GatewayOptions = {
  /** Throws while there is none yet: who listens before it is made says so to those who come early. */
  runtime: () => Runtime
  log: Logger
  /** Any of these opens everything. */
  tokens: readonly string[]
  /** The name or address that the server listens on. */
  host: string
  /** Aborts when the node begins to shut down: no new work, streams stay open. */
  draining: AbortSignal
  /** Aborts when streams have to end. */
  closing: AbortSignal
}

const bodyBytesMax = 1024 * 1024
/** Read and thrown away beyond that: who is still sending would not see the answer. */
const discardBytesMax = 16 * 1024 * 1024

/** What begins work; a node that drains refuses it and still answers about the work it has. */
const beginsWork = new Set<CommandName>(['chat.send', 'actors.send', 'actors.revive', 'sessions.reset', 'sessions.compact', 'sessions.delete'])

export const gatewayApp = ({ runtime, log, tokens, host, draining, closing }: GatewayOptions): Hono => {
  const app = new Hono()
  const json = (status: number, body: unknown, headers: Record<string, string> = {}): Response =>
    new Response(JSON.stringify(body), { status, headers: { 'content-type': 'application/json', 'cache-control': 'no-store', ...headers } })

  app.onError((error) => {
    if (!isRuntimeError(error)) log.error({ error: errorBody(error), stack: error.stack }, 'a request failed')
    else if (error.code === 'cancelled') log.debug({ error: errorBody(error) }, 'a client broke off')
    const body = errorBody(error)
    return json(statusOf(body), { error: body }, body.code === 'unauthorised' ? { 'www-authenticate': 'Bearer' } : {})
  })
  app.notFound(() => {
    throw new RuntimeError('not_found', 'there is nothing at this address', {
      hint: 'POST /rpc/<command>, GET /sessions/<key>/events, /healthz, /readyz',
    })
  })

  app.use(checkHost(host))
  app.get('/healthz', () => json(200, { status: 'ok' }))
  app.get('/readyz', async () => {
    const health = await runtime().health()
    const ready = health.ready && !draining.aborted
    return json(ready ? 200 : 503, { ...health, ready, ...(draining.aborted ? { detail: 'shutting down' } : {}) })
  })

  app.use(checkToken(tokens))
  app.post('/rpc/:command', async (context) => {
    const name = context.req.param('command')
    if (draining.aborted && isCommand(name) && beginsWork.has(name))
      throw new RuntimeError('closed', 'this node is shutting down', { retryable: true, hint: 'send it again when the node is back' })
    return json(200, (await execute(runtime(), name, parseBody(await textOf(context.req.raw)))) ?? null)
  })
  app.get('/sessions/:key/events', (context) => eventStream(runtime(), context, context.req.param('key'), closing))
  // For the keys `.` and `..`, which are no names in a path.
  app.get('/events', (context) => eventStream(runtime(), context, context.req.query('sessionKey') ?? '', closing))
  return app
}

/** @throws RuntimeError too_large, bad_request, cancelled when the client broke off */
const textOf = async ({ body }: Request): Promise<string> => {
  const chunks: Uint8Array[] = []
  let sizeBytes = 0
  try {
    for await (const chunk of body ?? []) {
      sizeBytes += chunk.length
      if (sizeBytes <= bodyBytesMax) chunks.push(chunk)
      else if (sizeBytes > discardBytesMax) break
    }
  } catch (cause) {
    throw new RuntimeError('cancelled', 'the request ended before its body did', { cause, hint: 'send all of it' })
  }
  if (sizeBytes > bodyBytesMax) throw new RuntimeError('too_large', `a request may have ${bodyBytesMax} bytes`, { hint: 'send less at a time' })
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(chunks))
  } catch (cause) {
    throw new RuntimeError('bad_request', 'the body is not UTF-8', { cause, hint: 'send JSON as UTF-8' })
  }
}

const parseBody = (text: string): unknown => {
  if (text.trim() === '') return {}
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new RuntimeError('bad_request', `the body is not JSON: ${cause instanceof Error ? cause.message : ''}`, { hint: 'send one JSON object' })
  }
}
