/** One client on a WebSocket: its frames, what it watches, and what it is sent. Whether it is heard at all the chart decides. */

import { randomBytes, randomUUID } from 'node:crypto'
import type { RawData, WebSocket } from 'ws'
import { createActor } from 'xstate'
import { type Access, reaches } from '../../contracts/access.ts'
import { type CommandName, isCommand } from '../../contracts/commands.ts'
import { actorClock } from '../../contracts/environment.ts'
import { type ErrorBody, errorBody, isRuntimeError, RuntimeError } from '../../contracts/errors.ts'
import {
  type ChatEvent,
  ClientFrame,
  type GatewayEventName,
  type GatewayEvents,
  type SocketMethod,
  type Subscribed,
  socketMethods,
  type Welcome,
} from '../../contracts/gateway.ts'
import { parseInput, parseJson } from '../../contracts/parse.ts'
import { shownBody } from '../../contracts/redact.ts'
import { webChannelId } from '../../contracts/reply.ts'
import { type Span, steadyTime, stopwatch } from '../../contracts/tracing.ts'
import { healthFor } from '../access.ts'
import { type Asker, aboutOf } from '../answer-room.ts'
import type { Watcher } from '../chat/index.ts'
import { requireScope, scopeOf, withinScopes } from '../scopes.ts'
import { connectionMachine } from './connection.machine.ts'
import type { ConnectionParts } from './connection-parts.ts'
import { droppable } from './droppable.rules.ts'
import { bytesOf, idOf, scopeOfEvent, smallBytes } from './frames.rules.ts'
import { grant, welcomeTo } from './handshake.ts'
import { TraceWatching } from './trace-watching.ts'
import { Unanswered } from './unanswered.ts'
import { Watching } from './watching.ts'

export class Connection implements Watcher {
  readonly id = randomBytes(9).toString('base64url')
  readonly #socket: WebSocket
  readonly #parts: ConnectionParts
  readonly #actor
  readonly #watched: Watching
  readonly #traces: TraceWatching
  /** While it is behind: resolves when it has caught up, or is gone. */
  #room: PromiseWithResolvers<void> | undefined
  /** What its token allows now; undefined for that of the node. @throws RuntimeError unauthorised where it is over */
  #allowed: (() => Access) | undefined
  /** By whom its answers are counted: by its connection alone, until it has shown a token. */
  #asker: Asker
  readonly #time: () => number
  readonly #openedAt: number
  /** How long it took to connect, until the first message has told it. */
  #connecting: Span[] = []
  readonly #unanswered: Unanswered
  #badFrames = 0

