/** The agents of an app by name, each with its tools. */
import type { Agent, AgentTable } from '../contracts/agent.ts'
import type { Environment } from '../contracts/environment.ts'
import { RuntimeError } from '../contracts/errors.ts'
import { fallbacksFor } from '../models/index.ts'
import type { McpServers, ServiceDirectory } from '../tools/index.ts'
import { builtInTools, checkedTools, createTools } from '../tools/index.ts'
import { agent as defineAgent } from './agent.ts'

type AgentParts = {
  workspace: string
  environment: Environment
  directory: ServiceDirectory
  mcp: McpServers
  fallbacks: readonly string[] | undefined
}

/**
 * @param given the first one is the default; without any, an agent `main` with the built-in tools
 * @param parts.fallbacks models that answer for those of agents that list none @throws RuntimeError conflict, bad_request
 */
export const agentTable = (given: readonly Agent[], { workspace, environment, directory, mcp, fallbacks }: AgentParts): AgentTable => {
  const { clock, failPoints, log } = environment
  const list = given.length > 0 ? given : [defaultAgent(workspace, environment)]
  const table: AgentTable = new Map()
  for (const one of list) {
    const agent = fallbacks && one.profile.fallbacks === undefined ? withFallbacks(one, fallbacks) : one
    if (table.has(agent.name))
      throw new RuntimeError('conflict', `two agents are named '${agent.name}'`, { field: 'agents', hint: 'rename one of them' })
    const sources = [agent.services && directory.toolsFor(agent.services), agent.mcp && mcp.toolsFor(agent.name, agent.mcp)].filter((one) => !!one)
    table.set(agent.name, { agent, tools: createTools(checkedTools(agent.tools), { clock, failPoints, sources, log }) })
  }
  return table
}

const withFallbacks = (agent: Agent, fallbacks: readonly string[]): Agent => ({
  ...agent,
  profile: { ...agent.profile, fallbacks: fallbacksFor(fallbacks, agent.choice?.allowed) },
})

/** @throws RuntimeError not_found: a name that somebody mistyped, or a session that another app has begun */
export const agentNamed = (agents: AgentTable, name: string) => {
  const found = agents.get(name)
  if (found) return found
  throw new RuntimeError('not_found', `no agent is named '${String(name).slice(0, 80)}' on this node`, {
    field: 'agent',
    hint: `it has: ${[...agents.keys()].join(', ')}; nodes that share their sessions must all run the same app, so start this one with the app that has the agent`,
  })
}

const defaultAgent = (workspace: string, { clock }: Environment): Agent =>
  defineAgent({
    name: 'main',
    instructions: 'You are a helpful assistant. Use the tools for arithmetic, the time and the files of the workspace.',
    tools: builtInTools({ workspace, clock }),
    services: true,
    mcp: true,
  })
