/** One attempt of one tool call: bounded in time whatever the tool does, and a typed error for every way it can go wrong. */
import { type Clock, type FailPoints, type Instant, instantOf, isWithin } from '../contracts/environment.ts'
import { isRuntimeError, messageOf, RuntimeError } from '../contracts/errors.ts'
import { redact, redactedError } from '../contracts/redact.ts'
import type { PlannedCall, Tool, ToolContext } from '../contracts/tool.ts'
import { plainJson } from './output.ts'

type RunEnvironment = { clock: Clock; failPoints: FailPoints; confirm?: () => Promise<void> }

const messageCharsMax = 4000
/** Characters of a tool's error message that are looked at. */
const readCharsMax = 20_000
/** ms for which a confirmation counts that no other node has taken over. */
const freshMs = 250

/**
 * Runs a tool with input that has passed its schema. Timeout and cancel win at once, also over a tool that ignores its signal: what such a
 * tool still does or returns is dropped.
 * @returns plain JSON @throws RuntimeError tool_failed, tool_timeout, tool_output, cancelled
 */
export const runTool = async (
  tool: Tool,
  planned: Pick<PlannedCall, 'name' | 'timeoutMs'>,
  input: unknown,
  context: ToolContext,
  environment: RunEnvironment,
): Promise<unknown> => {
  const { clock } = environment
  if (context.signal.aborted) throw cancelled(planned.name)
  const stop = new AbortController()
  const { promise: stopped, reject } = Promise.withResolvers<never>()
  const end = (error: RuntimeError): void => {
    reject(error)
    stop.abort(error)
  }
  const onAbort = (): void => end(cancelled(planned.name))
  context.signal.addEventListener('abort', onAbort, { once: true })
  const timer = clock.setTimeout(() => end(timedOut(planned)), planned.timeoutMs)
  try {
    const value = await Promise.race([attempt(tool, input, { ...context, signal: stop.signal }, environment), stopped])
    return plainJson(tool.name, value, tool.outputBytesMax)
  } catch (thrown) {
    // A result is the tool's own affair; an error goes to the model, the journal and the log.
    throw isRuntimeError(thrown) ? redactedError(thrown) : thrown
  } finally {
    clock.clearTimeout(timer)
    context.signal.removeEventListener('abort', onAbort)
  }
}

const attempt = async (tool: Tool, input: unknown, context: ToolContext, { clock, failPoints, confirm }: RunEnvironment): Promise<unknown> => {
  // Awaited only when there is something to wait for: a tool that answers at once costs no extra turn of the loop.
  const held = failPoints.hit('K10')
  if (held !== undefined) await held
  // The last moment at which a process that was frozen and replaced meanwhile can notice it. It may be frozen after the answer too, while another tool
  // of the same step begins: between this look at the clock and the deed nothing else can run.
  if (confirm) {
    let asked: Instant
    do {
      asked = instantOf(clock)
      await confirm()
    } while (!isWithin(clock, asked, freshMs))
  }
  context.signal.throwIfAborted()
  let value: unknown
  try {
    value = await tool.execute(input, context)
  } catch (thrown) {
    throw failed(tool.name, thrown)
  }
  const reported = failPoints.hit('K11')
  if (reported !== undefined) await reported
  return value
}

/** What a tool threw, as tool_failed; one of our own tool errors stays as it is. `retryable: true` on the thrown value is kept. */
const failed = (name: string, thrown: unknown): RuntimeError => {
  if (isRuntimeError(thrown) && (thrown.code.startsWith('tool_') || thrown.code === 'sandbox_limit')) return thrown
  // Before it is cut: half a secret looks like none.
  const message = redact(messageOf(thrown).slice(0, readCharsMax)).slice(0, messageCharsMax)
  const known = isRuntimeError(thrown) ? thrown : undefined
  return new RuntimeError('tool_failed', message === '' ? `tool "${name}" failed without a message` : message, {
    cause: thrown,
    retryable: isMarkedRetryable(thrown),
    hint: known?.hint,
    field: known?.field,
    data: { tool: name, ...(known === undefined ? {} : { code: known.code, ...known.data }) },
  })
}

const isMarkedRetryable = (thrown: unknown): boolean => {
  try {
    return typeof thrown === 'object' && thrown !== null && 'retryable' in thrown && thrown.retryable === true
  } catch {
    return false
  }
}

const timedOut = ({ name, timeoutMs }: Pick<PlannedCall, 'name' | 'timeoutMs'>): RuntimeError =>
  new RuntimeError('tool_timeout', `tool "${name}" did not finish within ${timeoutMs} ms`, {
    hint: 'ask for less at once, or raise timeoutMs of the tool',
    data: { tool: name, timeoutMs },
  })

const cancelled = (name: string): RuntimeError => new RuntimeError('cancelled', `tool "${name}" was cancelled`, { data: { tool: name } })
