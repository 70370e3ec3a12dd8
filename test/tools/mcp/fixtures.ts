/** MCP servers of tests, and the tools that an agent has of them. */
import { fileURLToPath } from 'node:url'
import { onTestFinished } from 'vitest'
import type { ToolContext } from '../../../src/contracts/tool.ts'
import { proxiedFetch } from '../../../src/models/index.ts'
import type { McpOptions } from '../../../src/tools/mcp/options.ts'
import { mcpServers } from '../../../src/tools/mcp/servers.ts'
import { createTools } from '../../../src/tools/registry.ts'
import { anEnvironment } from '../../transport/harness.ts'
import { aContext, plan } from '../fixtures.ts'

type Server = NonNullable<McpOptions['servers']>[string]

const pathOf = (name: string): string => fileURLToPath(new URL(`../../support/${name}`, import.meta.url))

/** Made with the SDK; `new` speaks 2026-07-28, `old` 2025-11-25. */
export const desk = (era: string): Server => ({ command: process.execPath, args: [pathOf('mcp-program.ts'), era] })
/** Made by hand, to do what no SDK does. */
export const hostile = (deed: string): Server => ({ command: process.execPath, args: [pathOf('hostile-mcp-program.ts'), deed] })

/** @param allowed what the agent may use */
export const aBench = (
  given: Record<string, Server>,
  { allowed = true, env = process.env }: { allowed?: true | string[]; env?: NodeJS.ProcessEnv } = {},
) => {
  const environment = anEnvironment()
  const servers = mcpServers({ servers: given }, { environment, env, version: '1.0.0', fetch: proxiedFetch(env) })
  const source = servers.toolsFor('main', allowed)
  const tools = createTools([], { clock: environment.clock, log: environment.log, sources: source === undefined ? [] : [source] })
  onTestFinished(() => servers.close())
  return {
    servers,
    tools,
    lines: environment.lines,
    /** As a turn does it: looks first, then plans, then runs. */
    call: async (name: string, input: unknown = {}, context: Partial<ToolContext> = {}): Promise<unknown> => {
      await tools.discover?.([name])
      return tools.run(plan(tools, name, input), aContext(context))
    },
  }
}

/** The process ids that are alive. */
export const alive = (...pids: number[]): number[] =>
  pids.filter((pid) => {
    try {
      process.kill(pid, 0)
      return true
    } catch {
      return false
    }
  })
