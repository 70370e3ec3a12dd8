/** Models that play a script: for tests, examples, and the stand-in that works without a network. */

import { definedOf } from '../contracts/defined.ts'
import type { Clock } from '../contracts/environment.ts'
import { isRuntimeError, messageOf, type RuntimeError } from '../contracts/errors.ts'
import type { Usage } from '../contracts/message.ts'
import type { Model, ModelRequest, ModelResponse } from '../contracts/model.ts'
import { detached } from '../contracts/plain.ts'
import { boundedCall, type Production } from './bounded.ts'
import { codeOfStatus, providerError } from './provider-error.ts'
import { checkAnswer, checkScript, type Script, type ScriptedError, type ScriptedResponse } from './script.ts'
import { sleep, systemClock } from './sleep.ts'

/** A script, or a function that answers each request; the function must depend on the request alone to survive a restart. */
export type ScriptedSource = Script | ((request: ModelRequest) => ScriptedResponse | Promise<ScriptedResponse>)

/** Deltas after which an endless answer without delays gives other work a turn of the event loop. */
const deltasPerYield = 1000
/** Conversations whose spent `errors` are remembered. */
const spentMax = 10_000

/**
 * Plays a script. Response `n` answers the request that contains `n` assistant messages: the place follows from the conversation alone, so
 * a process that is killed and resumed goes on where it was, and any number of conversations share one model. (Compaction removes
 * assistant messages, and with them the place: the script then goes back by as many.)
 *
 * `errors` are counted in this process, per conversation (by its first message) and place. After the end: provider_rejected.
 * Calls without `callId` get `call-<hash of the newest user message>-<place>-<number>`, the same in every attempt.
 * @throws RuntimeError bad_request when the script does not fit
 */
export const scriptedModel = (
  source: ScriptedSource,
  { ref = 'scripted/test', clock = systemClock, contextTokens }: { ref?: string; clock?: Clock; contextTokens?: number } = {},
): Model => {
  const script = typeof source === 'function' ? source : checkScript(source)
  const spent = new Map<string, number>()
  return {
    ref,
    ...definedOf({ contextTokens }),
    call: (request, { signal, onDelta }) =>
      boundedCall({ ref, clock, request, signal, onDelta }, async (production) => {
        const place = placeOf(request)
        // Awaited also when it is no promise: the first delta never comes before `call` has returned.
        const response = await (typeof script === 'function' ? ask(script, request, ref) : script[place])
        if (response === undefined) throw scriptEnded(ref, (script as Script).length)
        production.alive()
        if (response.delayMs !== undefined) await sleep(clock, response.delayMs, production.signal)
        const error = response.errors === undefined ? undefined : nextError(spent, request, place, response.errors)
        if (error !== undefined) throw scriptedFailure(error)
        return play(response, request, place, production, clock)
      }),
  }
}

/** Asks a function with a copy of the request, which is the conversation itself. @throws RuntimeError provider_malformed, or its own */
const ask = async (script: Extract<ScriptedSource, (request: ModelRequest) => unknown>, request: ModelRequest, ref: string) => {
  let answer: unknown
  try {
    answer = await script(detached(request))
  } catch (thrown) {
    if (isRuntimeError(thrown)) throw thrown
    throw providerError('provider_malformed', `the script function of ${ref} threw: ${messageOf(thrown)}`, {
      hint: 'mend the function; to play a failing provider, return { error: { code, message } }',
    })
  }
  return checkAnswer(answer, ref)
}

/** How many answers the conversation has: the place in the script. */
const placeOf = (request: ModelRequest): number => {
  let place = 0
  for (const message of request.messages) if (message.role === 'assistant') place++
  return place
}

const scriptEnded = (ref: string, length: number): RuntimeError =>
  providerError('provider_rejected', `the script has ended after ${length} responses`, {
    hint: `add a response to ${ref}: it plays one per assistant message of the conversation, and those of a history that was given count; a function answers whatever came before`,
  })

const nextError = (spent: Map<string, number>, request: ModelRequest, place: number, errors: ScriptedError[]): ScriptedError | undefined => {
  const [first] = request.messages
  const key = `${first !== undefined && 'id' in first ? first.id : ''} ${place}`
  const attempt = spent.get(key) ?? 0
  if (!spent.has(key) && spent.size >= spentMax) spent.delete(spent.keys().next().value ?? '')
  spent.set(key, attempt + 1)
  return errors[attempt]
}

