/** The MCP servers of an app: whether each answers, and how many tools it has. */
import { proxiedFetch } from '../../models/index.ts'
import { systemEnvironment, version } from '../../runtime/index.ts'
import type { RuntimeOptions } from '../../runtime.ts'
import { mcpServers } from '../../tools/index.ts'
import { commandVariables } from '../connect.ts'
import { commandLogger } from '../runtime-environment.ts'
import { bad, type Finding, ok, warn } from './finding.ts'

export async function* mcp(app: RuntimeOptions, { offline = false }: { offline?: boolean }): AsyncGenerator<Finding> {
  if (app.mcp === undefined) return
  const { clock, log } = systemEnvironment({ log: commandLogger() })
  // What is wrong is said here; the log would say it again.
  const quiet = { ...log, info: () => undefined, warn: () => undefined, debug: () => undefined }
  const env = commandVariables()
  const servers = mcpServers(app.mcp, { environment: { clock, log: quiet }, env, version, fetch: proxiedFetch(env) })
  try {
    if (!offline) await servers.connectAll()
    for (const { server, state, tools, protocol, error } of servers.report()) {
      if (offline) yield ok('mcp', `${server}: not tried (--offline)`)
      else if (state !== 'ready') yield bad('mcp', `${server} does not answer: ${error?.message ?? state}`, error?.hint ?? 'see whether it runs')
      else if (tools === 0) yield warn('mcp', `${server} answers (${protocol}) and has no tools`, 'is it the right server?')
      else yield ok('mcp', `${server} answers (${protocol}) with ${tools} tool${tools === 1 ? '' : 's'}`)
    }
    const unused = servers.report().filter(({ server }) => !(app.agents ?? []).some((agent) => isNamed(agent.mcp, server)))
    if ((app.agents ?? []).length > 0)
      for (const { server } of unused) yield warn('mcp', `no agent uses ${server}`, `write agent({ mcp: ['${server}'] }), or leave it out`)
  } finally {
    await servers.close()
  }
}

const isNamed = (mcp: boolean | readonly string[] | undefined, server: string): boolean =>
  mcp === true || (Array.isArray(mcp) && mcp.some((pattern: string) => pattern.includes('*') || pattern.split('/')[0] === server))
