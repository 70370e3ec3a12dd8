/** One client on a WebSocket: its frames, what it watches, and what it is sent. Whether it is heard at all the chart decides. */

import { randomBytes } from 'node:crypto'
import type { RawData, WebSocket } from 'ws'
import { createActor } from 'xstate'
import { type CommandName, isCommand } from '../../contracts/commands.ts'
import { actorClock, type Clock, type Logger } from '../../contracts/environment.ts'
import { type ErrorBody, errorBody, isRuntimeError, RuntimeError } from '../../contracts/errors.ts'
import {
  type ChatBlock,
  type ChatEvent,
  ClientFrame,
  type GatewayCap,
  type GatewayEventName,
  type GatewayEvents,
  gatewayCaps,
  gatewayProtocol,
  gatewayScopes,
  type SocketMethod,
  type Subscribed,
  socketMethods,
  type Welcome,
} from '../../contracts/gateway.ts'
import { parseInput, parseJson } from '../../contracts/parse.ts'
import { shownBody } from '../../contracts/redact.ts'
import type { Runtime } from '../../runtime/index.ts'
import { version } from '../../runtime/index.ts'
import type { AnswerRoom } from '../answer-room.ts'
import { patchOf, type RunSoFar, type SessionFeeds, type Watcher } from '../chat/index.ts'
import { requireScope, scopeOf, withImplied } from '../scopes.ts'
import { connectionMachine } from './connection.machine.ts'
import { bytesOf, droppable, idOf, scopeOfEvent, smallBytes } from './frames.rules.ts'
import type { SocketLimits } from './limits.ts'

export type ConnectionParts = {
  runtime: () => Runtime
  feeds: SessionFeeds
  clock: Clock
  log: Logger
  limits: SocketLimits
  /** Says whether a token is ours. @throws RuntimeError unauthorised, rate_limited */
  authorise: (token: string) => void
  /** Refuses what begins work while the node shuts down. @throws RuntimeError closed */
  admit: (command: CommandName) => void
  room: AnswerRoom
}

export class Connection implements Watcher {
  readonly id = randomBytes(9).toString('base64url')
  readonly #socket: WebSocket
  readonly #parts: ConnectionParts
  readonly #actor
  readonly #watched = new Set<string>()
  /** By run, the blocks that it was shown last. */
  readonly #shown = new Map<string, readonly ChatBlock[]>()
  /** While it is behind: resolves when it has caught up, or is gone. */
  #room: PromiseWithResolvers<void> | undefined
  #requests = 0
  #badFrames = 0

