/** Records one answer for any number of readers, each of whom reads it from its beginning: the effects of the chart. */

import { createActor, fromPromise } from 'xstate'
import { actorClock, type Clock } from '../../contracts/environment.ts'
import { isRuntimeError } from '../../contracts/errors.ts'
import type { AnyEvent } from '../../contracts/journal.ts'
import { shownBody } from '../../contracts/redact.ts'
import type { TurnOutput } from '../../contracts/turn.ts'
import type { Feed, Outcome, Runtime, Session, SessionView, TracePage } from '../../runtime/index.ts'
import type { EventPage } from '../events-read.ts'
import { acceptedAt } from './accepted-at.ts'
import { answerMachine } from './answer.machine.ts'
import { AnswerParts } from './answer-parts.rules.ts'
import { saidBy } from './trace.rules.ts'
import type { UiPart } from './ui-part.ts'

/** ms for which the outcome is waited for before it is looked whether something was missed. */
const waitMs = 15_000
/** Behind everything in a commit. */
const lastPart = 999_999_999

/**
 * @property id the message, or the run @property listening what its session says, where that was listened to before it began
 * @property from the commit that accepted it, where that is known
 */
export type Recorded = { id: string; runId?: string; listening?: Feed; from?: number }

/**
 * @property asked approvals that the reader has: it goes on behind them
 * @property decided calls that do not wait any more, though it may not have been heard yet
 * @property messageId of a message that this answer goes on with: the reader keeps both in it
 */
type ReadOptions = { asked?: readonly string[]; decided?: readonly string[]; messageId?: string; signal: AbortSignal }

export type Reading = { parts: AsyncIterable<UiPart>; close(): void }

export class Answer {
  readonly #runtime: Runtime
  readonly #session: Session
  readonly #fold: AnswerParts
  readonly #listening: Feed | undefined
  readonly #parts: UiPart[] = []
  /** The next commit in which the model's answers are looked for. */
  #next: number | undefined
  /** Resolves when there is more to read, or to know. */
  #more = Promise.withResolvers<void>()
  readonly #actor

