/** The agents of an app by name, each with its tools. */
import type { Agent, AgentTable } from '../contracts/agent.ts'
import { definedOf } from '../contracts/defined.ts'
import type { Environment } from '../contracts/environment.ts'
import { RuntimeError } from '../contracts/errors.ts'
import type { PromptOptions } from '../contracts/prompt.ts'
import type { Skills } from '../contracts/skill.ts'
import type { BeforeTool } from '../contracts/tool-gate.ts'
import type { ToolPolicy } from '../contracts/tool-policy.ts'
import { fallbacksFor } from '../models/index.ts'
import type { McpServers, ServiceDirectory } from '../tools/index.ts'
import { benchTools, checkedTools, createTools, isSandboxed, layersOf } from '../tools/index.ts'
import { agent as defineAgent } from './agent.ts'
import { promptOptions } from './agent-options.ts'

type AgentParts = {
  workspace: string
  /** Absolute paths that no tool may use. */
  closed?: readonly string[]
  environment: Environment
  directory: ServiceDirectory
  mcp: McpServers
  fallbacks: readonly string[] | undefined
  /** Agents of extensions, behind those of the app. */
  brought?: readonly Agent[]
  beforeTool: readonly BeforeTool[]
  toolPolicy?: ToolPolicy | undefined
  skills?: Skills | undefined
  prompt?: PromptOptions | undefined
}

/**
 * @param given the first one is the default; without any, an agent `main` with the tools that only read
 * @param parts.prompt of those that say nothing of theirs
 * @param parts.fallbacks models that answer for those of agents that list none @throws RuntimeError conflict, bad_request
 */
export const agentTable = (given: readonly Agent[], parts: AgentParts): AgentTable => {
  const { workspace, closed, environment, directory, mcp, fallbacks, prompt: usual, toolPolicy, skills } = parts
  const { clock, failPoints, log } = environment
  const list = [...(given.length > 0 ? given : [defaultAgent()]), ...(parts.brought ?? [])]
  const prompt = usual && promptOptions(usual)
  const table: AgentTable = new Map()
  for (const one of list) {
    const prompted = prompt && one.prompt === undefined ? { ...one, prompt } : one
    const agent = withPolicy(fallbacks && one.profile.fallbacks === undefined ? withFallbacks(prompted, fallbacks) : prompted, toolPolicy)
    if (table.has(agent.name))
      throw new RuntimeError('conflict', `two agents are named '${agent.name}'`, { field: 'agents', hint: 'rename one of them' })
    const sources = [agent.services && directory.toolsFor(agent.services), agent.mcp && mcp.toolsFor(agent.name, agent.mcp)].filter((one) => !!one)
    const bench = agent.bench && benchTools(agent.bench, { workspace, clock, ...definedOf({ closed }) })
    const own = [...(bench?.tools ?? []), ...checkedTools(agent.tools)]
    const beforeTool = [...(agent.beforeTool ?? []), ...parts.beforeTool]
    const known = { clock, failPoints, sources, skills: skills?.source, log, beforeTool, ...definedOf({ absent: bench?.absent }) }
    table.set(agent.name, { agent, tools: createTools(own, known) })
  }
  return table
}

const withFallbacks = (agent: Agent, fallbacks: readonly string[]): Agent => ({
  ...agent,
  profile: { ...agent.profile, fallbacks: fallbacksFor(fallbacks, agent.choice?.allowed) },
})

/** The rules for all agents stand before those of its own. */
const withPolicy = (agent: Agent, policy: ToolPolicy | undefined): Agent => {
  const layers = policy === undefined ? [] : layersOf(policy, 'global', isSandboxed(agent.bench ?? {}))
  return layers.length === 0 ? agent : { ...agent, profile: { ...agent.profile, toolLayers: [...layers, ...(agent.profile.toolLayers ?? [])] } }
}

/** @throws RuntimeError not_found: a name that somebody mistyped, or a session that another app has begun */
export const agentNamed = (agents: AgentTable, name: string, field = 'agent') => {
  const found = agents.get(name)
  if (found) return found
  throw new RuntimeError('not_found', `no agent is named '${String(name).slice(0, 80)}' on this node`, {
    field,
    hint: `it has: ${[...agents.keys()].join(', ')}; nodes that share their sessions must all run the same app, so start this one with the app that has the agent`,
  })
}

const defaultAgent = (): Agent =>
  defineAgent({
    name: 'main',
    instructions: 'You are a helpful assistant. Use the tools for arithmetic, the time and the files of the workspace.',
    bench: {},
    services: true,
    mcp: true,
  })
