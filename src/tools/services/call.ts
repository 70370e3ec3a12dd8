/** One attempt of one call of a service: a request, any number of heartbeats, one result. See docs/reference/tools-as-services.md. */

import { createHash, randomBytes } from 'node:crypto'
import { definedOf } from '../../contracts/defined.ts'
import { type ErrorCode, isRuntimeError, messageOf, RuntimeError } from '../../contracts/errors.ts'
import { withDigitsAsText } from '../../contracts/exact-json.ts'
import { redact } from '../../contracts/redact.ts'
import { instanceName, type Tool, type ToolContext } from '../../contracts/tool.ts'
import type { Bus } from '../../contracts/transport.ts'
import type { Offer } from './info.ts'
import type { Workers } from './workers.ts'

type ServiceCall = {
  bus: Bus
  workers: Workers
  prefix: string
  offer: Offer
  outputBytesMax: Tool['outputBytesMax']
  /** Instances that are known and answer pings, for a worker that does not say who it is. */
  instances: readonly string[]
}

const progressCharsMax = 2000
const errorCharsMax = 4000
/** The service itself says that it has not begun. */
const retryableStatuses = new Set(['429', '503'])

/** @throws RuntimeError tool_failed, tool_output, tool_timeout, and tool_lost where its outcome is unknown */
export const callService = async (
  { bus, workers, prefix, offer, outputBytesMax, instances }: ServiceCall,
  input: unknown,
  context: ToolContext,
): Promise<unknown> => {
  const { service, subject, settings } = offer
  const cancelSubject = `${prefix}.cancel.${service}.${randomBytes(16).toString('hex')}`
  const gone = new AbortController()
  const watch = (whom: readonly string[]) => (whom.length === 0 ? () => undefined : workers.watch(service, whom, () => gone.abort()))
  let unwatch = watch(instances)
  let worker: string | undefined
  let state: 'asked' | 'unheard' | 'answered' = 'asked'
  try {
    const replies = bus.requestMany(subject, new TextEncoder().encode(JSON.stringify(input)), {
      timeoutMs: settings.timeoutMs,
      signal: AbortSignal.any([context.signal, gone.signal]),
      headers: requestHeaders(settings.timeoutMs, cancelSubject, context),
    })
    for await (const { headers = {}, data } of replies) {
      const header = caseless(headers)
      const announced = header('Statecast-Worker')
      if (worker === undefined && announced !== undefined && instanceName.test(announced)) {
        worker = announced
        unwatch()
        unwatch = watch([worker])
      }
      const progress = header('Statecast-Progress')
      const isAnswer = header('Nats-Service-Error') !== undefined || header('Nats-Service-Error-Code') !== undefined
      if (isAnswer) {
        state = 'answered'
        throw refusal(offer, header('Nats-Service-Error') ?? '', header('Nats-Service-Error-Code') ?? '')
      }
      if (progress !== undefined) context.progress(progress.slice(0, progressCharsMax))
      else if (announced === undefined || data.length > 0) {
        state = 'answered'
        return resultIn(settings.name, data, outputBytesMax)
      }
    }
  } catch (error) {
    if (state === 'answered') throw error
    const thrown = isRuntimeError(error) ? error.code : undefined
    if (thrown === 'not_found') state = 'unheard'
    throw thrown === 'not_found' ? nobodyThere(offer) : thrown === 'bad_request' || thrown === 'too_large' ? error : broken(offer, error)
  } finally {
    unwatch()
    if (state === 'asked') cancel(bus, cancelSubject, context, gone.signal.aborted ? 'tool_lost' : 'tool_timeout')
  }
  context.signal.throwIfAborted()
  throw gone.signal.aborted ? lost(offer, worker) : late(offer)
}

/** @param otherwise the reason, where it was not cancelled */
const cancel = (bus: Bus, subject: string, { callId, signal }: ToolContext, otherwise: ErrorCode): void => {
  const reason = isRuntimeError(signal.reason) ? signal.reason.code : signal.aborted ? 'cancelled' : otherwise
  try {
    bus.publish(subject, new TextEncoder().encode(JSON.stringify({ callId, reason })), { 'Content-Type': 'application/json' })
  } catch {
    // The bus is closed: the worker sees that its caller no longer listens.
  }
}

