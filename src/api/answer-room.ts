/**
 * Bounds what a node spends on answers that are not read: bytes that wait to be sent, and large answers in the making. Tokens take turns, then
 * addresses, then the sessions they ask about, then connections: a client with many connections waits for itself.
 */
import type { CommandName } from '../contracts/commands.ts'
import type { Clock } from '../contracts/environment.ts'
import { RuntimeError } from '../contracts/errors.ts'
import { FairQueue } from './fair-queue.ts'

export const answerLimits = {
  /** Bytes of answers that wait to be sent, of all connections together. */
  unsentBytesMax: 256 * 1024 * 1024,
  /** Of one address, of one token, and of one token about one session: others have room beside each of them. */
  unsentBytesPerAddress: 160 * 1024 * 1024,
  unsentBytesPerToken: 96 * 1024 * 1024,
  unsentBytesPerSession: 48 * 1024 * 1024,
  /** ms for which an answer may wait unread before its connection is closed to make room for others. */
  patienceMs: 5_000,
  /** Large answers made at once, and requests that wait for their turn: of all, and of one token. */
  atOnceMax: 4,
  waitingMax: 2_000,
  waitingPerToken: 1_000,
}
export type AnswerLimits = typeof answerLimits

/** Turns of the event loop between two large answers, for each ms that the last one took. A turn accepts one connection. */
const turnsPerMs = 4
const turnsMax = 512

/** Their answers can be as long as a conversation, or fold all of one. */
const large: ReadonlySet<CommandName> = new Set<CommandName>([
  'chat.history',
  'chat.message',
  'chat.output',
  'files.get',
  'sessions.list',
  'sessions.context',
  'actors.list',
  'events.read',
  'trace.read',
  'trace.frames',
  'trace.export',
  'trace.replay',
  'trace.moment',
  'trace.steps',
  'trace.coverage',
])

/** Who asks: a token, from an address, on a connection. */
export type Asker = {
  token: string | number
  client: string
  connection: object
  /** Its connection is closed: the work for it stops. */
  isGone: () => boolean
}

type Held = { bytes: number; since: number; close: () => void; shares: readonly string[] }
type Waiting = { asker: Asker; about: string; start: () => void; refuse: (error: RuntimeError) => void }

export class AnswerRoom {
  readonly #limits: AnswerLimits
  readonly #clock: Pick<Clock, 'now' | 'elapsed'>
  /** The one that has waited longest first. */
  readonly #held = new Set<Held>()
  readonly #unsent = new Map<string, number>()
  #waiting = new FairQueue<Waiting>()
  readonly #waitingOf = new Map<string | number, number>()
  #making = 0
  /** Places whose answer is made and that have not been handed over, and how many turns of the event loop come before that. */
  #ended = 0
  #turns = 1

  constructor(limits: AnswerLimits, clock: Pick<Clock, 'now' | 'elapsed'>) {
    this.#limits = limits
    this.#clock = clock
  }

  /** Bytes that wait to be sent. */
  get unsent(): number {
    return this.#unsentOf('all')
  }

