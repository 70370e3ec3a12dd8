/** The tools of a runtime, by name: described to the model, planned from its calls, run one attempt at a time. */
import { type Clock, type FailPoints, noFailPoints } from '../contracts/environment.ts'
import { RuntimeError } from '../contracts/errors.ts'
import type { ToolDescription } from '../contracts/model.ts'
import type { Tool, Tools } from '../contracts/tool.ts'
import { inputSchemaOf } from './json-schema.ts'
import { parseInput, planCall, unknownTool } from './plan.ts'
import { runTool } from './run.ts'

/** @throws RuntimeError conflict when two tools have one name */
export const createTools = (tools: readonly Tool[], environment: { clock: Clock; failPoints?: FailPoints }): Tools => {
  const { clock, failPoints = noFailPoints } = environment
  const byName = new Map<string, Tool>()
  for (const tool of tools) {
    if (byName.has(tool.name)) throw new RuntimeError('conflict', `two tools are named "${tool.name}"`, { field: 'name', hint: 'rename one of them' })
    byName.set(tool.name, tool)
  }
  const descriptions = new Map<string, ToolDescription>()
  for (const { name, description, input } of tools) descriptions.set(name, { name, description, inputSchema: inputSchemaOf(name, input) })
  const known = [...byName.keys()]
  const unknown = (name: string): RuntimeError =>
    new RuntimeError('tool_unknown', unknownTool(name, known), { hint: 'register the tool with the runtime, or correct its name' })

  return {
    names: known,
    describe: (names = known) =>
      names.map((name) => {
        const description = descriptions.get(name)
        if (description === undefined) throw unknown(name)
        return description
      }),
    plan: (calls, names) => {
      const allowed = names === undefined ? byName : new Map([...byName].filter(([name]) => names.includes(name)))
      return calls.map((call) => planCall(allowed, call))
    },
    run: async (planned, context, confirm) => {
      if (planned.problem !== undefined) throw new RuntimeError(planned.problem.code, planned.problem.message)
      const tool = byName.get(planned.name)
      if (tool === undefined) throw unknown(planned.name)
      const parsed = parseInput(tool, planned.input)
      // Planned by another version of the tool, before a crash or a deploy.
      if (!parsed.ok) throw new RuntimeError('tool_input', parsed.message, { hint: 'the tool has changed since the call was planned; ask again' })
      return runTool(tool, planned, parsed.value, context, { clock, failPoints, ...(confirm ? { confirm } : {}) })
    },
  }
}
