/** The answers to one request, from the callbacks of a subscription to a loop that reads them. */
import type { Clock } from '../contracts/environment.ts'
import { RuntimeError } from '../contracts/errors.ts'
import type { BusMessage } from '../contracts/transport.ts'

/** Answers that wait to be read. */
const waitingMax = 10_000

export type AnswerQueue = {
  push(message: BusMessage): void
  /** No answer will come any more; those that have come are read first. */
  fail(error: RuntimeError): void
}

/** @param ask opens the subscription, then sends the request; returns what closes the subscription */
export async function* collectAnswers(
  clock: Pick<Clock, 'setTimeout' | 'clearTimeout'>,
  { timeoutMs, signal }: { timeoutMs: number; signal?: AbortSignal },
  ask: (answers: AnswerQueue) => () => void,
): AsyncGenerator<BusMessage, void, void> {
  if (signal?.aborted) return
  const waiting: BusMessage[] = []
  let over = false
  let failure: RuntimeError | undefined
  let wake: () => void = () => undefined
  const end = (error?: RuntimeError): void => {
    if (over) return
    over = true
    failure = error
    wake()
  }
  const onAbort = (): void => {
    waiting.length = 0
    end()
  }
  const push = (message: BusMessage): void => {
    if (over) return
    waiting.push(message)
    if (waiting.length > waitingMax)
      end(new RuntimeError('overloaded', `more than ${waitingMax} answers wait to be read`, { hint: 'answer less often' }))
    else wake()
  }
  let close: () => void = () => undefined
  let timer: unknown
  // Before the request: in one process it may be answered, or aborted, while it is being sent.
  signal?.addEventListener('abort', onAbort, { once: true })
  try {
    close = ask({ push, fail: end })
    timer = clock.setTimeout(end, timeoutMs)
    for (;;) {
      const next = waiting.shift()
      if (next !== undefined) yield next
      else if (failure !== undefined) throw failure
      else if (over) return
      else await new Promise<void>((resolve) => (wake = resolve))
    }
  } finally {
    over = true
    clock.clearTimeout(timer)
    signal?.removeEventListener('abort', onAbort)
    close()
  }
}
