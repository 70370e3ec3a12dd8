/** One accepted message, followed to its outcome. */
import { type ErrorBody, RuntimeError } from '../contracts/errors.ts'
import type { AnyEvent } from '../contracts/journal.ts'
import type { SessionOutput, SkipReason } from '../contracts/session.ts'
import type { TurnOutput } from '../contracts/turn.ts'
import { EventQueue } from './event-queue.ts'
import type { Said } from './said.ts'

/** What `run.events()` yields: what the session emits about this message, `seq` where it is durable. */
export type RunEvent = Exclude<SessionOutput, { type: 'transcript' }> & { seq?: number }

type Delta = Extract<RunEvent, { type: 'delta' }>

const endingOf = { completed: 'final', failed: 'error', cancelled: 'aborted' } as const
const endings = new Set<string>(Object.values(endingOf))

export class Run {
  /** The idempotency key of the message. */
  readonly id: string
  /** What became of it at first; `answered` by the session itself. */
  status: 'started' | 'steered' | 'queued' | 'collected' | 'answered' | SkipReason = 'queued'
  /** The turn that answers it; known once it has started. */
  runId: string
  /** Sequence of the commit that accepted it. */
  seq = 0
  /** Sequence of the commit that holds its outcome, once that is known. */
  endSeq: number | undefined
  readonly #queue = new EventQueue<RunEvent>()
  readonly #outcome = Promise.withResolvers<TurnOutput>()
  #unsubscribe: () => void = () => undefined
  #look: () => void = () => undefined

  constructor(id: string) {
    this.id = id
    this.runId = id
    // A run that nobody waits for may fail without anybody minding.
    this.#outcome.promise.catch(() => undefined)
  }

  /** @param look where another node says that it has ended: looks whether it has, and if so calls {@link end} */
  follow(unsubscribe: () => void, look?: () => void): void {
    this.#unsubscribe = unsubscribe
    if (look) this.#look = look
  }

  /** Takes what the session says; keeps what is about this message. */
  readonly hear = ({ event, seq, elsewhere }: Said): void => {
    if (event.type === 'delta' && !elsewhere) {
      const delta = event as unknown as Delta
      if (delta.runId === this.runId) this.#queue.push(delta, delta.text.length)
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
    if (endings.has(said.type) && (elsewhere || said.tooLarge)) {
      this.#look()
      return
    }
    this.#queue.push({ ...(event as unknown as RunEvent), ...(seq === undefined ? {} : { seq }) })
    if (endings.has(said.type) && said.ids?.includes(this.id)) this.#settle(event as unknown as TurnOutput, seq)
  }

  /** The outcome as the journal has it. @param seq of the commit that holds it, where that is known */
  end(output: TurnOutput, seq?: number): void {
    this.#queue.push({ type: endingOf[output.status], ...output, ...(seq === undefined ? {} : { seq }) })
    this.#settle(output, seq)
  }

  #settle(output: TurnOutput, seq: number | undefined): void {
    this.endSeq = seq
    this.#unsubscribe()
    this.#queue.end()
    if (output.status === 'completed') this.#outcome.resolve(output)
    else this.#outcome.reject(outcomeError(output))
  }

  fail(error: unknown): void {
    this.#unsubscribe()
    this.#queue.end()
    this.#outcome.reject(error)
  }

  /**
   * Everything about this message from its acceptance to its outcome; can be read once. A delta is one object for all who listen. Of a slow reader, deltas that follow each other become one.
   * It throws `overloaded` at a gap: 10,000 events or 32 Mi characters wait for a reader, and what comes then is not kept.
   */
  events(): AsyncIterable<RunEvent> {
    return this.#queue
  }

  /** The answer. @throws RuntimeError when the turn failed or was cancelled; `data.text` then holds what had been said */
  result(): Promise<TurnOutput> {
    return this.#outcome.promise
  }
}

/** The error of a turn that did not complete. */
const outcomeError = (output: TurnOutput): RuntimeError => {
  const { error, text, runId, status } = output
  const why: ErrorBody = error ?? {
    code: status === 'cancelled' ? 'cancelled' : 'internal',
    message: status === 'cancelled' ? 'the turn was cancelled' : 'the turn failed',
    retryable: false,
  }
  return new RuntimeError(why.code, why.message, {
    ...(why.hint ? { hint: why.hint } : {}),
    retryable: why.retryable,
    data: { ...why.data, runId, text },
  })
}
