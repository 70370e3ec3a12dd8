/** The MCP servers of a node: one connection to each, whichever agents use it. */
import { wildcard } from '../../contracts/wildcard.ts'
import type { ToolSource } from '../source.ts'
import { checkAllowed, checkMcp, type McpOptions } from './options.ts'
import { type McpReport, type McpServer, type McpServerParts, mcpServer } from './server.ts'

export type McpServers = {
  /**
   * @param allowed `true`, or names as `github` or `github/search_*` @returns undefined where there is none of them
   * @throws RuntimeError bad_request for a server that is not there
   */
  toolsFor(agent: string, allowed: true | readonly string[]): ToolSource | undefined
  /** Connects to all of them, as nobody else does before a turn wants their tools. */
  connectAll(): Promise<void>
  /** How each is; none where none is configured. */
  report(): McpReport[]
  close(): Promise<void>
}

/** Nothing is started here. @throws RuntimeError bad_request, naming the field */
export const mcpServers = (options: McpOptions | undefined, parts: McpServerParts): McpServers => {
  const configured = Object.keys(options?.servers ?? {})
  const servers = new Map<string, McpServer>()
  for (const [name, settings] of options === undefined ? [] : checkMcp(options)) servers.set(name, mcpServer(name, settings, parts))

  return {
    toolsFor(agent, allowed) {
      checkAllowed(agent, allowed, configured)
      const patterns = (allowed === true ? ['*'] : allowed).map((pattern) => {
        const [server = '', ...rest] = pattern.split('/')
        return { isServer: wildcard(server), isTool: wildcard(rest.length === 0 ? '*' : rest.join('/')) }
      })
      const mine = [...servers].filter(([name]) => patterns.some(({ isServer }) => isServer(name)))
      if (mine.length === 0) return undefined
      const mayUse = (server: string, tool: string): boolean => patterns.some(({ isServer, isTool }) => isServer(server) && isTool(tool))
      return {
        offered: () =>
          new Map(
            mine
              .flatMap(([name, server]) => server.offered().filter(({ original }) => mayUse(name, original)))
              .sort((a, b) => (a.name < b.name ? -1 : 1))
              .map(({ name, tool }) => [name, tool]),
          ),
        allows: (name) => mine.some(([server]) => name.startsWith(`${server}__`)),
        ready: async () => void (await Promise.all(mine.map(([, server]) => server.ready()))),
        look: async () => void (await Promise.all(mine.map(([, server]) => server.look()))),
        remedy: 'see whether its MCP server answers: statecast doctor',
      }
    },
    connectAll: async () => void (await Promise.all([...servers.values()].map((server) => server.look()))),
    report: () => [...servers.values()].map((server) => server.report()),
    close: async () => void (await Promise.all([...servers.values()].map((server) => server.close()))),
  }
}
