/** One connection to an MCP server, of either era of the protocol, through the SDK of MCP. The package is loaded here and nowhere else, when the first server is used. */
import { isAbsolute, resolve } from 'node:path'
import { z } from 'zod'
import type { Logger } from '../../contracts/environment.ts'
import { isRuntimeError, messageOf, RuntimeError } from '../../contracts/errors.ts'
import { isRecord } from '../../contracts/record.rules.ts'
import { redact } from '../../contracts/redact.ts'
import { boundedFetch } from './bounded-fetch.ts'
import { type McpSettings, withVariables } from './options.ts'
import type { McpResult } from './result.rules.ts'
import { type StdioWire, stdioWire } from './stdio.ts'
import { lostCode, tooLongCode, type Wire } from './wire.ts'

/** A tool as its server describes it. */
export type ListedTool = {
  name: string
  description?: string | undefined
  inputSchema: unknown
  annotations?: { readOnlyHint?: boolean | undefined; idempotentHint?: boolean | undefined } | undefined
}

type CallOptions = { signal: AbortSignal; timeoutMs: number; onProgress: (message: string) => void }

export type McpConnection = {
  /** The revision of the protocol that both speak. */
  readonly protocol: string
  /** At most `max`; more are left out. @throws RuntimeError */
  list(signal: AbortSignal, max: number): Promise<{ tools: ListedTool[]; more: boolean }>
  /** @throws RuntimeError tool_failed, tool_output, tool_lost, cancelled */
  call(tool: ListedTool, input: unknown, options: CallOptions): Promise<McpResult>
  close(): Promise<void>
}

type ConnectionParts = {
  server: string
  settings: McpSettings
  env: Readonly<Record<string, string | undefined>>
  version: string
  log: Logger
  fetch: typeof globalThis.fetch
  /** Speaks as the servers of 2025 want it from the first word on: some end when they are asked anything else. */
  old: boolean
  signal: AbortSignal
  onChanged(): void
  onLost(error: unknown): void
}

/** ms for the first question, which old servers may leave without an answer. */
const probeMs = 3_000
const pagesMax = 100
const messageCharsMax = 2_000

const kept = ['PATH', 'HOME', 'LANG'] as const