const requestHeaders = (timeoutMs: number, cancelSubject: string, { callId, attempt, session, runId }: ToolContext): Record<string, string> => ({
  'Content-Type': 'application/json',
  'Statecast-Call-Id': ascii(callId),
  'Statecast-Attempt': String(attempt),
  'Statecast-Session': ascii(session),
  'Statecast-Run-Id': ascii(runId),
  'Statecast-Deadline-Ms': String(timeoutMs),
  'Statecast-Cancel': cancelSubject,
  // All calls of a run are one trace, each attempt is a span of it.
  traceparent: `00-${hex(`${session}\n${runId}`, 32)}-${hex(`${callId}\n${attempt}`, 16)}-01`,
})

const hex = (text: string, length: number): string => createHash('sha256').update(text).digest('hex').slice(0, length)

/** A header is one line of ASCII: whatever else is in an id is percent-encoded. */
const ascii = (text: string): string => text.toWellFormed().replace(/[^\x21-\x24\x26-\x7e]/gu, encodeURIComponent)

/** Libraries of some languages write the names of headers in a case of their own. */
const caseless = (headers: Record<string, string>) => {
  const byName = new Map(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))
  return (name: string): string | undefined => byName.get(name.toLowerCase())
}

const resultIn = (name: string, data: Uint8Array, bytesMax: number): unknown => {
  if (data.length > bytesMax)
    throw new RuntimeError('tool_output', `tool "${name}": the result has ${data.length} bytes; at most ${bytesMax} are allowed`, {
      hint: 'answer with less: a part, a page, a summary',
    })
  try {
    // What the model is told keeps its digits, as text.
    return JSON.parse(withDigitsAsText(new TextDecoder('utf-8', { fatal: true }).decode(data)))
  } catch (cause) {
    throw new RuntimeError('tool_output', `tool "${name}": its service answered with something that is not JSON: ${messageOf(cause).slice(0, 200)}`, {
      hint: 'the service must answer with JSON in UTF-8, `null` for nothing',
      cause,
    })
  }
}

const about = ({ service, subject, settings }: Offer): Record<string, unknown> => ({ tool: settings.name, service, subject })

const refusal = (offer: Offer, message: string, status: string): RuntimeError =>
  new RuntimeError(
    'tool_failed',
    redact(message).slice(0, errorCharsMax) || `tool "${offer.settings.name}" failed with status ${status.slice(0, 20)}`,
    {
      retryable: retryableStatuses.has(status.trim()),
      data: { ...about(offer), status: status.slice(0, 20) },
    },
  )

const nobodyThere = (offer: Offer): RuntimeError =>
  new RuntimeError('tool_failed', `nobody answers for tool "${offer.settings.name}": no instance of service '${offer.service}' is running`, {
    retryable: true,
    hint: `nothing has been done; start the service '${offer.service}', then ask again`,
    data: about(offer),
  })

const lost = (offer: Offer, worker: string | undefined): RuntimeError =>
  new RuntimeError('tool_lost', `the worker of tool "${offer.settings.name}" (service '${offer.service}') is gone in the middle of the call`, {
    retryable: true,
    hint: `see why the service '${offer.service}' ended, and start it again`,
    data: { ...about(offer), ...definedOf({ worker }) },
  })

const broken = (offer: Offer, cause: unknown): RuntimeError =>
  new RuntimeError('tool_lost', `the answer of tool "${offer.settings.name}" cannot be received any more: ${messageOf(cause).slice(0, 500)}`, {
    cause,
    retryable: true,
    data: about(offer),
  })

const late = (offer: Offer): RuntimeError =>
  new RuntimeError('tool_timeout', `tool "${offer.settings.name}" did not finish within ${offer.settings.timeoutMs} ms`, {
    hint: `ask for less at once, or raise timeoutMs in the metadata of the service '${offer.service}'`,
    data: { ...about(offer), timeoutMs: offer.settings.timeoutMs },
  })
