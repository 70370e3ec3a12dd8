/** `statecast tools`: the tools of all agents, and of those that services on a NATS offer, how many servers answer for each. */

import { isNats } from '../client/index.ts'
import { shortText } from './cards.ts'
import { addressOf, connect } from './connect.ts'
import type { Globals } from './globals.ts'
import { loadApp } from './load-app.ts'
import { exitCodes, note, print, printable, printJson } from './output.ts'
import { printTable } from './table.ts'
import type { AgentTools, OnBus } from './tools.bus.ts'

type ToolRow = {
  name: string
  description: string
  category: string
  /** Where it comes from: `app`, `bench`, `skills`, `mcp:github`, `service:weather`. */
  source: string
  /** Who may use it; none where no agent may, or no node has found it yet. */
  agents: string[]
  onCrash: string
  approval: string
  /** Nodes that do not have it, also after they have looked. */
  missingOn?: string[]
  /** How many processes offer it; null for one of the app itself. */
  servers: number | null
}

export const tools = async (options: Globals): Promise<number> => {
  const { agents, onBus, node } = await found(options)
  const rows = rowsOf(agents, onBus)
  const missing = agents.flatMap(({ agent, removed = [] }) => removed.map((one) => ({ agent, ...one })))
  if (options.json) [...rows, ...missing.map((one) => ({ ...one, missing: true }))].forEach(printJson)
  else if (rows.length === 0) note('no agent has a tool')
  else printTable(['TOOL', 'CATEGORY', 'SOURCE', 'AGENTS', 'CRASH', 'APPROVAL', 'SERVERS', 'DESCRIPTION'], rows.map(cells))
  if (!options.json && missing.length > 0) {
    print('')
    printTable(
      ['NOT THERE', 'CATEGORY', 'AGENT', 'RULE', 'WHY'],
      missing.map(({ name, category, agent, layer, of, why }) =>
        [name, category, agent, of === undefined ? layer : `${layer} ${of}`, why].map((text) => printable(text)),
      ),
    )
  }
  for (const { agent, warnings = [] } of agents) for (const warning of warnings) note(`${printable(agent)}: ${printable(warning)}`)
  for (const { service, endpoint, why } of onBus?.refused ?? [])
    note(`the endpoint ${printable(endpoint)} of the service ${printable(service)} cannot be a tool: ${printable(why)}`)
  for (const { name, services } of onBus?.rivals ?? [])
    note(
      `${printable(name)} is offered in different forms (${services.map((service) => printable(service)).join(', ')}): a node keeps the first that it finds`,
    )
  for (const { name, missingOn = [] } of rows)
    if (missingOn.length > 0)
      note(
        `${printable(name)} is not there on ${missingOn.map((one) => printable(one)).join(', ')}: nodes that share conversations must run the same app`,
      )
  if (!node) note('no node answers there: this is what one would have with this app')
  return exitCodes.fine
}

type Found = { agents: AgentTools[]; onBus?: OnBus; node: boolean }

const found = async (options: Globals): Promise<Found> => {
  const app = await loadApp(options.app)
  const url = addressOf(options, app)
  if (typeof url === 'string' && isNats(url)) return (await import('./tools.bus.ts')).toolsOnNats(url, app)
  const client = await connect(options, { look: true })
  try {
    return { ...(await client.command<{ agents: AgentTools[] }>('tools.list', {})), node: true }
  } finally {
    await client.close()
  }
}

const rowsOf = (agents: AgentTools[], onBus: OnBus | undefined): ToolRow[] => {
  const rows = new Map<string, ToolRow>()
  for (const { agent, tools } of agents)
    for (const { name, description, category = 'plugin', source = 'app', onCrash, approval, missingOn } of tools) {
      // Two agents may have different tools under one name, and one of a service beside them.
      const key = JSON.stringify([name, source, description, onCrash, approval])
      const row = rows.get(key) ?? {
        name,
        description,
        category,
        source,
        agents: [],
        onCrash,
        approval,
        servers: onBus?.serversOf(name, description) ?? null,
      }
      if (missingOn) row.missingOn = [...new Set([...(row.missingOn ?? []), ...missingOn])]
      row.agents.push(agent)
      rows.set(key, row)
    }
  const listed = new Set([...rows.values()].flatMap(({ name, servers }) => (servers === null ? [] : [name])))
  const others = (onBus?.offers ?? [])
    .filter(({ name }) => !listed.has(name))
    .map((offer) => ({ ...offer, category: 'plugin', source: 'service', agents: [] }))
  return [...rows.values(), ...others].sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0))
}

const cells = ({ name, description, category, source, agents, onCrash, approval, servers }: ToolRow): string[] => [
  printable(name),
  printable(category),
  printable(source),
  agents.map((agent) => printable(agent)).join(',') || '-',
  onCrash,
  approval,
  servers === null ? '-' : String(servers),
  shortText(description),
]
