/** `agent()`: what an author writes, checked once. */
import { z } from 'zod'
import type { Agent, ModelChoices } from '../contracts/agent.ts'
import { BenchOptions } from '../contracts/bench.ts'
import { definedOf } from '../contracts/defined.ts'
import { RuntimeError } from '../contracts/errors.ts'
import type { Model, ModelSettings } from '../contracts/model.ts'
import { parseInput } from '../contracts/parse.ts'
import type { Tool } from '../contracts/tool.ts'
import type { BeforeTool } from '../contracts/tool-gate.ts'
import { ToolPolicy } from '../contracts/tool-policy.ts'
import { checkedHooks, checkedTools, checkingOptions, disabledLayers, isSandboxed, layersOf, readOptions } from '../tools/index.ts'
import { agentOptions, agentSettings, hintForAgentOption, type TurnOptions } from './agent-options.ts'

export type AgentDefinition = {
  /** One to 64 letters, digits, `_` or `-`. */
  name: string
  /** `provider/model-id`; without one, the default model of the runtime. */
  model?: string
  instructions?: string
  tools?: readonly Tool[]
  /** Tools of ours: `{}` for those that only read, `{ files: 'rw', shell: true }` for those that write and run. Default: none. See docs/guides/tools.md. */
  bench?: BenchOptions
  /** Which of all its tools it may use, and where. Default: all. */
  toolPolicy?: ToolPolicy
  /** Tools of micro services on the bus: `true` for all that there are, or their names, in which `*` stands for anything. Default: none. */
  services?: boolean | readonly string[]
  /** Asked before each tool call; see docs/guides/tool-calls.md. */
  beforeTool?: readonly (BeforeTool | BeforeTool['check'])[]
  /** The environment of packages that its tools run in, as an extension of the app brings it. */
  environment?: string
  /** Tools of the MCP servers of the app: `true` for all, or servers and tools as `['github', 'files/read_*']`. Default: none. */
  mcp?: boolean | readonly string[]
  /** Stands between the agent and each model that it asks: what its `call` changes is what the agent sent, or was answered. Default: nothing does. */
  wrapModel?: (model: Model) => Model
  settings?: ModelSettings
  /** Which models may answer instead of its own: what users choose with `/model`, and which of the fallbacks of the runtime. Default: any. */
  choice?: ModelChoices
} & TurnOptions

const isMcpPattern = (value: unknown): boolean => typeof value === 'string' && /^[A-Za-z0-9_*-]{1,64}(?:\/.{1,200})?$/s.test(value)
const isNamePattern = (value: unknown): boolean => typeof value === 'string' && /^[A-Za-z0-9_*-]{1,64}$/.test(value)

/** @throws RuntimeError bad_request, naming the field */
export const agent = (definition: AgentDefinition): Agent =>
  checkingOptions('agent()', () => {
    const given = readOptions('agent()', definition, agentOptions, (option) => hintForAgentOption(definition.name, option))
    const { name, tools = [], services = false, mcp = false, beforeTool, wrapModel, environment, bench: wanted, toolPolicy, ...options } = given
    if (typeof name !== 'string' || !/^[A-Za-z0-9_-]{1,64}$/.test(name))
      throw new RuntimeError('bad_request', `'${String(name).slice(0, 80)}' is not a valid agent name`, {
        field: 'name',
        hint: 'use 1 to 64 letters, digits, _ or -',
      })
    if (typeof services !== 'boolean' && !(Array.isArray(services) && services.every(isNamePattern)))
      throw new RuntimeError('bad_request', `'${String(services).slice(0, 80)}' does not say which services`, {
        field: 'services',
        hint: "write true, or names of tools such as ['weather', 'crm_*']",
      })
    if (typeof mcp !== 'boolean' && !(Array.isArray(mcp) && mcp.every(isMcpPattern)))
      throw new RuntimeError('bad_request', `'${String(mcp).slice(0, 80)}' does not say which MCP servers`, {
        field: 'mcp',
        hint: "write true, or servers and tools such as ['github', 'files/read_*']",
      })
    if (environment !== undefined && (typeof environment !== 'string' || environment === ''))
      throw new RuntimeError('bad_request', 'environment is not the name of one', {
        field: 'environment',
        hint: "write environment: 'bio', and bring it with an extension",
      })
    if (wrapModel !== undefined && typeof wrapModel !== 'function')
      throw new RuntimeError('bad_request', 'wrapModel is no function', {
        field: 'wrapModel',
        hint: 'write wrapModel: (model) => ({ ...model, call: … })',
      })
    const hooks = checkedHooks(beforeTool, 'beforeTool')
    const bench = wanted === undefined ? undefined : checked(BenchOptions, 'bench', wanted)
    const { profile, ...settings } = agentSettings(options)
    const layers = [
      ...(toolPolicy === undefined ? [] : layersOf(checked(ToolPolicy, 'toolPolicy', toolPolicy), 'agent', isSandboxed(bench ?? {}))),
      ...disabledLayers(bench ?? {}),
    ]
    return Object.freeze({
      name,
      services: services as Agent['services'],
      mcp: mcp as NonNullable<Agent['mcp']>,
      ...definedOf({ environment, bench }),
      ...(wrapModel && { wrapModel: wrapModel as NonNullable<Agent['wrapModel']> }),
      tools: checkedTools(tools),
      ...(hooks.length > 0 && { beforeTool: hooks }),
      ...settings,
      profile: layers.length === 0 ? profile : Object.freeze({ ...profile, toolLayers: layers }),
    })
  })

/** A copy, as it is now. @throws RuntimeError bad_request, naming the field */
const checked = <Schema extends z.ZodType>(schema: Schema, field: string, given: unknown): z.output<Schema> => {
  const read = parseInput(z.object({ [field]: schema }), { [field]: given }, 'see docs/guides/tools.md')
  return read[field] as z.output<Schema>
}
