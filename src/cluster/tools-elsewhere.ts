/**
 * Whether all nodes have the tools that one of them lists: each finds a service that has just begun in its own time, and another node may have another
 * app. A node that is asked looks for what it does not know before it answers, so that most of the time nothing is missing any more.
 */
import { z } from 'zod'
import { decode, encode } from '../actors/index.ts'
import type { AgentTable } from '../contracts/agent.ts'
import type { Subjects } from '../contracts/subjects.ts'
import type { Bus } from '../contracts/transport.ts'

/** By agent. */
export type ToolNames = Record<string, string[]>
const ToolNames = z.record(z.string(), z.array(z.string()))

/** A look takes two seconds at most. */
const answerMs = 4_000

/** @returns which of these this node does not have, also after it has looked */
export const lackingOf = async (agents: AgentTable, wanted: unknown): Promise<ToolNames> => {
  const lacking: ToolNames = {}
  for (const [agent, names] of Object.entries(ToolNames.parse(wanted))) {
    const tools = agents.get(agent)?.tools
    await tools?.discover?.(names)
    const missing = names.filter((name) => tools?.get(name) === undefined)
    if (missing.length > 0) lacking[agent] = missing
  }
  return lacking
}

/** @returns by node, what it does not have; nothing of one that does not answer, or is of an earlier version */
export const lackingElsewhere = async (
  { bus, names }: { bus: Bus; names: Subjects },
  nodes: readonly string[],
  wanted: ToolNames,
): Promise<Map<string, ToolNames>> => {
  const asked = nodes.map(async (node): Promise<[string, ToolNames] | undefined> => {
    try {
      const { data } = await bus.request(names.node(node, 'tools'), encode(wanted), { timeoutMs: answerMs })
      const answer = ToolNames.safeParse(decode(data))
      return answer.success ? [node, answer.data] : undefined
    } catch {
      return undefined
    }
  })
  return new Map((await Promise.all(asked)).filter((answer) => answer !== undefined))
}