/** @throws RuntimeError saying why there is none; retryable where it may be otherwise soon */
export const openConnection = async (parts: ConnectionParts): Promise<McpConnection> => {
  const { server, settings, version, old, signal, log, onChanged, onLost } = parts
  const sdk = await loadSdk()
  const wire = 'url' in settings ? undefined : programWire(parts, settings)
  const connected: Wire =
    wire ??
    (new sdk.StreamableHTTPClientTransport(new URL((settings as { url: string }).url), {
      requestInit: { headers: withVariables((settings as { headers: Record<string, string> }).headers, parts.env, `mcp.servers.${server}.headers`) },
      fetch: boundedFetch(parts.fetch),
      // Another host is not followed: it would be given the headers.
      redirectPolicy: 'same-origin',
      reconnectionOptions: { initialReconnectionDelay: 1_000, maxReconnectionDelay: 30_000, reconnectionDelayGrowFactor: 2, maxRetries: 3 },
    }) as unknown as Wire)
  const client = new sdk.Client(
    { name: 'statecast', version },
    {
      // Neither questions to people nor calls of our models are offered to servers.
      capabilities: {},
      inputRequired: { autoFulfill: false },
      versionNegotiation: { mode: old ? 'legacy' : 'auto', probe: { timeoutMs: Math.min(probeMs, settings.connectMs / 2) } },
      listChanged: { tools: { autoRefresh: false, debounceMs: 100, onChanged } },
    },
  )
  const failure = (error: unknown): RuntimeError => connectFailure(server, error, wire)
  let isOpen = false
  client.onclose = () => {
    if (isOpen) onLost(failure(undefined))
  }
  client.onerror = (error) => log.debug({ server, error: redact(messageOf(error)).slice(0, messageCharsMax) }, 'an MCP server said something odd')
  const close = async (): Promise<void> => {
    isOpen = false
    await client.close().catch(() => undefined)
    await connected.close().catch(() => undefined)
  }
  const abort = (): void => void close()
  signal.addEventListener('abort', abort, { once: true })
  try {
    signal.throwIfAborted()
    await client.connect(connected as unknown as Parameters<typeof client.connect>[0], { timeout: settings.connectMs, signal })
    isOpen = true
  } catch (error) {
    const why = failure(error)
    await close()
    throw why
  } finally {
    signal.removeEventListener('abort', abort)
  }

  return {
    protocol: client.getNegotiatedProtocolVersion() ?? '',
    close,
    list: async (listSignal, max) => {
      const tools: ListedTool[] = []
      let cursor: string | undefined
      try {
        if (client.getServerCapabilities()?.tools === undefined) return { tools, more: false }
        for (let page = 0; page < pagesMax && tools.length <= max; page++) {
          const params = cursor === undefined ? {} : { cursor }
          const answer = await client.request({ method: 'tools/list', params }, ToolPage, { signal: listSignal, timeout: settings.connectMs })
          tools.push(...validTools(answer.tools, (problem) => log.warn({ server, problem }, 'an invalid tool of an MCP server is left out')))
          if (!answer.nextCursor || answer.nextCursor === cursor) return { tools: tools.slice(0, max), more: tools.length > max }
          cursor = answer.nextCursor
        }
        return { tools: tools.slice(0, max), more: true }
      } catch (error) {
        throw failure(error)
      }
    },
    call: async (tool, input, { signal: callSignal, timeoutMs, onProgress }) => {
      try {
        return await client.callTool(
          { name: tool.name, arguments: (input ?? {}) as Record<string, unknown> },
          {
            signal: callSignal,
            // The limit of the tool comes first.
            timeout: timeoutMs + 1_000,
            onprogress: ({ message, progress, total }) => onProgress(message ?? (total === undefined ? String(progress) : `${progress} of ${total}`)),
            // Without the schema of its output: what a server says of that is not compiled here.
            toolDefinition: { name: tool.name, inputSchema: tool.inputSchema as { type: 'object' } },
          },
        )
      } catch (error) {
        if (callSignal.aborted) throw error
        const { error: thrown, lost } = callFailure(server, tool.name, error)
        if (lost) onLost(failure(error))
        throw thrown
      }
    },
  }
}

/** Replaces the schema of the SDK, by which one invalid tool rejects the whole page (opentokenz/mcpx#28, brave/brave-search-mcp-server#235). */
const ToolPage = z.looseObject({ tools: z.array(z.unknown()), nextCursor: z.string().optional().catch(undefined) })
const hint = z.boolean().optional().catch(undefined)
const Listed = z.object({
  name: z.string().min(1),
  description: z.string().optional().catch(undefined),
  inputSchema: z
    .unknown()
    .optional()
    .transform((schema) => (isOpen(schema) ? { type: 'object' } : schema)),
  annotations: z.object({ readOnlyHint: hint, idempotentHint: hint }).optional().catch(undefined),
})
/** A tool without an input schema accepts any object. */
const isOpen = (schema: unknown): boolean => schema === undefined || schema === null || (isRecord(schema) && Object.keys(schema).length === 0)

/** The valid tools of a page. Only a missing name makes one invalid. */
const validTools = (page: readonly unknown[], onProblem: (problem: string) => void): ListedTool[] =>
  page.flatMap((entry, index) => {
    const { data } = Listed.safeParse(entry)
    if (data === undefined) onProblem(`tools[${index}] must have a name`)
    return data === undefined ? [] : [data]
  })

const loadSdk = async () => {
  try {
    return await import('@modelcontextprotocol/client')
  } catch (cause) {
    throw new RuntimeError('unsupported', 'tools of MCP servers need the package @modelcontextprotocol/client', {
      cause,
      hint: 'npm install @modelcontextprotocol/client',
    })
  }
}

