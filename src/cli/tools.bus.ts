/** The tools on a NATS: what its nodes have, or would have, and who offers them there. */

import { listTools } from '../api/index.ts'
import { natsClient } from '../client/index.ts'
import type { RemovedTool } from '../contracts/tool-policy.ts'
import { createModels, proxiedFetch } from '../models/index.ts'
import { agentTable, systemEnvironment, version } from '../runtime/index.ts'
import type { RuntimeOptions } from '../runtime.ts'
import { mcpServers, readIntroduction, serviceDirectory } from '../tools/index.ts'
import { connectBus } from '../transport/nats/index.ts'
import { commandVariables } from './connect.ts'
import { commandLogger } from './runtime-environment.ts'
import { surroundings } from './surroundings.ts'

export type AgentTools = {
  agent: string
  tools: { name: string; description: string; category: string; source?: string; onCrash: string; approval: string; missingOn?: string[] }[]
  /** Those that it may not use; a node of an earlier version does not say. */
  removed?: RemovedTool[]
  warnings?: string[]
}

export type OnBus = {
  offers: { name: string; description: string; onCrash: string; approval: string; servers: number }[]
  /** @returns undefined where no service offers this */
  serversOf(name: string, description: string): number | undefined
  /** Endpoints that want to be tools and cannot. */
  refused: { service: string; endpoint: string; why: string }[]
  /** One name for tools that differ. */
  rivals: { name: string; services: string[] }[]
}

type Connection = Awaited<ReturnType<typeof connectBus>>

/** ms for which services may answer, and after which silence means that all have. */
const lookMs = 2_000
const quietMs = 500

export const toolsOnNats = async (url: string, app: RuntimeOptions): Promise<{ agents: AgentTools[]; onBus: OnBus; node: boolean }> => {
  const connection = await connectBus(url, commandLogger(), app.nats)
  try {
    const [listed, onBus] = await Promise.all([listOf(url, app), lookAt(connection, app.prefix ?? 'statecast')])
    return { ...(listed ?? (await wouldBe(connection, app))), onBus, node: listed !== undefined }
  } finally {
    await connection.close()
  }
}

/** What a node says; undefined where none answers. */
const listOf = async (url: string, app: RuntimeOptions): Promise<{ agents: AgentTools[] } | undefined> => {
  const client = await natsClient(url, { ...app, log: commandLogger() })
  try {
    return await client?.command<{ agents: AgentTools[] }>('tools.list', {})
  } finally {
    await client?.close()
  }
}

/** What a node with this app would say, found out without becoming one. */
const wouldBe = async ({ bus }: Connection, app: RuntimeOptions) => {
  const { agents = [], workspace = surroundings().cwd(), prefix = 'statecast', toolPolicy } = app
  const environment = systemEnvironment({ log: commandLogger() })
  const env = commandVariables()
  const directory = serviceDirectory(environment, prefix)
  const mcp = mcpServers(app.mcp, { environment, env, version, fetch: proxiedFetch(env) })
  const table = agentTable(agents, { workspace, environment, directory, mcp, fallbacks: undefined, beforeTool: [], toolPolicy })
  try {
    directory.start(bus)
    for (const { tools } of table.values()) await tools.discover?.()
    return (await listTools({ agents: table, mcp, models: createModels({ environment, env }) })) as { agents: AgentTools[] }
  } finally {
    directory.stop()
    await mcp.close()
  }
}

const lookAt = async ({ bus }: Connection, prefix: string): Promise<OnBus> => {
  const quiet = new AbortController()
  let timer = setTimeout(() => quiet.abort(), lookMs)
  const refused = new Map<string, OnBus['refused'][number]>()
  /** By what they offer. */
  const offered = new Map<string, OnBus['offers'][number] & { service: string }>()
  try {
    for await (const { data } of bus.requestMany('$SRV.INFO', new Uint8Array(), { timeoutMs: lookMs, signal: quiet.signal })) {
      clearTimeout(timer)
      timer = setTimeout(() => quiet.abort(), quietMs)
      const introduction = readIntroduction(data, prefix)
      const service = introduction?.service ?? ''
      for (const { endpoint, why } of introduction?.refused ?? []) refused.set(`${service} ${endpoint}`, { service, endpoint, why })
      for (const { fingerprint, settings } of introduction?.offers ?? []) {
        const { name, description, onCrash, approval } = settings
        const known = offered.get(fingerprint) ?? { service, name, description, onCrash, approval: approval ? 'always' : 'never', servers: 0 }
        known.servers++
        offered.set(fingerprint, known)
      }
    }
  } catch (error) {
    if ((error as { code?: string }).code !== 'not_found') throw error
  } finally {
    clearTimeout(timer)
  }
  const offers = [...offered.values()]
  const names = [...new Set(offers.map(({ name }) => name))]
  return {
    offers: offers.map(({ service: _, ...offer }) => offer),
    serversOf: (name, description) => offers.find((offer) => offer.name === name && offer.description === description)?.servers,
    refused: [...refused.values()],
    rivals: names.flatMap((name) => {
      const services = offers.filter((offer) => offer.name === name).map(({ service }) => service)
      return services.length > 1 ? [{ name, services }] : []
    }),
  }
}
