/** The routes of a node. */

import type { Socket } from 'node:net'
import { type Context, Hono } from 'hono'
import { type CommandName, isCommand } from '../../contracts/commands.ts'
import { definedOf } from '../../contracts/defined.ts'
import type { Clock, Logger } from '../../contracts/environment.ts'
import { errorBody, isRuntimeError, RuntimeError } from '../../contracts/errors.ts'
import { shownBody } from '../../contracts/redact.ts'
import type { Runtime } from '../../runtime/index.ts'
import { systemClock } from '../../runtime/index.ts'
import { statusOf } from '../error-status.ts'
import { eventStream } from './events.ts'
import { bearerIn, type Caller, callerOf, requireOurs } from './guard.ts'
import { clientOf, type GatewayLimits, gatewayLimits } from './limits.ts'
import { pageRoutes } from './page.ts'
import { Counts, type Throttle } from './throttle.ts'

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
  limits?: Partial<GatewayLimits>
  clock?: Clock
  /** Slows down those who try wrong tokens, here and on sockets. */
  throttle: Throttle
  /** Told of the connection on which the right token was shown. */
  trust?: (socket: Socket) => void
}

/** What the server of Node hands over with a request; nothing where there is no server. */
type Bindings = { incoming?: { socket: Socket } }
type Env = { Bindings: Bindings; Variables: { caller: Caller } }

const bodyBytesMax = 1024 * 1024
/** Read and thrown away beyond that: who is still sending would not see the answer. */
const discardBytesMax = 16 * 1024 * 1024

/** What begins work; a node that drains refuses it and still answers about the work it has. */
export const beginsWork: ReadonlySet<CommandName> = new Set<CommandName>([
  'chat.send',
  'actors.send',
  'actors.revive',
  'sessions.reset',
  'sessions.compact',
  'sessions.delete',
])

/** Also what parts of a node say of themselves that has been closed: who asked has neither opened them nor could. */
export const shuttingDown = (cause?: unknown): RuntimeError =>
  new RuntimeError('closed', 'this node is shutting down', { cause, retryable: true, hint: 'send it again when the node is back' })

export const gatewayApp = ({ runtime, log, tokens, host, draining, closing, throttle, ...more }: GatewayOptions): Hono<Env> => {
  const app = new Hono<Env>()
  const limits = { ...gatewayLimits, ...more.limits }
  const { clock = systemClock } = more
  const streams = new Counts()
  const json = (status: number, body: unknown, headers: Record<string, string> = {}): Response =>
    new Response(JSON.stringify(body), { status, headers: { 'content-type': 'application/json', 'cache-control': 'no-store', ...headers } })

  app.onError((error) => {
    if (!isRuntimeError(error)) log.error({ error: errorBody(error), stack: error.stack }, 'a request failed')
    else if (error.code === 'cancelled') log.debug({ error: errorBody(error) }, 'a client broke off')
    const body = shownBody(draining.aborted && isRuntimeError(error) && error.code === 'closed' ? shuttingDown(error) : error)
    return json(
      statusOf(body),
      { error: body },
      definedOf({
        'www-authenticate': body.code === 'unauthorised' ? 'Bearer' : undefined,
        'retry-after': typeof body.data?.retryAfter === 'number' ? String(body.data.retryAfter) : undefined,
      }),
    )
  })
  app.notFound(() => {
    throw new RuntimeError('not_found', 'there is nothing at this address', {
      hint: 'the chat is at /; POST /rpc/<command>, GET /sessions/<key>/events, /ws, /healthz, /readyz',
    })
  })

  app.use(async (context, next) => {
    requireOurs({ host: context.req.header('host'), origin: context.req.header('origin') }, host)
    await next()
  })
  app.route('/', pageRoutes())
  app.get('/healthz', () => json(200, { status: 'ok' }))
  app.get('/readyz', async () => {
    const health = await runtime().health()
    const ready = health.ready && !draining.aborted
    return json(ready ? 200 : 503, { ...health, ready, ...definedOf({ detail: draining.aborted ? 'shutting down' : undefined }) })
  })

  app.use(async (context, next) => {
    const socket = context.env.incoming?.socket
    context.set('caller', callerOf(bearerIn(context.req.header('authorization')), clientOf(socket?.remoteAddress), tokens, throttle))
    if (socket) more.trust?.(socket)
    await next()
  })
  app.post('/rpc/:command', async (context) => {
    const name = context.req.param('command')
    if (draining.aborted && isCommand(name) && beginsWork.has(name)) throw shuttingDown()
    return json(200, (await runtime().command(name, parseBody(await textOf(context.req.raw)))) ?? null)
  })
  const stream = (context: Context<Env>, key: string): Response => {
    // Nobody would read it, nor hang up.
    if (context.req.raw.method === 'HEAD')
      return new Response(null, { headers: { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' } })
    const { client, token } = context.get('caller')
    const owners = [
      [`token ${token}`, limits.streamsPerTokenMax],
      [`address ${client}`, limits.streamsPerAddressMax],
    ] as const
    for (const [owner, max] of owners)
      if (streams.of(owner) >= max)
        throw new RuntimeError('rate_limited', `${max} event streams are open for this ${owner.split(' ')[0]}`, {
          retryable: true,
          hint: 'close those that nobody reads',
          data: { retryAfter: 5 },
        })
    for (const [owner] of owners) streams.add(owner, 1)
    return eventStream(runtime, { context, key, closing, clock }, () => {
      for (const [owner] of owners) streams.add(owner, -1)
    })
  }
  app.get('/sessions/:key/events', (context) => stream(context, context.req.param('key')))
  // For the keys `.` and `..`, which are no names in a path.
  app.get('/events', (context) => stream(context, context.req.query('sessionKey') ?? ''))
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
