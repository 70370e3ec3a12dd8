/** The routes of a node. */

import type { Socket } from 'node:net'
import { type Context, Hono } from 'hono'
import { isCommand } from '../../contracts/commands.ts'
import { definedOf } from '../../contracts/defined.ts'
import type { Clock, Logger } from '../../contracts/environment.ts'
import { errorBody, isRuntimeError, RuntimeError } from '../../contracts/errors.ts'
import { shownBody } from '../../contracts/redact.ts'
import { shuttingDownDetail } from '../../contracts/transport.ts'
import type { Runtime } from '../../runtime/index.ts'
import { systemClock, version } from '../../runtime/index.ts'
import { requireWhole } from '../access.ts'
import { AnswerRoom, aboutOf, answerLimits } from '../answer-room.ts'
import { statusOf } from '../error-status.ts'
import { isOpenAi, openAiError, openAiRoutes } from '../openai/index.ts'
import { requireScope } from '../scopes.ts'
import { uiStream } from '../ui-stream/index.ts'
import { AccessWatch, type Watched } from './access-watch.ts'
import { admission, shuttingDown } from './admission.ts'
import { bodyOf, largeBytesMax } from './body.ts'
import type { Env } from './env.ts'
import { eventStream } from './events.ts'
import { fileRoutes } from './files.ts'
import { bearerIn, type Caller, callerOf, requireOurs } from './guard.ts'
import { clientOf, type GatewayLimits, gatewayLimits } from './limits.ts'
import { familiesOf } from './metrics.rules.ts'
import { pageRoutes } from './page.ts'
import { prometheusText, prometheusType } from './prometheus.rules.ts'
import { Counts, type Throttle } from './throttle.ts'
import { boundedRequests, RequestCounts } from './traffic.ts'

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
  /** Default: one of its own. */
  room?: AnswerRoom
  /** How many connections are open. */
  connections?: () => number
  /** How many clients are on the WebSocket. */
  sockets?: () => number
}

/** What the server of Node hands over with a request; nothing where there is no server. */
/** Commands that files come in with. */
const bodyMaxOf: Readonly<Record<string, number | undefined>> = { 'chat.send': largeBytesMax, 'files.put': largeBytesMax }

