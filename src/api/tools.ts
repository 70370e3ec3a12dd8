/** `tools.list`: what agents can call, and what took away the rest. */
import type { CommandInput } from '../contracts/commands.ts'
import { effective } from '../contracts/configuration.rules.ts'
import { definedOf } from '../contracts/defined.ts'
import { RuntimeError } from '../contracts/errors.ts'
import type { Profile } from '../contracts/profile.ts'
import { agentInKey } from '../contracts/session-key.rules.ts'
import { profileOf, type RuntimeParts, type Session } from '../runtime/index.ts'
import { categoryOf } from '../tools/index.ts'
import { lookAt } from './actors.ts'

type Parts = Pick<RuntimeParts, 'agents' | 'lacking' | 'mcp'> & {
  models: Pick<RuntimeParts['models'], 'defaultRef'>
  config?: Pick<RuntimeParts['config'], 'view'>
}
/** A command that looks at an app without being a node knows of no changes to its configuration. */
const unconfigured = { value: effective({}, {}), hash: '' }

type Asked = { profile: Pick<Profile, 'toolLayers' | 'model'> }

/**
 * The tools of agents, those that rules take away, and which of them other nodes lack.
 * @param asked for which run; without it, for a message that comes from no channel
 */
export const listTools = async ({ agents, lacking, models, mcp, config }: Parts, only?: string, asked?: Asked) => {
  const servers = mcp.report()
  const chosen = [...agents.values()].filter(({ agent }) => only === undefined || agent.name === only)
  const listed = chosen.map(({ agent, tools }) => {
    const { toolLayers, model } = asked?.profile ?? profileOf({ agent, models, config: config?.view ?? unconfigured, key: '' })
    const { names, removed, warnings } = tools.bench(toolLayers, model)
    return { agent: agent.name, tools, described: tools.describe(names), removed, warnings }
  })
  const missing = await lacking?.(Object.fromEntries(listed.map(({ agent, described }) => [agent, described.map(({ name }) => name)])))
  const missingOn = (agent: string, name: string) => [...(missing ?? [])].flatMap(([node, of]) => (of[agent]?.includes(name) ? [node] : []))
  return {
    agents: listed.map(({ agent, tools, described, removed, warnings }) => ({
      agent,
      tools: described.map((one) => {
        const tool = tools.get(one.name)
        const { onCrash, approval, source = 'app' } = tool ?? {}
        const without = missingOn(agent, one.name)
        return {
          ...one,
          source,
          category: tool ? categoryOf(tool) : 'plugin',
          onCrash,
          approval: approval === false ? 'never' : approval === true ? 'always' : 'by input',
          ...definedOf({ missingOn: without.length === 0 ? undefined : without }),
        }
      }),
      removed,
      ...definedOf({ warnings: warnings.length === 0 ? undefined : warnings }),
    })),
    ...(servers.length > 0 && { mcp: servers }),
  }
}

/** @param existing finds a session @throws RuntimeError not_found: a session or an agent that is not there */
export const toolsList = async (
  parts: RuntimeParts,
  { sessionKey, agent }: CommandInput<'tools.list'>,
  existing: (key: string) => Promise<Session>,
) => {
  const { agents, models, config } = parts
  if (agent !== undefined && !agents.has(agent))
    throw new RuntimeError('not_found', `no agent is named '${agent.slice(0, 80)}'`, {
      field: 'agent',
      hint: `there are: ${[...agents.keys()].join(', ')}`,
    })
  if (sessionKey === undefined) return listTools(parts, agent)
  const { record, run } = await lookAt(parts, await existing(sessionKey))
  const known = [...agents.keys()]
  const chosen = agents.get(agent ?? agentInKey(sessionKey, { agents: known }) ?? known[0] ?? '')?.agent
  if (chosen === undefined) return { agents: [] }
  const profile = profileOf({ agent: chosen, models, config: config.view, key: sessionKey }, record.origin)
  return listTools(parts, chosen.name, { profile: { ...profile, model: run?.model ?? record.toggles.model ?? profile.model } })
}
