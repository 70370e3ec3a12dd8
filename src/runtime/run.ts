/** One accepted message, followed to its outcome. */
import { definedOf } from '../contracts/defined.ts'
import { type ErrorBody, RuntimeError } from '../contracts/errors.ts'
import type { AnyEvent } from '../contracts/journal.ts'
import type { SessionOutput, SkipReason } from '../contracts/session.ts'
import type { TurnOutput } from '../contracts/turn.ts'
import { EventQueue } from './event-queue.ts'
import type { OutputEvent } from './output-event.ts'
import { TextStream } from './text-stream.ts'

/** What `run.events()` yields: what the session emits about this message, `seq` where it is durable. */
export type RunEvent = Exclude<SessionOutput, { type: 'transcript' }> & { seq?: number }

/** How it ended, as the journal has it: `seq` of the commit, where that is known, and what all calls of the model said. */
export type Ending = { output: TurnOutput; seq?: number; texts?: readonly string[] }

type Delta = Extract<RunEvent, { type: 'delta' }>

const endingOf = { completed: 'final', failed: 'error', cancelled: 'aborted' } as const
const endings = new Set<string>(Object.values(endingOf))

/** One accepted message, as its sender holds it. */
export interface Run {
  /** The idempotency key of the message. */
  readonly id: string
  /** What became of it at first; `answered` by the session itself; `side`: asked beside the conversation. */
  readonly status: 'started' | 'steered' | 'queued' | 'collected' | 'answered' | 'side' | SkipReason
  /** The turn that answers it; known once it has started. */
  readonly runId: string
  /** Sequence of the commit that accepted it. */
  readonly seq: number
  /** Sequence of the commit that holds its outcome, once that is known. */
  readonly endSeq: number | undefined
  /**
   * The text of the answer while it is made, without the model's reasoning; what two calls of the model say is parted by a blank line. Every reader gets it from
   * its beginning, also one that comes late; where a repeated message comes upon a turn that runs, all of it comes with the end of the answer. It ends with the turn,
   * and throws what {@link result} rejects with.
   */
  readonly textStream: AsyncIterable<string>
  /**
   * Everything about this message from its acceptance to its outcome; can be read once. A delta is one object for all who listen. Of a slow reader, deltas that follow each other become one.
   * It throws `overloaded` at a gap: 10,000 events or 32 Mi characters wait for a reader, and what comes then is not kept.
   */
  events(): AsyncIterable<RunEvent>
  /** The outcome. @throws RuntimeError when the turn failed or was cancelled; `data.text` then holds what had been said */
  result(): Promise<TurnOutput>
  /** The answer: what the model said last. @throws RuntimeError as {@link result} does */
  text(): Promise<string>
  /**
   * Stops the turn that answers it, or takes the message out of those that wait; what was said so far is kept. Resolves when that is durable;
   * where it has its outcome already, nothing happens. @throws RuntimeError not_found where its session was deleted, closed with the runtime
   */
  cancel(): Promise<void>
}

/** A run that its session tells what is said. */
export class LiveRun implements Run {
  readonly id: string
  status: Run['status'] = 'queued'
  runId: string
  seq = 0
  endSeq: number | undefined
  readonly #queue = new EventQueue<RunEvent>()
  readonly #outcome = Promise.withResolvers<TurnOutput>()
  #unsubscribe: () => void = () => undefined
  #look: () => void = () => undefined
  #text: TextStream | undefined
  /** What was said by the time that somebody reads the text, from when the events are read on: text and reasoning of a call, in one piece each. */
  #spoken: Delta[] | undefined
  #deltasWait = false
  /** Its turn had begun before it was listened to: its text is that of the journal. */
  #late = false
  #ending: Ending | undefined
  readonly #stop: () => Promise<unknown>
  readonly #recall: () => Promise<readonly string[] | undefined>

  /** @param stop how its turn is stopped @param recall what all calls of the model said, once it has its outcome */
  constructor(id: string, stop: () => Promise<unknown>, recall: () => Promise<readonly string[] | undefined> = async () => undefined) {
    this.id = id
    this.runId = id
    this.#stop = stop
    this.#recall = recall
    // A run that nobody waits for may fail without anybody minding.
    this.#outcome.promise.catch(() => undefined)
  }

  /** @param look where another node says that it has ended: looks whether it has, and if so calls {@link end} */
  follow(unsubscribe: () => void, look?: () => void): void {
    this.#unsubscribe = unsubscribe
    if (look) this.#look = look
  }

  /** Its turn began before it was listened to. */
  join(runId = this.runId): void {
    this.runId = runId
    this.#late = true
  }

