/** The tools of an agent, by name: described to the model, planned from its calls, run one attempt at a time. */

import { definedOf } from '../contracts/defined.ts'
import { type Clock, type FailPoints, type Logger, noFailPoints } from '../contracts/environment.ts'
import { RuntimeError } from '../contracts/errors.ts'
import type { ToolDescription } from '../contracts/model.ts'
import type { Tool, Tools } from '../contracts/tool.ts'
import { inputSchemaOf } from './json-schema.ts'
import { parseInput, planCall, unknownTool } from './plan.ts'
import { runTool } from './run.ts'
import type { ToolSource } from './source.ts'

type RegistryEnvironment = {
  clock: Clock
  failPoints?: FailPoints
  /** Where tools come from besides; one of the agent's own wins over theirs, and one of a source over those of the sources behind it. */
  sources?: readonly ToolSource[]
  log?: Logger
}

/** @throws RuntimeError conflict when two tools have one name */
export const createTools = (tools: readonly Tool[], environment: RegistryEnvironment): Tools => {
  const { clock, failPoints = noFailPoints, sources = [], log } = environment
  const own = new Map<string, Tool>()
  for (const tool of tools) {
    if (own.has(tool.name)) throw new RuntimeError('conflict', `two tools are named "${tool.name}"`, { field: 'name', hint: 'rename one of them' })
    own.set(tool.name, tool)
  }
  const descriptions = new Map<string, ToolDescription>()
  for (const tool of tools) descriptions.set(tool.name, describe(tool))
  const hidden = new Set<string>()
  const present = (): ReadonlyMap<string, Tool> => {
    if (sources.length === 0) return own
    const all = new Map(own)
    for (const source of sources)
      for (const [name, tool] of source.offered()) {
        if (!all.has(name)) all.set(name, tool)
        else if (!hidden.has(name)) {
          hidden.add(name)
          log?.warn(
            { tool: name, source: tool.source, used: all.get(name)?.source ?? 'app' },
            'two tools of an agent have one name: the first is used',
          )
        }
      }
    return all
  }
  const allowing = (name: string): ToolSource[] => sources.filter((source) => source.allows(name))
  const lookFor = async (name: string): Promise<void> => void (await Promise.all(allowing(name).map((source) => source.look())))
  const unknown = (name: string, known: Iterable<string>): RuntimeError => {
    const [source] = allowing(name)
    const hint = source?.remedy ?? 'register the tool with the runtime, on every node that shares it, or correct its name'
    return new RuntimeError('tool_unknown', unknownTool(name, [...known]), { hint, ...(source && { retryable: true }) })
  }

  return {
    get names() {
      return [...present().keys()]
    },
    ...(sources.length > 0 && {
      discover: async (names = []) => {
        await Promise.all(sources.map((source) => source.ready()))
        const there = present()
        await Promise.all(names.filter((name) => !there.has(name)).map(lookFor))
      },
    }),
    get: (name) => present().get(name),
    describe: (names) => {
      const there = present()
      return [...(names ?? there.keys())].map((name) => {
        const tool = there.get(name)
        if (tool === undefined) throw unknown(name, there.keys())
        return descriptions.get(name) ?? describe(tool)
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
      // The process that planned it may have been another one, which knew where it comes from.
      if (!there.has(planned.name) && allowing(planned.name).length > 0) {
        await lookFor(planned.name)
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

const describe = ({ name, description, input, jsonSchema }: Tool): ToolDescription => ({
  name,
  description,
  inputSchema: jsonSchema ?? inputSchemaOf(name, input),
})