const scriptedFailure = ({ code, status, message, retryAfterMs }: ScriptedError): RuntimeError => {
  const effective = code ?? codeOfStatus(status ?? 500)
  return providerError(effective, message ?? `the script says ${status ?? effective}`, {
    hint: scriptHint('error'),
    data: definedOf({ status, retryAfterMs }),
  })
}

const scriptHint = (field: string): string => `the script asks for it: see \`${field}\` of this response`

const play = async (
  response: ScriptedResponse,
  request: ModelRequest,
  place: number,
  production: Production,
  clock: Clock,
): Promise<ModelResponse> => {
  const { answer } = production
  answer.usage = usageOf(response)
  await stream('reasoning', chunksOf(response.reasoning ?? '', response.chunkSize), response, production, clock)
  const text = response.cutAfter === undefined ? response.text : (response.text ?? response.chunks?.join('') ?? '').slice(0, response.cutAfter)
  const chunks = text === undefined ? (response.chunks ?? []) : chunksOf(text, response.chunkSize)
  await stream('text', chunks, response, production, clock)

  if (response.cutAfter !== undefined) throw providerError('provider_malformed', 'the stream stopped in mid-answer', { hint: scriptHint('cutAfter') })
  if (response.garbage === true)
    throw providerError('provider_malformed', 'the stream contained something unreadable', { hint: scriptHint('garbage') })
  if (response.error !== undefined) throw scriptedFailure(response.error)
  if (response.hang === true) await silence(production.signal)
  if (response.endless === true) await endless(chunks.length === 0 ? ['again '] : chunks, response, production, clock)

  for (const call of callsOf(response, request, place)) {
    answer.count(call.input.length)
    answer.addCall(call)
  }
  return answer.response(response.finish ?? (answer.hasCalls ? 'tool-calls' : 'stop'))
}

const usageOf = ({ usage = {} }: ScriptedResponse): Usage => ({
  inputTokens: usage.inputTokens ?? 0,
  outputTokens: usage.outputTokens ?? 0,
  cachedInputTokens: usage.cachedInputTokens ?? 0,
  reasoningTokens: usage.reasoningTokens ?? 0,
  cacheWriteTokens: usage.cacheWriteTokens ?? 0,
})

const stream = async (
  kind: 'text' | 'reasoning',
  chunks: readonly string[],
  { deltaDelayMs }: ScriptedResponse,
  { answer, signal }: Production,
  clock: Clock,
): Promise<void> => {
  for (const chunk of chunks) {
    if (signal.aborted) return
    answer.add(kind, chunk)
    if (deltaDelayMs !== undefined) await sleep(clock, deltaDelayMs, signal)
  }
}

/** Ends by the limits of the request or by its signal, never by itself. */
const endless = async (chunks: readonly string[], response: ScriptedResponse, production: Production, clock: Clock): Promise<void> => {
  for (let round = 1; !production.signal.aborted; round++) {
    await stream('text', chunks, response, production, clock)
    if (response.deltaDelayMs === undefined && (round * chunks.length) % deltasPerYield < chunks.length)
      await new Promise((resolve) => setImmediate(resolve))
  }
}

const silence = (signal: AbortSignal): Promise<void> =>
  signal.aborted ? Promise.resolve() : new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }))

const chunksOf = (text: string, size: number | undefined): string[] => {
  if (text === '') return []
  if (size === undefined) return text.match(/\s+(?:\S+\s*)?|\S+\s*/g) ?? []
  return Array.from({ length: Math.ceil(text.length / size) }, (_, index) => text.slice(index * size, (index + 1) * size))
}

const callsOf = (response: ScriptedResponse, request: ModelRequest, place: number) => {
  const written = [
    ...(response.calls ?? []).map(({ name, input, callId }) => ({ name, callId, input: JSON.stringify(input ?? {}) })),
    ...(response.rawCalls ?? []),
  ]
  if (written.length === 0) return []
  const prefix = `call-${shortHash(newestUserId(request))}-${place}`
  return written.map(({ name, callId, input }, index) => ({ callId: callId ?? `${prefix}-${index + 1}`, name, input }))
}

const newestUserId = ({ messages }: ModelRequest): string => {
  const newest = messages.findLast((message) => message.role === 'user' || message.role === 'summary')
  return newest !== undefined && 'id' in newest ? newest.id : ''
}

/** FNV-1a, 32 bits: tells conversations apart; nothing is at stake when two collide. */
const shortHash = (text: string): string => {
  let hash = 0x811c9dc5
  for (let index = 0; index < text.length; index++) hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193)
  return (hash >>> 0).toString(16).padStart(8, '0')
}
