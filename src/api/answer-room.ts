/**
 * How much of a node answers may take up that nobody reads: bytes that wait to be sent, over all connections, and large answers that are being made at
 * once. Who reads is served; who does not goes first.
 */
import type { CommandName } from '../contracts/commands.ts'
import type { Clock } from '../contracts/environment.ts'
import { RuntimeError } from '../contracts/errors.ts'

export const answerLimits = {
  /** Bytes of answers that wait to be sent, of all connections together. */
  unsentBytesMax: 256 * 1024 * 1024,
  /** ms for which somebody may have read nothing before a connection is closed to make room for others. */
  patienceMs: 5_000,
  /** Large answers that are made at once, and requests that wait for their turn to be. */
  atOnceMax: 4,
  waitingMax: 2_000,
}
export type AnswerLimits = typeof answerLimits

/** Their answers can be as long as a conversation. */
const large: ReadonlySet<CommandName> = new Set<CommandName>([
  'chat.history',
  'chat.message',
  'sessions.list',
  'events.read',
  'trace.read',
  'trace.frames',
])

type Held = { bytes: number; since: number; close: () => void }

export class AnswerRoom {
  readonly #limits: AnswerLimits
  readonly #clock: Pick<Clock, 'now'>
  /** The one that has waited longest first. */
  readonly #held = new Set<Held>()
  /** Those who wait, by connection: the connection that was served least recently first. */
  readonly #waiting = new Map<object, (() => void)[]>()
  #waitingCount = 0
  #unsent = 0
  #making = 0
  /** Places whose answer is made, and that have not been handed over. */
  #ended = 0

  constructor(limits: AnswerLimits, clock: Pick<Clock, 'now'>) {
    this.#limits = limits
    this.#clock = clock
  }

  /** Bytes that wait to be sent. */
  get unsent(): number {
    return this.#unsent
  }

  /**
   * @param connection that asks: connections take turns, so one that asks for much waits for itself, and holds up nobody else for long
   * @param make gives an answer as it is sent, so that no more than a few are there in any other form
   * @throws RuntimeError overloaded, or what `make` throws
   */
  async made<Answer>(connection: object, command: CommandName | undefined, make: () => Promise<Answer>): Promise<Answer> {
    if (command === undefined || !large.has(command)) return make()
    if (this.#unsent >= this.#limits.unsentBytesMax && !this.#makeRoom(1)) throw overloaded()
    if (this.#making < this.#limits.atOnceMax) this.#making++
    else {
      if (this.#waitingCount >= this.#limits.waitingMax) throw overloaded()
      // Whoever ends hands its place over.
      await new Promise<void>((resolve) => this.#enqueue(connection, resolve))
    }
    try {
      return await make()
    } finally {
      // One place for each turn of the event loop: making is work of the processor, and between two answers everybody else is heard.
      if (++this.#ended === 1) setImmediate(() => this.#handOver())
    }
  }

  #enqueue(connection: object, start: () => void): void {
    this.#waitingCount++
    const queue = this.#waiting.get(connection)
    if (queue) queue.push(start)
    else this.#waiting.set(connection, [start])
  }

  #handOver(): void {
    const start = this.#next()
    if (start) start()
    else this.#making--
    if (--this.#ended > 0) setImmediate(() => this.#handOver())
  }

  #next(): (() => void) | undefined {
    const [first] = this.#waiting
    if (first === undefined) return undefined
    const [connection, queue] = first
    // It goes behind all others that wait.
    this.#waiting.delete(connection)
    if (queue.length > 1) this.#waiting.set(connection, queue)
    this.#waitingCount--
    return queue.shift()
  }

  /**
   * Takes room for an answer until it has been sent.
   * @param close ends its connection, where room is needed and it is not read
   * @returns to be called when it has been sent, or its connection is gone @throws RuntimeError overloaded
   */
  hold(bytes: number, close: () => void): () => void {
    if (this.#unsent + bytes > this.#limits.unsentBytesMax && !this.#makeRoom(bytes)) throw overloaded()
    const held = { bytes, since: this.#clock.now(), close }
    this.#held.add(held)
    this.#unsent += bytes
    return () => this.#release(held)
  }

  #release(held: Held): void {
    if (this.#held.delete(held)) this.#unsent -= held.bytes
  }

  #makeRoom(bytes: number): boolean {
    const { unsentBytesMax, patienceMs } = this.#limits
    for (const held of this.#held) {
      if (this.#unsent + bytes <= unsentBytesMax || this.#clock.now() - held.since < patienceMs) break
      this.#release(held)
      held.close()
    }
    return this.#unsent + bytes <= unsentBytesMax
  }
}

const overloaded = (): RuntimeError =>
  new RuntimeError('overloaded', 'too many answers wait to be read', {
    retryable: true,
    hint: 'ask again in a moment, and read what was answered before asking for more',
    data: { retryAfter: 2 },
  })
