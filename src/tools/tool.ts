/** `tool()`: what an author writes, checked once so that nothing about a tool is discovered in the middle of a turn. */
import { z } from 'zod'
import { isRuntimeError, RuntimeError } from '../contracts/errors.ts'
import type { CrashPolicy, SentByTool, Tool, ToolContext } from '../contracts/tool.ts'
import { inputSchemaOf } from './json-schema.ts'

export type ToolDefinition<Schema extends z.ZodType, Output = unknown> = {
  /** 1–64 of `[A-Za-z0-9_-]`, the limit of the model providers. */
  name: string
  /** For the model: when to use it and what comes back. */
  description: string
  /** A `z.object({ … })`: providers take nothing else as the input of a tool. */
  input: Schema
  execute: (input: z.output<Schema>, context: ToolContext) => Output | Promise<Output>
  onCrash?: CrashPolicy
  timeoutMs?: number
  attemptMax?: number
  outputBytesMax?: number
  approval?: boolean | ((input: z.output<Schema>) => boolean)
  /** For a tool that writes to users itself: what it sends, so that the answer does not say it once more. */
  sends?: (input: z.output<Schema>) => SentByTool | undefined
}

export const toolDefaults = { onCrash: 'once', timeoutMs: 60_000, attemptMax: 1, outputBytesMax: 1024 * 1024, approval: false } as const

const crashPolicies: readonly CrashPolicy[] = ['retry', 'idempotent', 'once']
const longestTimerMs = 2 ** 31 - 1

/**
 * Defines a tool. The defaults take the safe side: 60 s, one attempt, 1 MiB of result, never repeated after a crash.
 * @throws RuntimeError bad_request, naming the field and what to write instead
 */
export const tool = <Schema extends z.ZodType, Output>(definition: ToolDefinition<Schema, Output>): Tool<z.output<Schema>, Output> => {
  const { name, description, input, execute } = definition
  if (typeof name !== 'string' || !/^[A-Za-z0-9_-]{1,64}$/.test(name))
    throw refused(
      name === undefined ? undefined : String(name),
      'name',
      'a tool name has 1 to 64 of the characters A-Z a-z 0-9 _ -',
      `for example "${suggestedName(name)}"`,
    )
  if (typeof description !== 'string' || description.trim() === '')
    throw refused(name, 'description', 'a tool needs a description', 'say when to use it and what it returns: the model sees nothing else')
  if (!(input instanceof z.ZodType)) throw refused(name, 'input', 'the input is not a zod schema', 'write input: z.object({ … }) with zod 4')
  if (typeof execute !== 'function') throw refused(name, 'execute', 'execute is not a function', 'write execute: async (input, context) => …')
  inputSchemaOf(name, input)
  const settings = {
    onCrash: definition.onCrash ?? toolDefaults.onCrash,
    timeoutMs: count(name, 'timeoutMs', definition.timeoutMs ?? toolDefaults.timeoutMs, longestTimerMs),
    attemptMax: count(name, 'attemptMax', definition.attemptMax ?? toolDefaults.attemptMax, 100),
    outputBytesMax: count(name, 'outputBytesMax', definition.outputBytesMax ?? toolDefaults.outputBytesMax, 64 * 1024 * 1024),
    approval: definition.approval ?? toolDefaults.approval,
    ...(definition.sends === undefined ? {} : { sends: definition.sends }),
  }
  if (!crashPolicies.includes(settings.onCrash))
    throw refused(name, 'onCrash', `"${String(settings.onCrash)}" is not a crash policy`, `write one of ${crashPolicies.join(', ')}`)
  if (typeof settings.approval !== 'boolean' && typeof settings.approval !== 'function')
    throw refused(name, 'approval', 'approval is neither a boolean nor a function', 'write true, or (input) => input.amount > 100')
  const made = Object.freeze({ name, description, input, execute, ...settings }) as Tool<z.output<Schema>, Output>
  ours.add(made)
  return made
}

const ours = new WeakSet<object>()

/**
 * A list of tools from an author, each checked as `tool()` does, also where it was written without `tool()`.
 * @throws RuntimeError bad_request, naming the place in the list
 */
export const checkedTools = (given: unknown): Tool[] => {
  const hint = 'give a list of what tool({ name, description, input, execute }) returns'
  if (!Array.isArray(given)) throw new RuntimeError('bad_request', 'the tools are not a list', { field: 'tools', hint })
  return given.map((one: unknown, index) => {
    const place = `tools[${index}]`
    if (typeof one !== 'object' || one === null) throw new RuntimeError('bad_request', `${place} is not a tool`, { field: place, hint })
    if (ours.has(one)) return one as Tool
    try {
      const whole = tool(one as Tool)
      return Object.keys(toolDefaults).every((key) => key in one) ? (one as Tool) : whole
    } catch (error) {
      if (!isRuntimeError(error)) throw error
      const { field, ...body } = error.toJSON()
      throw RuntimeError.from({ ...body, message: `${place}: ${body.message}`, field: field === undefined ? place : `${place}.${field}` })
    }
  })
}

const count = (name: string, field: string, value: number, max: number): number => {
  if (Number.isInteger(value) && value >= 1 && value <= max) return value
  throw refused(name, field, `${field} is ${String(value)}`, `write a whole number from 1 to ${max}`)
}

const suggestedName = (name: unknown): string => (typeof name === 'string' ? name : '').replace(/[^A-Za-z0-9_-]+/g, '_').slice(0, 64) || 'my_tool'

const refused = (name: string | undefined, field: string, problem: string, hint: string): RuntimeError =>
  new RuntimeError('bad_request', `${name === undefined ? 'a tool without a name' : `tool "${name.slice(0, 80)}"`}: ${problem}`, { field, hint })
