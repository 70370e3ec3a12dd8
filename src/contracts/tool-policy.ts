/** Which tools a run may use: rules in layers, written by whoever runs the app, and journalled with each message. */
import { z } from 'zod'

/** What a tool is for. `basic` are those that touch nothing, such as `calculate`; `plugin` is what an author wrote without saying. */
export const toolCategories = ['basic', 'files', 'shell', 'mcp', 'lsp', 'skills', 'plugin', 'messaging'] as const
export const ToolCategory = z.enum(toolCategories)
export type ToolCategory = z.infer<typeof ToolCategory>

const Names = z.array(z.string().min(1).max(200)).max(200)

export const ToolRule = z.strictObject({
  allow: Names.optional().describe('only these tools: names, * for anything, group:<category>'),
  deny: Names.optional().describe('never these tools, whatever another rule says'),
  alsoAllow: Names.optional().describe('these besides what `allow` here and the profile allow'),
})
export type ToolRule = z.infer<typeof ToolRule>

/** In the order in which they are asked. */
export const toolLayers = ['profile', 'provider', 'global', 'agent', 'channel', 'sandbox', 'sub-agent'] as const

/** One rule of a run, and whose it is. */
export const ToolLayer = ToolRule.extend({
  layer: z.enum(toolLayers),
  of: z.string().max(200).optional().describe('where it holds: a provider or model, a channel or group; * stands for anything'),
  note: z.string().max(200).optional().describe('why, for people'),
})
export type ToolLayer = z.infer<typeof ToolLayer>

const byName = z.record(z.string().min(1).max(200), ToolRule)

const toolProfiles = ['minimal', 'coding', 'messaging', 'full'] as const

export const ToolPolicy = ToolRule.extend({
  profile: z.enum(toolProfiles).optional().describe('a choice of categories to begin with; default full, which is all'),
  providers: byName.optional().describe('by provider or model: openai, openai/gpt-*'),
  channels: byName.optional().describe('by channel, or channel and who is written to there: telegram, telegram/team-*'),
  groups: ToolRule.optional().describe('for messages from groups, on whatever channel'),
  sandbox: ToolRule.optional().describe('where commands run in a sandbox'),
  subAgents: ToolRule.optional().describe('in sessions of sub-agents, whose key has the part `sub-agent`'),
})
export type ToolPolicy = z.infer<typeof ToolPolicy>

/** A tool that is not there, and whose rule took it away. */
export type RemovedTool = { name: string; category: ToolCategory; layer: (typeof toolLayers)[number]; of?: string; why: string }

/** What a run may use. `names` in the order of the tools; `warnings` are about rules that say nothing. */
export type Bench = { names: string[]; removed: RemovedTool[]; warnings: string[] }