  /** @param ended called once */
  constructor(socket: WebSocket, parts: ConnectionParts, ended: () => void) {
    this.#socket = socket
    this.#parts = parts
    this.#asker = { token: this.id, client: '', connection: this, isGone: () => socket.readyState !== socket.OPEN }
    this.#unanswered = new Unanswered(parts.limits.requestsMax)
    this.#watched = new Watching(parts.feeds, this, parts.limits.subscriptionsMax)
    this.#traces = new TraceWatching(this, parts.limits.subscriptionsMax)
    this.#actor = createActor(connectionMachine, { clock: actorClock(parts.clock) })
    this.#actor.on('close', ({ code, reason }) => {
      socket.close(code, reason)
      // A peer that stands still would never answer the close.
      const patience = parts.clock.setTimeout(() => socket.terminate(), 1_000)
      socket.once('close', () => parts.clock.clearTimeout(patience))
    })
    this.#actor.subscribe({
      complete: () => {
        this.#makeRoom()
        this.#watched.leaveAll()
        this.#traces.leaveAll()
        ended()
      },
    })
    this.#actor.start()
    this.#time = steadyTime(parts.clock)
    this.#openedAt = this.#time()
    socket.on('message', (data, isBinary) => void this.#hear(data, isBinary))
    // What `ws` refuses (too large, no UTF-8, a frame that is none) it closes by itself, with the code for it.
    socket.on('error', (error) => parts.log.debug({ connection: this.id, error: errorBody(error) }, 'a socket broke'))
    socket.once('close', () => this.#actor.send({ type: 'gone' }))
    this.#write({
      type: 'event',
      event: 'connect.challenge',
      payload: { nonce: randomBytes(16).toString('base64url'), timestamp: parts.clock.now() },
    })
  }

  get isOpen(): boolean {
    return this.#actor.getSnapshot().matches('open')
  }
  leave(): void {
    if (this.#actor.getSnapshot().status === 'active') this.#actor.send({ type: 'leaving' })
  }

  ended(): void {
    // Its session can be watched anew: what it missed stands in the history.
    this.#watched.forget()
  }

  tell<Name extends GatewayEventName>(event: Name, payload: GatewayEvents[Name], seq?: number): void {
    const { scopes, caps } = this.#actor.getSnapshot().context
    if (!this.isOpen || !scopes.includes(scopeOfEvent(event)) || !this.#isValid()) return
    if (this.isBehind && droppable(event, payload, this.#parts.runtime().config.value.gateway.dropIfSlow)) return
    const said = event === 'health' ? healthFor(payload, this.#allowed?.()) : payload
    const shown = event === 'chat' && caps.includes('chat.patch') ? this.#watched.patched(payload as ChatEvent) : said
    this.#write({ type: 'event', event, payload: shown, ...(seq === undefined ? {} : { seq }) })
  }

  /** @param keys sessions that have changed: of those that it does not reach it hears nothing */
  tellChanged(keys: ReadonlySet<string>): void {
    const timestamp = this.#parts.clock.now()
    if (this.#isValid() && [...keys].some((key) => reaches(this.#allowed?.(), key))) this.tell('sessions.changed', { timestamp })
  }

  /** A socket whose token is over is closed. */
  #isValid(): boolean {
    try {
      this.#allowed?.()
      return true
    } catch {
      if (this.#actor.getSnapshot().status === 'active') this.#actor.send({ type: 'misbehaved', reason: 'the token is over' })
      return false
    }
  }

  /** As far as it goes: what was granted to the connection, of what its token allows now. */
  #access(): Access | undefined {
    const allowed = this.#allowed?.()
    return allowed && { ...allowed, scopes: this.#actor.getSnapshot().context.scopes.filter((scope) => allowed.scopes.includes(scope)) }
  }

  get isBehind(): boolean {
    return this.#socket.bufferedAmount > (this.#parts.limits.bufferedBytesMax ?? this.#parts.runtime().config.value.gateway.bufferedBytesMax)
  }

  /** What must not be left out is sent however much waits, as far as there is room; who is behind is not heard until it has caught up. */
  #write(frame: object): void {
    this.#send(bytesOf(frame))
  }

  #send(bytes: Buffer, sent: () => void = () => undefined): void {
    if (this.isOpen && this.#socket.bufferedAmount > this.#parts.limits.overrunBytes) {
      this.#actor.send({ type: 'overrun' })
      sent()
      return
    }
    this.#socket.send(bytes, { binary: false }, () => {
      sent()
      this.#sent()
    })
    if (!this.isBehind || this.#room !== undefined) return
    this.#room = Promise.withResolvers()
    this.#socket.pause()
    this.#tellChart('behind')
  }

  #sent(): void {
    if (this.#room === undefined || this.isBehind) return
    this.#socket.resume()
    this.#tellChart('caughtUp')
    this.#makeRoom()
    this.#traces.flush()
  }

  #makeRoom(): void {
    this.#room?.resolve()
    this.#room = undefined
  }

  #tellChart(type: 'behind' | 'caughtUp'): void {
    if (this.#actor.getSnapshot().status === 'active') this.#actor.send({ type })
  }

  async #hear(data: RawData, isBinary: boolean): Promise<void> {
    let frame: ClientFrame | undefined
    let id = ''
    let answered: (() => void) | undefined
    try {
      if (isBinary) throw new RuntimeError('bad_request', 'frames are text, not binary', { hint: 'send JSON as a text frame' })
      const said = parseJson(data as Buffer, 'frame', 'send one JSON object a frame')
      id = idOf(said)
      frame = parseInput(ClientFrame, said, 'send { type: "req", id, method, params }')
      const asked = frame
      const { method } = asked
      // Before it waits for anything, so that what waits is bounded too.
      answered = this.#unanswered.add()
      // As it is sent it takes up least.
      const answer = await this.#parts.room.made(this.#asker, isCommand(method) ? method : undefined, aboutOf(asked.params), async () =>
        bytesOf({ type: 'res', id: asked.id, ok: true, payload: (await this.#handle(asked)) ?? null }),
      )
      // It may have been revoked while the answer was waited for. What has changed something says that it has.
      if (this.#parts.runtime().scopeOf(method) === 'read') this.#allowed?.()
      await this.#answer(answer, answered, aboutOf(asked.params))
    } catch (error) {
      if (!isRuntimeError(error)) this.#parts.log.error({ error: errorBody(error), stack: (error as Error).stack }, 'a request failed')
      const body = shownBody(error)
      await this.#answer(bytesOf({ type: 'res', id, ok: false, error: body }), answered)
      this.#minded(frame, body)
    }
  }

  /** What follows from a frame that was refused. */
  #minded(frame: ClientFrame | undefined, { message }: ErrorBody): void {
    const { status, value } = this.#actor.getSnapshot()
    if (status !== 'active' || !this.#isValid()) return
    if (value === 'handshaking') this.#actor.send({ type: 'refused', reason: message.slice(0, 100) })
    else if (frame === undefined && ++this.#badFrames >= this.#parts.limits.badFramesMax)
      this.#actor.send({ type: 'misbehaved', reason: 'too many frames that cannot be understood' })
  }

  /** @param answered called when it has been written, or will never be @throws RuntimeError overloaded */
  async #answer(answer: Buffer, answered?: () => void, about = ''): Promise<void> {
    const release = answer.length > smallBytes ? this.#parts.room.hold(this.#asker, about, answer.length, () => this.#overrun()) : undefined
    // Who asks for more than can be sent at once gets it piece by piece.
    while (this.#room !== undefined) await this.#room.promise
    const sent = () => {
      release?.()
      answered?.()
    }
    if (this.#socket.readyState === this.#socket.OPEN) this.#send(answer, sent)
    else sent()
  }

  #overrun(): void {
    if (this.isOpen) this.#actor.send({ type: 'overrun' })
    // It reads nothing, and would never say that it has heard.
    this.#socket.terminate()
  }

  async #handle({ method, params = {} }: ClientFrame): Promise<unknown> {
    if (!this.isOpen) {
      if (method === 'connect') return this.#connect(params)
      throw new RuntimeError('unauthorised', 'the first frame must be connect', { hint: 'send { type: "req", id, method: "connect", params }' })
    }
    this.#allowed?.()
    if (Object.hasOwn(socketMethods, method)) return await this.#ownMethod(method as SocketMethod, params)
    if (isCommand(method)) return await this.#command(method, params)
    // Of an extension; where there is none, it says which there are.
    const { scopes } = this.#actor.getSnapshot().context
    return await this.#parts.runtime().command(method, params, this.#access() ?? { id: 'node', scopes })
  }

  async #ownMethod(method: SocketMethod, params: unknown): Promise<unknown> {
    if (method === 'connect') throw new RuntimeError('conflict', 'this connection is open already', { hint: 'open another one to connect anew' })
    requireScope(this.#actor.getSnapshot().context.scopes, 'read', method)
    if (method === 'trace.subscribe') return this.#traces.watch(this.#parts.runtime(), params, this.#access())
    if (method === 'trace.unsubscribe') return this.#traces.leave(this.#parts.runtime(), params)
    const sessionKey = this.#parts.runtime().keyOf(parseInput(socketMethods[method], params).sessionKey)
    if (method === 'chat.subscribe') {
      // One that is not there says nothing either.
      if (!reaches(this.#access(), sessionKey)) return { sessionKey, run: null, tools: [] } satisfies Subscribed
      const { run, tools } = await this.#watched.watch(sessionKey)
      if (run) this.#watched.shows(run)
      return { sessionKey, run, tools } satisfies Subscribed
    }
    this.#watched.leave(sessionKey)
    return { sessionKey }
  }

  async #command(name: CommandName, params: Record<string, unknown>): Promise<unknown> {
    const { scopes } = this.#actor.getSnapshot().context
    requireScope(scopes, scopeOf(name), name)
    this.#parts.admit(name)
    const runtime = this.#parts.runtime()
    const access = this.#access()
    if (name !== 'chat.send' || typeof params.sessionKey !== 'string') return runtime.command(name, params, access)
    const sessionKey = runtime.keyOf(params.sessionKey)
    // Who says something wants to hear what comes of it, as far as there is room for that.
    if (reaches(access, sessionKey) && this.#watched.mayAdd(sessionKey)) await this.#watched.watch(sessionKey)
    // A key may be longer than the name of a place.
    const { idempotencyKey = `m-${randomUUID()}`, origin = { channel: webChannelId, to: sessionKey.slice(0, 200) } } = params
    const run = { sessionKey, runId: String(idempotencyKey) }
    const lap = stopwatch(runtime.tracing, run)
    const answer = await runtime.command(name, { ...params, origin: withinScopes(origin, scopes), idempotencyKey }, access)
    lap('acknowledgement')
    for (const span of this.#connecting.splice(0)) runtime.tracing.span(run, span)
    return answer
  }

  async #connect(params: unknown): Promise<Welcome> {
    const start = this.#time()
    const granted = grant(params, this.#parts.authorise)
    const authorised = this.#time()
    this.#allowed = granted.caller.access
    this.#asker = { ...this.#asker, token: granted.caller.token, client: granted.caller.client }
    this.#actor.send({ type: 'accepted', scopes: granted.scopes, caps: granted.caps })
    const welcome = await welcomeTo(granted, this.id, this.#parts.runtime(), this.#parts.limits)
    this.#connecting = [
      { name: 'connect', start: this.#openedAt, end: this.#time(), outcome: 'ok' },
      { name: 'auth', start, end: authorised, outcome: 'ok' },
    ]
    return welcome
  }
}