  /** @param ended called once */
  constructor(socket: WebSocket, parts: ConnectionParts, ended: () => void) {
    this.#socket = socket
    this.#parts = parts
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
        for (const key of this.#watched) parts.feeds.leave(key, this)
        this.#watched.clear()
        ended()
      },
    })
    this.#actor.start()
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
    this.#watched.clear()
  }

  tell<Name extends GatewayEventName>(event: Name, payload: GatewayEvents[Name], seq?: number): void {
    const { scopes, caps } = this.#actor.getSnapshot().context
    if (!this.isOpen || !scopes.includes(scopeOfEvent(event))) return
    if (this.#isBehind && droppable(event, payload)) return
    const shown = event === 'chat' ? this.#chat(payload as ChatEvent, caps) : payload
    this.#write({ type: 'event', event, payload: shown, ...(seq === undefined ? {} : { seq }) })
  }

  #chat(event: ChatEvent, caps: readonly GatewayCap[]): ChatEvent {
    if (!caps.includes('chat.patch')) return event
    const shown = this.#shown.get(event.runId) ?? []
    if (event.state === 'delta') this.#shown.set(event.runId, event.message?.content ?? [])
    else this.#shown.delete(event.runId)
    return patchOf(event, shown)
  }

  get #isBehind(): boolean {
    return this.#socket.bufferedAmount > this.#parts.limits.bufferedBytesMax
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
    if (!this.#isBehind || this.#room !== undefined) return
    this.#room = Promise.withResolvers()
    this.#socket.pause()
    this.#tellChart('behind')
  }

  #sent(): void {
    if (this.#room === undefined || this.#isBehind) return
    this.#socket.resume()
    this.#tellChart('caughtUp')
    this.#makeRoom()
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
    try {
      if (isBinary) throw new RuntimeError('bad_request', 'frames are text, not binary', { hint: 'send JSON as a text frame' })
      const said = parseJson(data as Buffer, 'frame', 'send one JSON object a frame')
      id = idOf(said)
      frame = parseInput(ClientFrame, said, 'send { type: "req", id, method, params }')
      const asked = frame
      const { method } = asked
      // As it is sent it takes up least.
      const answer = await this.#parts.room.made(isCommand(method) ? method : undefined, async () =>
        bytesOf({ type: 'res', id: asked.id, ok: true, payload: (await this.#handle(asked)) ?? null }),
      )
      await this.#answer(answer)
    } catch (error) {
      if (!isRuntimeError(error)) this.#parts.log.error({ error: errorBody(error), stack: (error as Error).stack }, 'a request failed')
      const body = shownBody(error)
      await this.#answer(bytesOf({ type: 'res', id, ok: false, error: body }))
      this.#minded(frame, body)
    }
  }

  /** What follows from a frame that was refused. */
  #minded(frame: ClientFrame | undefined, { message }: ErrorBody): void {
    const { status, value } = this.#actor.getSnapshot()
    if (status !== 'active') return
    if (value === 'handshaking') this.#actor.send({ type: 'refused', reason: message.slice(0, 100) })
    else if (frame === undefined && ++this.#badFrames >= this.#parts.limits.badFramesMax)
      this.#actor.send({ type: 'misbehaved', reason: 'too many frames that cannot be understood' })
  }

  /** @throws RuntimeError overloaded */
  async #answer(answer: Buffer): Promise<void> {
    const release = answer.length > smallBytes ? this.#parts.room.hold(answer.length, () => this.#overrun()) : undefined
    // Who asks for more than can be sent at once gets it piece by piece.
    while (this.#room !== undefined) await this.#room.promise
    if (this.#socket.readyState === this.#socket.OPEN) this.#send(answer, release)
    else release?.()
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
    if (this.#requests >= this.#parts.limits.requestsMax)
      throw new RuntimeError('rate_limited', `${this.#requests} requests of this connection are not answered yet`, {
        retryable: true,
        hint: 'wait for answers before asking more',
      })
    this.#requests++
    try {
      if (Object.hasOwn(socketMethods, method)) return await this.#ownMethod(method as SocketMethod, params)
      if (isCommand(method)) return await this.#command(method, params)
      // Says which commands there are.
      return await this.#parts.runtime().command(method, params)
    } finally {
      this.#requests--
    }
  }

  async #ownMethod(method: SocketMethod, params: unknown): Promise<unknown> {
    if (method === 'connect') throw new RuntimeError('conflict', 'this connection is open already', { hint: 'open another one to connect anew' })
    requireScope(this.#actor.getSnapshot().context.scopes, 'read', method)
    const { sessionKey } = parseInput(socketMethods[method], params)
    if (method === 'chat.subscribe') {
      const { run, tools } = await this.#watch(sessionKey)
      if (run) this.#shown.set(run.runId, run.message?.content ?? [])
      return { sessionKey, run, tools } satisfies Subscribed
    }
    this.#watched.delete(sessionKey)
    this.#parts.feeds.leave(sessionKey, this)
    return { sessionKey }
  }

  async #watch(sessionKey: string): Promise<RunSoFar> {
    if (!this.#watched.has(sessionKey) && this.#watched.size >= this.#parts.limits.subscriptionsMax)
      throw new RuntimeError('rate_limited', `this connection watches ${this.#watched.size} sessions`, {
        hint: 'chat.unsubscribe those that nobody looks at',
      })
    this.#watched.add(sessionKey)
    try {
      return await this.#parts.feeds.watch(sessionKey, this)
    } catch (error) {
      this.#watched.delete(sessionKey)
      throw error
    }
  }

  async #command(name: CommandName, params: Record<string, unknown>): Promise<unknown> {
    requireScope(this.#actor.getSnapshot().context.scopes, scopeOf(name), name)
    this.#parts.admit(name)
    if (name !== 'chat.send') return this.#parts.runtime().command(name, params)
    const { sessionKey } = params
    if (typeof sessionKey !== 'string') return this.#parts.runtime().command(name, params)
    // Who says something wants to hear what comes of it, as far as there is room for that.
    if (!this.#watched.has(sessionKey) && this.#watched.size < this.#parts.limits.subscriptionsMax) await this.#watch(sessionKey)
    // A key may be longer than the name of a place.
    return this.#parts.runtime().command(name, { origin: { channel: 'web', to: sessionKey.slice(0, 200) }, ...params })
  }

  async #connect(params: unknown): Promise<Welcome> {
    const { minProtocol, maxProtocol, scopes, caps, auth } = parseInput(socketMethods.connect, params)
    this.#parts.authorise(auth.token)
    if (minProtocol > gatewayProtocol || maxProtocol < gatewayProtocol)
      throw new RuntimeError('unsupported', `this node speaks protocol ${gatewayProtocol}`, {
        field: 'maxProtocol',
        hint: 'update the older of the two',
      })
    const granted = withImplied(scopes ?? gatewayScopes)
    const known = gatewayCaps.filter((cap) => caps.includes(cap))
    const { limits, runtime } = this.#parts
    this.#actor.send({ type: 'accepted', scopes: granted, caps: known })
    const { node } = await runtime().health()
    return {
      protocol: gatewayProtocol,
      server: { name: 'statecast', version, connection: this.id, ...(node === undefined ? {} : { node }) },
      policy: { frameBytesMax: limits.frameBytesMax, bufferedBytesMax: limits.bufferedBytesMax, tickMs: limits.tickMs },
      scopes: granted,
      caps: known,
    }
  }
}
