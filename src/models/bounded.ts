/** A model call that ends in bounded time, whatever the provider does. */
import type { Clock } from '../contracts/environment.ts'
import type { ModelDelta, ModelRequest, ModelResponse } from '../contracts/model.ts'
import { Answer } from './answer.ts'
import { providerError } from './provider-error.ts'

export type Production = {
  answer: Answer
  /** Aborts when the answer is no longer wanted: stop the connection. */
  signal: AbortSignal
  /** Says that the provider is still there, where it says nothing that goes into the answer. */
  alive(): void
  /** Ends the call with an error, whatever the provider still does. */
  refuse(error: unknown): void
}

/** The idle limit is looked at this often, instead of moving a timer with every delta: it acts after 1 to 1.25 times the limit. */
const looksPerIdle = 4

/**
 * Runs `produce` under the limits of a request. An abort resolves at once with what has come; a limit rejects at once; both also when the
 * provider ignores its signal.
 * @throws RuntimeError provider_timeout with `data.limit` `idle` or `total`, or what `produce` throws
 */
export const boundedCall = (
  {
    ref,
    clock,
    request,
    signal,
    onDelta,
  }: { ref: string; clock: Clock; request: ModelRequest; signal: AbortSignal; onDelta: (delta: ModelDelta) => void },
  produce: (production: Production) => Promise<ModelResponse>,
): Promise<ModelResponse> => {
  const { idleTimeoutMs, totalTimeoutMs, outputCharsMax } = request.limits
  const answer = new Answer({ ref, charsMax: outputCharsMax, onDelta })
  if (signal.aborted) return Promise.resolve(answer.response('other', true))

  const { promise, resolve, reject } = Promise.withResolvers<ModelResponse>()
  const stop = new AbortController()
  let silentLooks = 0
  const look = (): void => {
    silentLooks = answer.heard ? 0 : silentLooks + 1
    answer.heard = false
    if (silentLooks < looksPerIdle) idleTimer = clock.setTimeout(look, idleTimeoutMs / looksPerIdle)
    else settle(() => reject(timedOut('idle', idleTimeoutMs)), true)
  }
  let idleTimer = clock.setTimeout(look, idleTimeoutMs / looksPerIdle)
  const totalTimer = clock.setTimeout(() => settle(() => reject(timedOut('total', totalTimeoutMs)), true), totalTimeoutMs)
  const onAbort = (): void => settle(() => resolve(answer.response('other', true)), true)

  let settled = false
  const settle = (end: () => void, stopProvider: boolean): void => {
    if (settled) return
    settled = true
    clock.clearTimeout(idleTimer)
    clock.clearTimeout(totalTimer)
    signal.removeEventListener('abort', onAbort)
    answer.close()
    end()
    if (stopProvider) stop.abort()
  }

  signal.addEventListener('abort', onAbort, { once: true })
  produce({
    answer,
    signal: stop.signal,
    // The next check may come at once, and must not count this moment as silence.
    alive: () => {
      answer.heard = true
    },
    refuse: (error) => settle(() => reject(error), true),
  }).then(
    (response) => settle(() => (lacksCalls(response) ? reject(withoutCalls()) : resolve(response)), false),
    (thrown: unknown) => settle(() => reject(thrown), true),
  )
  return promise
}

/** It would look like an empty answer. */
const lacksCalls = ({ finish, text, calls, partial }: ModelResponse): boolean =>
  finish === 'tool-calls' && text === '' && calls.length === 0 && !partial

const withoutCalls = () =>
  providerError('provider_malformed', 'the answer is said to end with tool calls, and there are none in it', {
    hint: 'try again; when it happens every time, look at what the model answers',
  })

const timedOut = (limit: 'idle' | 'total', timeoutMs: number) =>
  providerError(
    'provider_timeout',
    limit === 'idle' ? `the provider was silent for ${timeoutMs} ms` : `the answer took longer than ${timeoutMs} ms`,
    {
      hint: `raise limits.modelCall.${limit}TimeoutMs of the agent, now ${timeoutMs}, or ${limit === 'idle' ? 'use a provider that answers sooner' : 'ask for a shorter answer'}`,
      data: { limit, timeoutMs },
    },
  )