  /**
   * @param about the session or actor that is asked about
   * @param make gives an answer as it is sent, so that no more than a few are there in any other form
   * @throws RuntimeError overloaded, cancelled where the client has left, or what `make` throws
   */
  async made<Answer>(asker: Asker, command: CommandName | undefined, about: string, make: () => Promise<Answer>): Promise<Answer> {
    if (command === undefined || !large.has(command)) return make()
    const shares = this.#sharesOf(asker, about)
    this.#requireRoom(shares)
    if (this.#making < this.#limits.atOnceMax) this.#making++
    else await this.#turn(asker, about)
    const began = this.#now()
    try {
      // Its turn may come long after it was asked.
      if (asker.isGone()) throw left()
      this.#requireRoom(shares)
      return await make()
    } finally {
      // Making is work of the processor: in between, new connections are accepted and small requests answered.
      const turns = Math.min(turnsMax, Math.max(1, Math.ceil((this.#now() - began) * turnsPerMs)))
      if (++this.#ended === 1) this.#goRound(turns)
      else this.#turns = turns
    }
  }

  /** Resolves when a place is handed over. */
  #turn(asker: Asker, about: string): Promise<void> {
    const { waitingMax, waitingPerToken } = this.#limits
    const isFull = () => this.#waiting.size >= waitingMax || (this.#waitingOf.get(asker.token) ?? 0) >= waitingPerToken
    if (isFull()) this.#dropGone()
    if (isFull()) throw overloaded()
    return new Promise((start, refuse) => this.#enqueue({ asker, about, start, refuse }))
  }

  #enqueue(waiting: Waiting): void {
    const { about, asker } = waiting
    const { token, client, connection } = asker
    this.#waitingOf.set(token, (this.#waitingOf.get(token) ?? 0) + 1)
    this.#waiting.push([token, client, about, connection], waiting)
  }

  #next(): Waiting | undefined {
    const next = this.#waiting.shift()
    if (next === undefined) return undefined
    const { token } = next.asker
    const count = (this.#waitingOf.get(token) ?? 1) - 1
    if (count > 0) this.#waitingOf.set(token, count)
    else this.#waitingOf.delete(token)
    return next
  }

  #goRound(turns: number): void {
    if (turns > 1) setImmediate(() => this.#goRound(turns - 1))
    else setImmediate(() => this.#handOver())
  }

  #handOver(): void {
    let next = this.#next()
    while (next?.asker.isGone()) {
      next.refuse(left())
      next = this.#next()
    }
    if (next) next.start()
    else this.#making--
    if (--this.#ended > 0) this.#goRound(this.#turns)
  }

  /** Clients that have left wait no longer. */
  #dropGone(): void {
    const before = this.#waiting
    this.#waiting = new FairQueue()
    this.#waitingOf.clear()
    const stay: Waiting[] = []
    for (let one = before.shift(); one !== undefined; one = before.shift())
      if (one.asker.isGone()) one.refuse(left())
      else stay.push(one)
    for (const one of stay) this.#enqueue(one)
  }

  /**
   * Takes room for an answer until it has been sent.
   * @param close ends its connection, where room is needed and it is not read
   * @returns to be called when it has been sent, or its connection is gone @throws RuntimeError overloaded
   */
  hold(asker: Asker, about: string, bytes: number, close: () => void): () => void {
    const shares = this.#sharesOf(asker, about)
    this.#requireRoom(shares, bytes)
    const held = { bytes, since: this.#clock.now(), close, shares }
    this.#held.add(held)
    for (const share of shares) this.#unsent.set(share, this.#unsentOf(share) + bytes)
    return () => this.#release(held)
  }

  #sharesOf({ token, client }: Asker, about: string): readonly string[] {
    return ['all', `address ${client}`, `token ${token}`, `session ${token} ${about}`]
  }

  #maxOf(share: string): number {
    const { unsentBytesMax, unsentBytesPerAddress, unsentBytesPerToken, unsentBytesPerSession } = this.#limits
    if (share === 'all') return unsentBytesMax
    if (share.startsWith('address ')) return Math.min(unsentBytesMax, unsentBytesPerAddress)
    return Math.min(unsentBytesMax, share.startsWith('token ') ? unsentBytesPerToken : unsentBytesPerSession)
  }

  #unsentOf(share: string): number {
    return this.#unsent.get(share) ?? 0
  }

  #now(): number {
    return (this.#clock.elapsed ?? this.#clock.now)()
  }

  #release(held: Held): void {
    if (!this.#held.delete(held)) return
    for (const share of held.shares) {
      const bytes = this.#unsentOf(share) - held.bytes
      if (bytes > 0) this.#unsent.set(share, bytes)
      else this.#unsent.delete(share)
    }
  }

  /** Closes connections of a full share that read nothing for too long. @throws RuntimeError overloaded where that is not enough */
  #requireRoom(shares: readonly string[], bytes = 1): void {
    for (const share of shares) {
      // A single answer may be larger than a share, not than what all have together.
      const isFull = () => this.#unsentOf(share) + bytes > this.#maxOf(share) && (share === 'all' || this.#unsentOf(share) > 0)
      for (const held of this.#held) {
        if (!isFull() || this.#clock.now() - held.since < this.#limits.patienceMs) break
        if (!held.shares.includes(share)) continue
        this.#release(held)
        held.close()
      }
      if (isFull()) throw overloaded()
    }
  }
}

const overloaded = (): RuntimeError =>
  new RuntimeError('overloaded', 'too many answers wait to be read', {
    retryable: true,
    hint: 'read the answers you have before you ask for more, then retry',
    data: { retryAfter: 2 },
  })

const left = (): RuntimeError =>
  new RuntimeError('cancelled', 'the client closed its connection before its answer was made', { hint: 'keep the connection open' })

/** The session or actor that a request asks about, as it spells it. */
export const aboutOf = (input: unknown): string => {
  const { sessionKey, id } = (input ?? {}) as { sessionKey?: unknown; id?: unknown }
  const named = sessionKey ?? id
  return typeof named === 'string' ? named.slice(0, 1_024) : ''
}