  /** @param over called when it is not recorded any more */
  constructor(
    { runtime, session, clock }: { runtime: Runtime; session: Session; clock: Clock },
    { id, runId, listening, from }: Recorded,
    over: (answer: Answer) => void,
  ) {
    this.#runtime = runtime
    this.#session = session
    this.#fold = new AnswerParts(id, runId)
    this.#listening = listening
    this.#next = from
    const machine = answerMachine.provide({ actors: { record: fromPromise(({ signal }) => this.#record(signal)) } })
    this.#actor = createActor(machine, { clock: actorClock(clock) })
    this.#actor.subscribe({
      next: () => this.#wake(),
      complete: () => {
        const snapshot = this.#actor.getSnapshot()
        if (snapshot.value === 'failed') this.#push(this.#fold.breakOff(whyOf(snapshot.context.error)))
        this.#wake()
        over(this)
      },
    })
    this.#actor.start()
  }

  get isRead(): boolean {
    return this.#actor.getSnapshot().context.readers > 0
  }

  /** Whether it answers a message, or is that run. */
  answers(id: string): boolean {
    return this.#fold.id === id || this.#fold.runId === id || this.#fold.ids.includes(id)
  }

  stop(): void {
    this.#actor.stop()
    this.#listening?.stop()
  }

  /** It is kept until that is closed. */
  read(options: ReadOptions): Reading {
    this.#tell('reader.came')
    let closed = false
    return {
      parts: this.#read(options),
      close: () => {
        if (!closed) this.#tell('reader.left')
        closed = true
      },
    }
  }

  async *#read({ asked = [], decided = [], messageId, signal }: ReadOptions): AsyncGenerator<UiPart> {
    const missing = new Set(asked)
    const wake = () => this.#wake()
    signal.addEventListener('abort', wake)
    try {
      for (let at = 0; !signal.aborted; ) {
        const part = this.#parts[at]
        if (part !== undefined) {
          at++
          if (part.type === 'start') yield messageId === undefined ? part : { ...part, messageId }
          else if (missing.size === 0) yield part
          if (part.type === 'tool-approval-request') missing.delete(part.approvalId)
          continue
        }
        const snapshot = this.#actor.getSnapshot()
        if (snapshot.status !== 'active') return
        if (snapshot.matches({ recording: 'paused' }) && !this.#fold.waiting.some((callId) => decided.includes(callId)))
          return yield* this.#fold.pause()
        await this.#more.promise
      }
    } finally {
      signal.removeEventListener('abort', wake)
    }
  }

  async #record(signal: AbortSignal): Promise<void> {
    const { address } = this.#session
    this.#next ??= await acceptedAt(this.#runtime, this.#session, this.#fold.id)
    const from = this.#next
    const { events, end, stop } = this.#listening ?? this.#runtime.events(address, `${from - 1}.${lastPart}`)
    signal.addEventListener('abort', stop)
    if (signal.aborted) stop()
    try {
      const outcome = this.#outcome(signal)
      // What was said by then can still be read.
      outcome.then(end, end)
      for await (const event of events) {
        if (this.#fold.ends(event)) break
        await this.#hear(event)
      }
      const ended = await outcome
      if (this.#fold.lacksResults(ended)) await this.#hearAgain(from)
      await this.#lookUp()
      this.#push(this.#fold.end(ended))
    } finally {
      stop()
    }
  }

  async #hear(event: AnyEvent & { seq?: number }): Promise<void> {
    if (!this.#fold.concerns(event)) return
    if (this.#fold.needsAnswers(event)) await this.#lookUp(event.seq)
    this.#push(this.#fold.take(event))
    this.#tell(this.#fold.waiting.length > 0 ? 'waits' : 'goes.on')
  }

  /** What may not have arrived: a bus that nodes share loses messages, the journal does not. */
  async #hearAgain(from: number): Promise<void> {
    const { key } = this.#session
    for (let after = `${from - 1}.${lastPart}`, more = true; more; ) {
      const page: EventPage = await this.#runtime.command<EventPage>('events.read', { id: key, after })
      for (const event of page.events) {
        if (this.#fold.ends(event)) return
        await this.#hear(event)
      }
      more = page.more
      after = page.next
    }
  }

  /** What the model has said, up to a commit. */
  async #lookUp(to = Number.POSITIVE_INFINITY): Promise<void> {
    for (let from: number | null = this.#next ?? 1; from !== null && from <= to; ) {
      const page: TracePage = await this.#runtime.command<TracePage>('trace.read', { id: this.#session.key, from })
      const { entries, next, seq } = page
      for (const said of saidBy(this.#fold.runId, entries, to)) this.#push(this.#fold.answer(said))
      this.#next = Math.min(next ?? seq + 1, to + 1)
      from = next
    }
  }

  async #outcome(signal: AbortSignal): Promise<TurnOutput> {
    const { key } = this.#session
    for (;;)
      try {
        return await this.#runtime.command<Outcome>('agent.wait', { sessionKey: key, runId: this.#fold.id, timeoutMs: waitMs })
      } catch (error) {
        if (!isRuntimeError(error) || error.code !== 'timeout' || signal.aborted) throw error
        if (this.#runtime.shared) await this.#askAgain()
      }
  }

  /** A question that was lost on its way between nodes. */
  async #askAgain(): Promise<void> {
    const { approvals } = await this.#runtime.command<SessionView>('sessions.get', { sessionKey: this.#session.key })
    for (const approval of approvals) await this.#hear({ type: 'approval', ...approval })
  }

  #push(parts: readonly UiPart[]): void {
    if (parts.length === 0) return
    this.#parts.push(...parts)
    this.#wake()
  }

  #wake(): void {
    this.#more.resolve()
    this.#more = Promise.withResolvers<void>()
  }

  #tell(type: 'waits' | 'goes.on' | 'reader.came' | 'reader.left'): void {
    if (this.#actor.getSnapshot().status === 'active') this.#actor.send({ type })
  }
}

const whyOf = (error: unknown): string => {
  const { message, code } = shownBody(error)
  return `${message} (${code})`
}
