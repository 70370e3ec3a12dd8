/** The tools of an agent, by name: described to the model, planned from its calls, run one attempt at a time. */

import { definedOf } from '../contracts/defined.ts'
import { type Clock, type FailPoints, type Logger, noFailPoints } from '../contracts/environment.ts'
import { RuntimeError } from '../contracts/errors.ts'
import type { ToolDescription } from '../contracts/model.ts'
import type { Tool, Tools } from '../contracts/tool.ts'
import type { RemovedTool, ToolCategory } from '../contracts/tool-policy.ts'
import { inputSchemaOf } from './json-schema.ts'
import { parseInput, planCall, unknownTool } from './plan.ts'
import { benchOf } from './policy.rules.ts'
import { schemaFor } from './provider-schema.rules.ts'
import { runTool } from './run.ts'
import type { ServiceTools } from './services/directory.ts'

type RegistryEnvironment = {
  clock: Clock
  failPoints?: FailPoints
  /** Tools that come and go; one of the agent's own wins over one of these. */
  services?: ServiceTools | undefined
  log?: Logger
  /** Tools that this agent would have if it had been told otherwise. */
  absent?: readonly RemovedTool[]
}

/** @throws RuntimeError conflict when two tools have one name */
export const createTools = (tools: readonly Tool[], environment: RegistryEnvironment): Tools => {
  const { clock, failPoints = noFailPoints, services, log, absent = [] } = environment
  const own = new Map<string, Tool>()
  for (const tool of tools) {
    if (own.has(tool.name)) throw new RuntimeError('conflict', `two tools are named "${tool.name}"`, { field: 'name', hint: 'rename one of them' })
    own.set(tool.name, tool)
  }
  const descriptions = new Map<string, ToolDescription>()
  for (const tool of tools) descriptions.set(tool.name, describe(tool))
  const hidden = new Set<string>()
  const warned = new Set<string>()
  const present = (): ReadonlyMap<string, Tool> => {
    if (services === undefined) return own
    const all = new Map(own)
    for (const [name, tool] of services.offered()) {
      if (!own.has(name)) all.set(name, tool)
      else if (!hidden.has(name)) {
        hidden.add(name)
        log?.warn({ tool: name }, "a service offers a tool of a name that the agent's own tool has: its own is used")
      }
    }
    return all
  }
  const unknown = (name: string, known: Iterable<string>): RuntimeError =>
    services?.allows(name)
      ? new RuntimeError('tool_unknown', unknownTool(name, [...known]), { retryable: true, hint: 'start the service that offers it, then ask again' })
      : new RuntimeError('tool_unknown', unknownTool(name, [...known]), {
          hint: 'register the tool with the runtime, on every node that shares it, or correct its name',
        })

  return {
    get names() {
      return [...present().keys()]
    },
    ...(services && {
      discover: async (names) => {
        await services.ready()
        const there = present()
        if (names?.some((name) => !there.has(name) && services.allows(name))) await services.look()
      },
    }),
    get: (name) => present().get(name),
    bench: (layers, model) => {
      const there = [...present()].map(([name, tool]) => ({ name, category: categoryOf(tool) }))
      const { names, removed, warnings } = benchOf(there, layers, model)
      for (const warning of warnings) {
        if (warned.has(warning) || warned.size >= warnedMax) continue
        warned.add(warning)
        log?.warn({}, warning)
      }
      return { names, removed: [...removed, ...absent], warnings }
    },
    describe: (names, model = '') => {
      const there = present()
      return [...(names ?? there.keys())].map((name) => {
        const tool = there.get(name)
        if (tool === undefined) throw unknown(name, there.keys())
        const described = descriptions.get(name) ?? describe(tool)
        return { ...described, inputSchema: schemaFor(described.inputSchema, model) }
      })
    },
    plan: (calls, names) => {
      const there = present()
      const allowed = names === undefined ? there : new Map([...there].filter(([name]) => names.includes(name)))
      return calls.map((call) => planCall(allowed, call, log))
    },
    run: async (planned, context, confirm) => {
      if (planned.problem !== undefined) throw new RuntimeError(planned.problem.code, planned.problem.message)
      let there = present()
      // The process that planned it may have been another one, which knew the service.
      if (!there.has(planned.name) && services?.allows(planned.name)) {
        await services.look()
        there = present()
      }
      const tool = there.get(planned.name)
      if (tool === undefined) throw unknown(planned.name, there.keys())
      const parsed = parseInput(tool, planned.input)
      // Planned by another version of the tool, before a crash or a deploy.
      if (!parsed.ok) throw new RuntimeError('tool_input', parsed.message, { hint: 'the tool has changed since the call was planned; ask again' })
      return runTool(tool, planned, parsed.value, context, { clock, failPoints, ...definedOf({ confirm }) })
    },
  }
}

const warnedMax = 1000

const categoryOf = ({ category, sends }: Tool): ToolCategory => category ?? (sends ? 'messaging' : 'plugin')

const describe = ({ name, description, input, jsonSchema }: Tool): ToolDescription => ({
  name,
  description,
  inputSchema: jsonSchema ?? inputSchemaOf(name, input),
})
