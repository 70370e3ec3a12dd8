/**
 * Which tools a run may use. Each rule of each layer is asked; the first that removes a tool is named, so that people see why it is missing.
 * A `deny` wins in whichever layer it is. `alsoAllow` widens the list of its own rule and that of the profile, and no other's.
 */
import { definedOf } from '../contracts/defined.ts'
import type { Origin } from '../contracts/reply.ts'
import { isSubAgent } from '../contracts/session-key.rules.ts'
import {
  type Bench,
  type RemovedTool,
  type ToolCategory,
  type ToolLayer,
  type ToolPolicy,
  type ToolRule,
  toolCategories,
  toolLayers,
} from '../contracts/tool-policy.ts'
import { wildcard } from '../contracts/wildcard.ts'

type Categorised = { name: string; category: ToolCategory }

const group = 'group:'

/** The tools that a profile begins with. */
const profiles: Record<NonNullable<ToolPolicy['profile']>, string[]> = {
  minimal: ['group:basic'],
  coding: ['group:basic', 'group:files', 'group:shell', 'group:lsp', 'group:mcp', 'group:skills'],
  messaging: ['group:basic', 'group:messaging'],
  full: ['*'],
}

/** @param tools in their order, which is kept @param model the model that is asked: rules of other providers do not hold */
export const benchOf = (tools: readonly Categorised[], layers: readonly ToolLayer[] = [], model = ''): Bench => {
  const warnings: string[] = []
  const holding = layers.filter((one) => one.layer !== 'provider' || fitsModel(one.of, model)).sort((a, b) => rank(a) - rank(b))
  const widened = holding.flatMap(({ alsoAllow = [] }) => alsoAllow)
  const judges = holding.map((layer) => judgeOf(layer, tools, layer.layer === 'profile' ? widened : (layer.alsoAllow ?? []), warnings))
  const names: string[] = []
  const removed: RemovedTool[] = []
  for (const tool of tools) {
    const out = judges.map((judge) => judge(tool)).find((one) => one !== undefined)
    if (out) removed.push(out)
    else names.push(tool.name)
  }
  return { names, removed, warnings }
}

const rank = ({ layer }: ToolLayer): number => toolLayers.indexOf(layer)

const fitsModel = (of: string | undefined, model: string): boolean =>
  of === undefined || wildcard(of)(model) || (!of.includes('/') && wildcard(of)(model.split('/', 1)[0] ?? ''))

/** @returns why this layer takes a tool away, if it does */
const judgeOf = (layer: ToolLayer, tools: readonly Categorised[], also: readonly string[], warnings: string[]) => {
  const { allow, deny = [], of, note } = layer
  const denied = deny.map(entryOf)
  const known = allow?.map(entryOf).filter(({ text, fits }) => {
    // A category is known although nothing of it may be there just now.
    if (text === '*' || isGroup(text) || tools.some(fits)) return true
    warnings.push(`${text.slice(0, 80)}, which ${nameOf(layer)} allows, is the name of no tool here`)
    return false
  })
  // One that allows nothing which is known was mistyped, or its plug-in is not there: it must not take everything away. An empty one means it.
  const allowed = allow === undefined || (allow.length > 0 && known?.length === 0) ? undefined : [...(known ?? []), ...also.map(entryOf)]
  const removal = ({ name, category }: Categorised, why: string): RemovedTool => ({
    name,
    category,
    layer: layer.layer,
    ...definedOf({ of }),
    why: note ?? why,
  })
  return (tool: Categorised): RemovedTool | undefined => {
    const by = denied.find(({ fits }) => fits(tool))
    if (by) return removal(tool, `${nameOf(layer)} denies ${by.text}`)
    if (allowed && !allowed.some(({ fits }) => fits(tool))) return removal(tool, `${nameOf(layer)} does not allow it`)
    return undefined
  }
}

const nameOf = ({ layer, of }: ToolLayer): string => (of === undefined ? `the rule ${layer}` : `the rule ${layer} of ${of}`)

const isGroup = (text: string): boolean => text.startsWith(group) && (toolCategories as readonly string[]).includes(text.slice(group.length))

const entryOf = (text: string): { text: string; fits: (tool: Categorised) => boolean } => {
  if (text.startsWith(group)) return { text, fits: ({ category }) => group + category === text }
  const fits = wildcard(text)
  return { text, fits: ({ name }) => fits(name) }
}

/** The rules of a policy one by one. @param whose `global` for all agents, `agent` for one @param sandboxed whether its commands run in a sandbox */
export const layersOf = (policy: ToolPolicy, whose: 'global' | 'agent', sandboxed: boolean): ToolLayer[] => {
  const { profile, providers = {}, channels = {}, groups, sandbox, subAgents, ...own } = policy
  const ruled = (layer: ToolLayer['layer'], rule: ToolRule | undefined, of?: string): ToolLayer[] =>
    rule === undefined || Object.keys(rule).length === 0 ? [] : [{ layer, ...rule, ...definedOf({ of }) }]
  return [
    ...ruled('profile', profile && { allow: profiles[profile] }, profile),
    ...Object.entries(providers).flatMap(([of, rule]) => ruled('provider', rule, of)),
    ...ruled(whose, own),
    ...Object.entries(channels).flatMap(([of, rule]) => ruled('channel', rule, of)),
    ...ruled('channel', groups, groupsOnly),
    ...(sandboxed ? ruled('sandbox', sandbox) : []),
    ...ruled('sub-agent', subAgents),
  ]
}

/** Not the name of a channel: those have no space. */
const groupsOnly = 'all groups'

/** The rules that hold for one message: others of channels and of sub-agents need not go with it. @param key of its session */
export const layersFor = (layers: readonly ToolLayer[], key: string, origin?: Origin): ToolLayer[] =>
  layers.filter(({ layer, of = '*' }) => {
    if (layer === 'sub-agent') return isSubAgent(key)
    if (layer !== 'channel') return true
    if (origin === undefined) return false
    return of === groupsOnly ? origin.chatType === 'group' : fitsChannel(of, origin)
  })

const fitsChannel = (of: string, { channel, to, thread }: Origin): boolean => {
  const fits = wildcard(of)
  return [channel, `${channel}/${to}`, ...(thread === undefined ? [] : [`${channel}/${to}/${thread}`])].some(fits)
}
