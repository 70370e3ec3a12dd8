/** Calls over a WebSocket that wait for their answers. */
import type { Clock } from '../../contracts/environment.ts'
import { type ErrorBody, RuntimeError } from '../../contracts/errors.ts'
import type { ClientFrame, ResponseFrame } from '../../contracts/gateway.ts'

export type Timers = Pick<Clock, 'setTimeout' | 'clearTimeout'>

/** Who calls more often than he is answered is told so. */
const callsMax = 1_000

/** What becomes of a call is told at once, before anything that the server says after it. */
export type Outcome = { resolve(payload: unknown): void; reject(error: unknown): void }

export class PendingCalls {
  readonly #clock: Timers
  readonly #calls = new Map<string, Outcome & { timer: unknown }>()
  #count = 0

  constructor(clock: Timers) {
    this.#clock = clock
  }

  /**
   * @param send hands the frame over; what it throws is thrown
   * @param outcome is told what the server answers; else `timeout`, or what {@link end} is given
   * @throws RuntimeError overloaded
   */
  start(send: (frame: ClientFrame) => void, method: string, params: object, timeoutMs: number, outcome: Outcome): void {
    if (this.#calls.size >= callsMax)
      throw new RuntimeError('overloaded', `${callsMax} calls wait for their answers`, { retryable: true, hint: 'wait for some of them first' })
    const id = `c${++this.#count}`
    send({ type: 'req', id, method, params: params as Record<string, unknown> })
    const late = () =>
      this.#take(id)?.reject(
        new RuntimeError('timeout', `no answer to ${method} within ${timeoutMs} ms`, {
          retryable: true,
          hint: 'nobody knows whether it was done: repeat what has an idempotencyKey, and look before anything else',
        }),
      )
    this.#calls.set(id, { ...outcome, timer: this.#clock.setTimeout(late, timeoutMs) })
  }

  /** What is no answer to any of them, because it came too late, is left aside. */
  answer(frame: ResponseFrame): void {
    const call = this.#take(frame.id)
    if (frame.ok) call?.resolve(frame.payload)
    else call?.reject(errorOf(frame.error))
  }

  /** None of them will be answered any more. */
  end(error: RuntimeError): void {
    for (const id of this.#calls.keys()) this.#take(id)?.reject(error)
  }

  #take(id: string): Outcome | undefined {
    const call = this.#calls.get(id)
    if (call === undefined) return undefined
    this.#calls.delete(id)
    this.#clock.clearTimeout(call.timer)
    return call
  }
}

const errorOf = (body: Partial<ErrorBody> | undefined): RuntimeError =>
  typeof body?.code === 'string' && typeof body.message === 'string'
    ? RuntimeError.from(body as ErrorBody)
    : new RuntimeError('internal', 'the gateway refused a call without saying why')