export const gatewayApp = ({ runtime, log, tokens, host, draining, closing, throttle, ...more }: GatewayOptions): Hono<Env> => {
  const app = new Hono<Env>()
  const limits = { ...gatewayLimits, ...more.limits }
  const { clock = systemClock } = more
  const { room = new AnswerRoom(answerLimits, clock) } = more
  const streams = new Counts()
  const requests = new RequestCounts()
  const watch = new AccessWatch(clock)
  let openStreams = 0
  const json = (status: number, body: unknown, headers: Record<string, string> = {}): Response => bytes(status, JSON.stringify(body), headers)
  const bytes = (status: number, body: string | Uint8Array<ArrayBuffer>, headers: Record<string, string> = {}): Response =>
    new Response(body, { status, headers: { 'content-type': 'application/json', 'cache-control': 'no-store', ...headers } })

  app.onError((error, context) => {
    if (!isRuntimeError(error)) log.error({ error: errorBody(error), stack: error.stack }, 'a request failed')
    else if (error.code === 'cancelled') log.debug({ error: errorBody(error) }, 'a client broke off')
    const body = shownBody(draining.aborted && isRuntimeError(error) && error.code === 'closed' ? shuttingDown(error) : error)
    const headers = definedOf({
      'www-authenticate': body.code === 'unauthorised' ? 'Bearer' : undefined,
      'retry-after': typeof body.data?.retryAfter === 'number' ? String(body.data.retryAfter) : undefined,
    })
    if (!isOpenAi(context.req.path)) return json(statusOf(body), { error: body }, headers)
    const { status, retry, shown } = openAiError(body)
    return json(status, { error: shown }, { ...headers, 'x-should-retry': retry })
  })
  app.notFound(() => {
    throw new RuntimeError('not_found', 'there is nothing at this address', {
      hint: 'the chat is at /; POST /rpc/<command>, GET /sessions/<key>/events, POST /files, GET /sessions/<key>/files/<id>, /ws, /v1/models, POST /v1/chat/completions, /v1/responses, /api/chat, /metrics, /healthz, /readyz',
    })
  })

  app.use(requests.count)
  app.use(boundedRequests(limits))
  app.use(async (context, next) => {
    const { req } = context
    requireOurs({ host: req.header('host'), origin: req.header('origin'), authorization: req.header('authorization') }, host)
    await next()
  })
  app.route('/', pageRoutes())
  app.get('/healthz', () => json(200, { status: 'ok' }))
  const healthNow = async () => {
    const health = await runtime().health()
    return { ...health, ready: health.ready && !draining.aborted, ...definedOf({ detail: draining.aborted ? shuttingDownDetail : undefined }) }
  }
  app.get('/readyz', async () => {
    const health = await healthNow()
    return json(health.ready ? 200 : 503, health)
  })

  app.use(async (context, next) => {
    const socket = context.env.incoming?.socket
    context.set(
      'caller',
      callerOf(bearerIn(context.req.header('authorization')), clientOf(socket?.remoteAddress), {
        tokens,
        throttle,
        accessOf: (hash) => runtime().accessOf(hash),
      }),
    )
    if (socket) more.trust?.(socket)
    await next()
  })
  const admit = admission(draining)
  app.post('/rpc/:command', async (context) => {
    const name = context.req.param('command')
    if (isCommand(name)) admit(name)
    const { incoming, outgoing } = context.env
    const input = await bodyOf(context.req.raw, bodyMaxOf[name])
    const command = isCommand(name) ? name : undefined
    const caller = context.get('caller')
    const make = async () => Buffer.from(JSON.stringify((await runtime().command(name, input, caller.access?.())) ?? null))
    const socket = incoming?.socket
    const asker = { token: caller.token, client: caller.client, connection: socket ?? context, isGone: () => socket?.destroyed === true }
    const about = aboutOf(input)
    const answer = await watch.told(caller, runtime().scopeOf(name), () => room.made(asker, command, about, make))
    outgoing?.once(
      'close',
      room.hold(asker, about, answer.length, () => socket?.destroy()),
    )
    return bytes(200, answer)
  })
  /** Counts what stays open for long, and watches its token until it is left. @throws RuntimeError rate_limited */
  const occupy = (caller: Caller): Watched => {
    const { client, token } = caller
    const owners = [
      [`token ${token}`, limits.streamsPerTokenMax],
      [`address ${client}`, limits.streamsPerAddressMax],
    ] as const
    for (const [owner, max] of owners)
      if (streams.of(owner) >= max)
        throw new RuntimeError('rate_limited', `${max} event streams and answers are open for this ${owner.split(' ')[0]}`, {
          retryable: true,
          hint: 'close those that nobody reads',
          data: { retryAfter: 5 },
        })
    for (const [owner] of owners) streams.add(owner, 1)
    openStreams++
    const watched = watch.watch(caller)
    const leave = () => {
      watched.leave()
      openStreams--
      for (const [owner] of owners) streams.add(owner, -1)
    }
    return { ...watched, leave }
  }
  const stream = (context: Context<Env>, key: string): Response => {
    // Nobody would read it, nor hang up.
    if (context.req.raw.method === 'HEAD')
      return new Response(null, { headers: { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' } })
    const { access } = context.get('caller')
    return eventStream(runtime, { context, key, closing, clock, access, watched: occupy(context.get('caller')) })
  }
  app.get('/sessions/:key/events', (context) => stream(context, context.req.param('key')))
  // For the keys `.` and `..`, which are no names in a path.
  app.get('/events', (context) => stream(context, context.req.query('sessionKey') ?? ''))
  app.route('/', openAiRoutes({ runtime, log, clock, closing, admit, occupy }))

  app.get('/metrics', async (context) => {
    const access = context.get('caller').access?.()
    if (access) requireScope(access.scopes, 'read', '/metrics')
    requireWhole(access, '/metrics')
    const traffic = { requests: requests.all, streams: openStreams, connections: more.connections?.(), sockets: more.sockets?.() }
    const figures = { version, health: await healthNow(), metrics: runtime().metrics(), traffic }
    return new Response(prometheusText(familiesOf(figures)), { headers: { 'content-type': prometheusType, 'cache-control': 'no-store' } })
  })

  const accessOf = (context: Context<Env>) => context.get('caller').access?.()
  app.route('/', fileRoutes({ runtime, admit, accessOf }))
  const ui = uiStream({ runtime, clock, closing, accessOf, enter: (context) => occupy(context.get('caller')), admit })
  app.post('/api/chat', async (context) => ui.post(context, await bodyOf(context.req.raw, largeBytesMax)))
  app.get('/api/chat/:id/stream', (context) => ui.resume(context, context.req.param('id')))
  return app
}