const programWire = ({ server, env, log }: ConnectionParts, settings: Extract<McpSettings, { command: string }>): StdioWire => {
  const { command, args, cwd } = settings
  const folder = cwd === undefined ? undefined : isAbsolute(cwd) ? cwd : resolve(cwd)
  // Nothing else of ours: keys of models stand in our environment.
  const inherited = Object.fromEntries(kept.flatMap((name) => (env[name] === undefined ? [] : [[name, env[name]]])))
  return stdioWire(
    { command, args, cwd: folder, env: { ...inherited, ...withVariables(settings.env, env, `mcp.servers.${server}.env`) } },
    { server, noise: (where, text) => log.debug({ server, where, text }, 'an MCP server wrote beside the protocol') },
  )
}

/** Such as the SDK throws: its classes are not loaded where nobody uses it. */
const codeOf = (error: unknown): unknown => (typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined)
const statusOf = (error: unknown): number | undefined => {
  const data = typeof error === 'object' && error !== null && 'data' in error ? (error.data as { status?: unknown } | undefined) : undefined
  return typeof data?.status === 'number' ? data.status : undefined
}

const shown = (error: unknown): string => redact(messageOf(error).slice(0, 4 * messageCharsMax)).slice(0, messageCharsMax)

const connectFailure = (server: string, error: unknown, wire: StdioWire | undefined): RuntimeError => {
  if (isRuntimeError(error)) return error
  const why = wire?.why()
  if (why !== undefined && (error === undefined || why.code !== 'log_unavailable' || /ended with/.test(why.message))) return why
  const status = statusOf(error)
  const data = { server }
  if (status === 401 || status === 403)
    return new RuntimeError('unauthorised', `the MCP server '${server}' does not let us in: ${status}`, {
      field: `mcp.servers.${server}.headers`,
      hint: `give it a credential: headers: { Authorization: 'Bearer \${NAME}' }`,
      data,
    })
  const text = error === undefined ? 'its connection has ended' : shown(error)
  if (codeOf(error) === tooLongCode)
    return new RuntimeError('too_large', `the MCP server '${server}' describes its tools at too great a length: ${text}`, {
      hint: 'let it describe fewer tools in fewer words',
      data,
    })
  return new RuntimeError('log_unavailable', `the MCP server '${server}' does not answer as one: ${text}`, {
    cause: error,
    retryable: true,
    hint: 'is it running, and is this its address or command?',
    data,
  })
}

const callFailure = (server: string, name: string, error: unknown): { error: RuntimeError; lost: boolean } => {
  const code = codeOf(error)
  const text = shown(error)
  const data = { server, tool: name.slice(0, 200), ...(typeof code === 'number' || typeof code === 'string' ? { code } : {}) }
  if (code === tooLongCode)
    return {
      error: new RuntimeError('tool_output', `the MCP server '${server}' answered at too great a length: ${text}`, {
        hint: 'ask for less: a part, a page, a summary',
        data,
      }),
      lost: false,
    }
  if (code === 'UNSUPPORTED_RESULT_TYPE' || code === 'INPUT_REQUIRED_ROUNDS_EXCEEDED')
    return {
      error: new RuntimeError('tool_failed', `the MCP server '${server}' wants to ask a person or a model something, which is not offered`, {
        hint: 'give the tool all that it needs with the call',
        data,
      }),
      lost: false,
    }
  // What a server says in so many words; all else is what became of the connection.
  if (typeof code === 'number' && code !== lostCode) return { error: new RuntimeError('tool_failed', text, { data }), lost: false }
  if (code === 'INVALID_RESULT')
    return {
      error: new RuntimeError('tool_output', `the MCP server '${server}' answered with something that is no result: ${text}`, { data }),
      lost: false,
    }
  return {
    error: new RuntimeError('tool_lost', `the MCP server '${server}' was lost in the middle of the call: ${text}`, {
      cause: error,
      retryable: true,
      hint: 'see why it ended; it is connected to again by itself',
      // The server no longer knows the session (MCP, Streamable HTTP), so it did not process the request.
      data: { ...data, ...(statusOf(error) === 404 && { notBegun: true }) },
    }),
    lost: true,
  }
}
