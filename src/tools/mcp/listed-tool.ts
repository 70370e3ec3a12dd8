/** A tool of an MCP server as one of ours. What its annotations say are hints of the server: who trusts it as little as its tools sets `approval: 'always'`. */
import { z } from 'zod'
import { isRuntimeError, RuntimeError } from '../../contracts/errors.ts'
import type { Tool } from '../../contracts/tool.ts'
import { checkerOf } from '../schema.ts'
import type { ListedTool, McpConnection } from './connection.ts'
import type { McpSettings } from './options.ts'
import { outputOf, textOfResult } from './result.rules.ts'
import { boundedSchema, checkableSchema, descriptionOf } from './schema.rules.ts'

const progressCharsMax = 2_000
const errorCharsMax = 4_000

/** @param connected the connection there is, or the next one; rejects where there is none */
type Connected = (signal: AbortSignal) => Promise<McpConnection>

/** The server did not process the call, so even a tool with side effects can be called again (punkpeye/mcp-remote#106, modelcontextprotocol/rust-sdk#733). */
const wasNotBegun = (error: unknown): boolean =>
  isRuntimeError(error) && error.code === 'tool_lost' && (error.data as { notBegun?: boolean } | undefined)?.notBegun === true

/** @param name what models call it @returns why it cannot be one, otherwise */
export const toolOf = (
  server: string,
  name: string,
  listed: ListedTool,
  settings: McpSettings,
  connected: Connected,
): { tool: Tool } | { problem: string } => {
  const bounded = boundedSchema(listed.inputSchema)
  if ('problem' in bounded) return { problem: `inputSchema: ${bounded.problem}` }
  const { schema: jsonSchema } = bounded
  const checkable = checkableSchema(jsonSchema)
  const { readOnlyHint = false, idempotentHint = false } = listed.annotations ?? {}
  const { timeoutMs, outputBytesMax, approval } = settings
  return {
    tool: Object.freeze({
      name,
      category: 'mcp',
      description: descriptionOf(listed.description, listed.name),
      input: checkable === undefined ? z.looseObject({}) : checkerOf(checkable),
      jsonSchema,
      source: `mcp:${server}`,
      onCrash: readOnlyHint ? 'retry' : idempotentHint ? 'idempotent' : 'once',
      approval: approval === 'always' || (approval === 'writes' && !readOnlyHint),
      timeoutMs,
      attemptMax: 1,
      outputBytesMax,
      execute: async (input, { signal, progress }) => {
        const call = async () =>
          (await connected(signal)).call(listed, input, {
            signal,
            timeoutMs,
            onProgress: (message) => progress(message.slice(0, progressCharsMax)),
          })
        // One retry, over a new connection: a server that loses every session would be retried for ever.
        const result = await call().catch((error: unknown) => {
          if (wasNotBegun(error)) return call()
          throw error
        })
        if (result.isError)
          throw new RuntimeError('tool_failed', textOfResult(result).slice(0, errorCharsMax) || `tool "${name}" failed without a message`, {
            data: { server, tool: name },
          })
        return outputOf(result)
      },
    } satisfies Tool),
  }
}
