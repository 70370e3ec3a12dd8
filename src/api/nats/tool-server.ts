/** Tools of this process for agents elsewhere: one micro service with an endpoint each, as docs/reference/tools-as-services.md says. */
import type { Environment } from '../../contracts/environment.ts'
import { errorBody, RuntimeError } from '../../contracts/errors.ts'
import { parseJson } from '../../contracts/parse.ts'
import { shownBody } from '../../contracts/redact.ts'
import { instanceName, type Tool } from '../../contracts/tool.ts'
import type { Bus, BusMessage } from '../../contracts/transport.ts'
import { systemEnvironment } from '../../runtime/index.ts'
import { checkedTools, describeIssues, inputSchemaOf, runTool } from '../../tools/index.ts'
import { checkSubject } from '../../transport/index.ts'
import { statusOf } from '../error-status.ts'
import { announceService, errorHeaders } from './micro-service.ts'

export type ToolServerOptions = {
  /** Of the service: what offers the same tools under the same name shares the calls. */
  name: string
  tools: readonly Tool[]
  description?: string
  /** First token of all subjects; default `statecast`. */
  prefix?: string
  environment?: Partial<Pick<Environment, 'clock' | 'log' | 'failPoints'>>
}

export type ToolServer = {
  /** Of this instance. */
  readonly id: string
  /** Takes no more calls; resolves when those that run have been answered. */
  close(): Promise<void>
}

const nothing = new Uint8Array()
const queue = 'q'

/**
 * A tool that decides by its input whether a person must agree is offered as one that always asks.
 * @throws RuntimeError bad_request: a name that is no single token, no tools, or two of one name
 */
export const toolServer = (
  bus: Bus,
  { name, tools: given, description = 'tools for agents', prefix = 'statecast', environment: parts = {} }: ToolServerOptions,
): ToolServer => {
  const environment = { ...systemEnvironment(), ...parts }
  const tools = checkedTools(given)
  check(name, tools)
  const subjectOf = (tool: Tool): string => `${prefix}.tools.${name}.${tool.name}`
  const publish = (reply: string, body: Uint8Array, headers: Record<string, string>): void => {
    try {
      bus.publish(reply, body, headers)
    } catch (error) {
      environment.log.warn({ error: errorBody(error) }, 'the answer of a tool could not be sent')
    }
  }
  const encode = (body: unknown): Uint8Array => new TextEncoder().encode(JSON.stringify(body))
  const service = announceService(
    bus,
    environment.clock,
    {
      name,
      description,
      endpoints: tools.map((tool) => ({ name: tool.name, subject: subjectOf(tool), queue, metadata: metadataOf(tool) })),
    },
    (reply, body) => reply !== undefined && publish(reply, encode(body), { 'Content-Type': 'application/json' }),
  )

  const call = async (tool: Tool, { data, headers = {} }: BusMessage, reply: string, cancelled: AbortSignal): Promise<Uint8Array> => {
    const given = tool.input.safeParse(parseJson(data, 'input', 'send the JSON that the schema of the tool describes', {}))
    if (!given.success) throw new RuntimeError('tool_input', describeIssues(given.error))
    const deadlineMs = Number(headers['Statecast-Deadline-Ms'])
    const timeoutMs = deadlineMs > 0 ? Math.min(deadlineMs, tool.timeoutMs) : tool.timeoutMs
    const text = (header: string): string => decodeHeader(headers[header] ?? '')
    const context = {
      callId: text('Statecast-Call-Id'),
      attempt: Number(headers['Statecast-Attempt'] ?? 1),
      session: text('Statecast-Session'),
      runId: text('Statecast-Run-Id'),
      signal: cancelled,
      progress: (message: string) => publish(reply, nothing, { 'Statecast-Progress': oneLine(message) }),
      artifacts: {},
      log: environment.log,
    }
    return encode(await runTool(tool, { name: tool.name, timeoutMs }, given.data, context, environment))
  }

  const running = new Set<Promise<void>>()
  const take = async (tool: Tool, message: BusMessage): Promise<void> => {
    const { reply, headers = {} } = message
    // Nobody waits for what it would do.
    if (reply === undefined) return
    const done = service.begin(tool.name)
    const cancelled = new AbortController()
    const cancelSubject = headers['Statecast-Cancel']
    let stopListening: () => void = () => undefined
    publish(reply, nothing, { 'Statecast-Worker': service.id })
    try {
      if (cancelSubject) stopListening = bus.subscribe(checkSubject(cancelSubject), () => cancelled.abort())
      bus.publish(reply, await call(tool, message, reply, cancelled.signal), { 'Content-Type': 'application/json' })
      done()
    } catch (error) {
      const body = shownBody(error)
      done(body)
      if (!cancelled.signal.aborted) publish(reply, encode({ error: body }), errorHeaders(body, body.retryable ? 503 : statusOf(body)))
    } finally {
      stopListening()
    }
  }
  const stops = tools.map((tool) =>
    bus.subscribe(
      subjectOf(tool),
      (message) => {
        const work = take(tool, message)
          .catch((error: unknown) => environment.log.error({ tool: tool.name, error: errorBody(error) }, 'a call could not be taken'))
          .finally(() => running.delete(work))
        running.add(work)
      },
      { queue },
    ),
  )
  return {
    id: service.id,
    async close() {
      service.stop()
      for (const stop of stops) stop()
      await Promise.all(running)
    },
  }
}

const check = (name: string, tools: readonly Tool[]): void => {
  if (typeof name !== 'string' || !instanceName.test(name))
    throw new RuntimeError('bad_request', `'${String(name).slice(0, 80)}' is not a valid service name`, {
      field: 'name',
      hint: 'use letters, digits, _ and -',
    })
  const names = new Set(tools.map((tool) => tool.name))
  if (names.size === 0 || names.size < tools.length)
    throw new RuntimeError('bad_request', tools.length === 0 ? 'there is no tool to serve' : 'two tools have one name', {
      field: 'tools',
      hint: 'give what tool({ … }) returns, each under a name of its own',
    })
}

const metadataOf = (tool: Tool): Record<string, string> => ({
  schema: JSON.stringify(tool.jsonSchema ?? inputSchemaOf(tool.name, tool.input)),
  description: tool.description,
  onCrash: tool.onCrash,
  timeoutMs: String(tool.timeoutMs),
  attemptMax: String(tool.attemptMax),
  approval: tool.approval === false ? 'never' : 'always',
})

const decodeHeader = (text: string): string => {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

const oneLine = (text: string): string => String(text).replace(/[\r\n]+/g, ' ')
