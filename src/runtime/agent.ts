/** `agent()`: what an author writes, checked once. */
import type { Agent, ModelChoices } from '../contracts/agent.ts'
import { definedOf } from '../contracts/defined.ts'
import { RuntimeError } from '../contracts/errors.ts'
import type { ModelSettings } from '../contracts/model.ts'
import type { Tool } from '../contracts/tool.ts'
import type { BeforeTool } from '../contracts/tool-gate.ts'
import { checkedHooks, checkedTools, checkingOptions, readOptions } from '../tools/index.ts'
import { agentOptions, agentSettings, hintForAgentOption, type TurnOptions } from './agent-options.ts'

export type AgentDefinition = {
  /** One to 64 letters, digits, `_` or `-`. */
  name: string
  /** `provider/model-id`; without one, the default model of the runtime. */
  model?: string
  instructions?: string
  tools?: readonly Tool[]
  /** Tools of micro services on the bus: `true` for all that there are, or their names, in which `*` stands for anything. Default: none. */
  services?: boolean | readonly string[]
  /** Asked before each tool call; see docs/guides/tools.md. */
  beforeTool?: readonly (BeforeTool | BeforeTool['check'])[]
  /** The environment of packages that its tools run in, as an extension of the app brings it. */
  environment?: string
  /** Tools of the MCP servers of the app: `true` for all, or servers and tools as `['github', 'files/read_*']`. Default: none. */
  mcp?: boolean | readonly string[]
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
    const { name, tools = [], services = false, mcp = false, beforeTool, environment, ...options } = given
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
    const hooks = checkedHooks(beforeTool, 'beforeTool')
    return Object.freeze({
      name,
      services: services as Agent['services'],
      mcp: mcp as NonNullable<Agent['mcp']>,
      ...definedOf({ environment }),
      tools: checkedTools(tools),
      ...(hooks.length > 0 && { beforeTool: hooks }),
      ...agentSettings(options),
    })
  })
