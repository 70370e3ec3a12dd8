/** The tools of an agent, by name: described to the model, planned from its calls, run one attempt at a time. */

import { z } from 'zod'
import type { ClientTool } from '../contracts/client-tools.ts'
import { definedOf } from '../contracts/defined.ts'
import { type Clock, type FailPoints, type Logger, noFailPoints } from '../contracts/environment.ts'
import { RuntimeError } from '../contracts/errors.ts'
import type { ToolDescription } from '../contracts/model.ts'

import type { Skills } from '../contracts/skill.ts'
import type { PlannedCall, Tool, Tools } from '../contracts/tool.ts'
import type { BeforeTool } from '../contracts/tool-gate.ts'
import type { RemovedTool, ToolCategory } from '../contracts/tool-policy.ts'
import { readOutputTool } from './built-in/read-output.ts'
import { applies, askHooks, byPriority } from './gate.ts'

import { inputSchemaOf } from './json-schema.ts'
import { parseInput, planCall, unknownTool } from './plan.ts'
import { benchOf } from './policy.rules.ts'
import { schemaFor } from './provider-schema.rules.ts'
import { runTool } from './run.ts'
import type { ToolSource } from './source.ts'
import { toolDefaults } from './tool.ts'
import { toolNameOf } from './tool-names.rules.ts'

type RegistryEnvironment = {
  clock: Clock
  failPoints?: FailPoints
  /** Where tools come from besides; one of the agent's own wins over theirs, and one of a source over those of the sources behind it. */
  sources?: readonly ToolSource[]
  /** A tool of ours that comes and goes with what it is for. */
  skills?: Skills['source'] | undefined
  log?: Logger
  /** Asked before a call runs. */
  beforeTool?: readonly BeforeTool[]
  /** Tools that this agent would have if it had been told otherwise. */
  absent?: readonly RemovedTool[]
}

/** @throws RuntimeError conflict when two tools have one name */
export const createTools = (tools: readonly Tool[], environment: RegistryEnvironment): Tools => {
  const { clock, failPoints = noFailPoints, sources = [], skills, log, absent = [] } = environment
  const hooks = byPriority(environment.beforeTool ?? [])
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
    const reader = skills?.offered()
    if (sources.length === 0 && !reader?.size) return own
    const all = new Map([...(reader ?? []), ...own])
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
        const tool = there.get(name) ?? onDemand.get(name)
        if (tool === undefined) throw unknown(name, there.keys())
        const described = descriptions.get(name) ?? describe(tool)
        return { ...described, inputSchema: schemaFor(described.inputSchema, model) }
      })
    },
    nameFor: (call) => toolNameOf(call, [...present().keys()]),
    plan: (calls, names, clientTools = []) => {
      const there = present()
      const allowed = names === undefined ? there : new Map([...onDemand, ...there].filter(([name]) => names.includes(name)))
      const theirs = clientTools.filter(({ name }) => !allowed.has(name))
      const all = theirs.length === 0 ? allowed : new Map([...allowed, ...theirs.map((one) => [one.name, ofClient(one)] as const)])
      const planned = calls.map((call): PlannedCall => {
        const one = planCall(all, call, log)
        return !one.problem && theirs.some(({ name }) => name === one.name) ? { ...one, client: true } : one
      })
      return planned.map((call) =>
        !call.problem && !call.client && hooks.some((hook) => applies(hook, call.name)) ? { ...call, gated: true as const } : call,
      )
    },
    check: (planned, call) => {
      const { callId, name } = planned
      const all = new Map([...onDemand, ...present()])
      const replan = (input: unknown) => planCall(all, { callId, name, input: JSON.stringify(input) }, log)
      return askHooks(hooks, planned, call, { clock, replan })
    },
    run: async (planned, context, confirm) => {
      if (planned.problem !== undefined) throw new RuntimeError(planned.problem.code, planned.problem.message)
      let there = present()
      // The process that planned it may have been another one, which knew where it comes from.
      if (!there.has(planned.name) && allowing(planned.name).length > 0) {
        await lookFor(planned.name)
        there = present()
      }
      // Another node had skills: which of them is missing here, the tool says.
      const tool = there.get(planned.name) ?? onDemand.get(planned.name) ?? (skills?.allows(planned.name) ? skills.tool : undefined)
      if (tool === undefined) throw unknown(planned.name, there.keys())
      const parsed = parseInput(tool, planned.input)
      // Planned by another version of the tool, before a crash or a deploy.
      if (!parsed.ok) throw new RuntimeError('tool_input', parsed.message, { hint: 'the tool has changed since the call was planned; ask again' })
      return runTool(tool, planned, parsed.value, context, { clock, failPoints, ...definedOf({ confirm }) })
    },
  }
}

/** Tools that are described, planned and run where they are named, and not counted among those of an agent. */
const onDemand: ReadonlyMap<string, Tool> = new Map([[readOutputTool.name, readOutputTool]])

/** It is run elsewhere, and checked there. */
const ofClient = ({ name, description, inputSchema }: ClientTool): Tool => ({
  ...toolDefaults,
  name,
  description,
  input: z.looseObject({}),
  jsonSchema: inputSchema,
  execute: () => Promise.reject(new RuntimeError('unsupported', `the client runs "${name}" itself`)),
})
const warnedMax = 1000

/** Where a tool comes from says what it is for, unless the tool does. */
export const categoryOf = ({ category, sends, source = '' }: Tool): ToolCategory =>
  category ?? (sends ? 'messaging' : source.startsWith('mcp:') ? 'mcp' : source.startsWith('lsp:') ? 'lsp' : 'plugin')

const describe = ({ name, description, input, jsonSchema }: Tool): ToolDescription => ({
  name,
  description,
  inputSchema: jsonSchema ?? inputSchemaOf(name, input),
})