  /** Takes what the session says; keeps what is about this message. */
  readonly hear = ({ event, seq, remote }: OutputEvent): void => {
    if (event.type === 'delta' && !remote) {
      const delta = event as unknown as Delta
      if (delta.runId !== this.runId) return
      this.#queue.push(delta, delta.text.length)
      if (this.#text !== undefined) {
        if (!this.#late) this.#text.take(delta)
      } else if (this.#spoken !== undefined) {
        const last = this.#spoken.at(-1)
        if (last?.attempt !== delta.attempt || last.kind !== delta.kind) this.#spoken.push({ ...delta })
        else Object.assign(last, { text: last.text + delta.text, count: (last.count ?? 1) + (delta.count ?? 1) })
      } else this.#deltasWait = true
      return
    }
    const said = event as AnyEvent & { runId?: string; ids?: string[]; id?: string; status?: string; reason?: SkipReason; tooLarge?: boolean }
    if (said.type === 'transcript') return
    if (said.type === 'accepted' && said.id === this.id) {
      this.status = said.status as Run['status']
      if (said.runId) this.runId = said.runId
    }
    if (said.type === 'skipped' && said.id === this.id) this.status = said.reason ?? 'duplicate'
    if (said.type === 'started' && said.ids?.includes(this.id)) this.runId = said.runId ?? this.runId
    if (said.runId !== this.runId && !said.ids?.includes(this.id) && said.id !== this.id) return
    // What the bus says of an outcome is a sign of it and no more: what it is the journal knows, and there all of it stands.
    if (endings.has(said.type) && (remote || said.tooLarge)) {
      this.#look()
      return
    }
    this.#queue.push({ ...(event as unknown as RunEvent), ...definedOf({ seq }) })
    if (event.type === 'delta') {
      // It may be lost on its way, so that pieces of it are not kept.
      if (this.#text === undefined && this.#spoken !== undefined) this.#late = true
      else if (!this.#late) this.#text?.take(event as unknown as Delta)
      this.#deltasWait = true
    }
    if (endings.has(said.type) && said.ids?.includes(this.id)) this.#settle({ output: event as unknown as TurnOutput, ...definedOf({ seq }) })
  }

  /** The outcome as the journal has it. */
  end(ending: Ending): void {
    const { output, seq } = ending
    this.#queue.push({ type: endingOf[output.status], ...output, ...definedOf({ seq }) })
    this.#settle(ending)
  }

  #settle(ending: Ending): void {
    const { output, seq } = ending
    this.endSeq = seq
    this.#ending = ending
    this.#over()
    if (output.status === 'completed') this.#outcome.resolve(output)
    else this.#outcome.reject(outcomeError(output))
  }

  #over(): void {
    this.#unsubscribe()
    this.#queue.end()
  }

  fail(error: unknown): void {
    this.#over()
    this.#outcome.reject(error)
  }

  events(): AsyncIterable<RunEvent> {
    if (this.#spoken === undefined) {
      this.#spoken = []
      if (this.#deltasWait) for (const event of this.#queue.unread()) if (event.type === 'delta') this.#spoken.push({ ...event })
    }
    return this.#queue
  }

  result(): Promise<TurnOutput> {
    return this.#outcome.promise
  }

  async text(): Promise<string> {
    return (await this.#outcome.promise).text
  }

  get textStream(): AsyncIterable<string> {
    this.#text ??= this.#readText()
    return this.#text
  }

  /** Nothing is kept for readers before there is one: what was said by then waits among the events, or was kept when those were read. */
  #readText(): TextStream {
    const text = new TextStream()
    if (!this.#late) for (const event of this.#spoken ?? this.#queue.unread()) if (event.type === 'delta') text.take(event)
    this.#spoken = undefined
    this.#outcome.promise.then(
      async ({ text: answer }) => text.end((await this.#missed()) ?? [answer]),
      async (error: unknown) => text.fail(error, await this.#missed()),
    )
    return text
  }

  /** What all calls of the model said, where that was not heard. */
  async #missed(): Promise<readonly string[] | undefined> {
    if (!this.#late || this.#ending === undefined) return undefined
    const { output, texts } = this.#ending
    return texts ?? (await this.#recall().catch(() => undefined)) ?? [output.text]
  }

  async cancel(): Promise<void> {
    // A run that is only heard no longer, as that of a closed runtime, goes on.
    if (this.#ending === undefined) await this.#stop()
  }
}

/** The error of a turn that did not complete. */
const outcomeError = (output: TurnOutput): RuntimeError => {
  const { error, text, runId, status, answerId } = output
  // One that waited never had a turn.
  const cancelled = answerId === null ? 'the message was cancelled before the model answered it' : 'the turn was cancelled'
  const why: ErrorBody = error ?? {
    code: status === 'cancelled' ? 'cancelled' : 'internal',
    message: status === 'cancelled' ? cancelled : 'the turn failed',
    retryable: false,
  }
  return new RuntimeError(why.code, why.message, {
    hint: why.hint,
    retryable: why.retryable,
    data: { ...why.data, runId, text },
  })
}
