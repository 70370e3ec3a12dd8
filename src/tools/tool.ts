/** `tool()`: what an author writes, checked once so that nothing about a tool is discovered in the middle of a turn. */

import { z } from 'zod'
import { definedOf } from '../contracts/defined.ts'
import { isRuntimeError, RuntimeError } from '../contracts/errors.ts'
import type { CrashPolicy, SentByTool, Tool, ToolContext } from '../contracts/tool.ts'
import { type ToolCategory, toolCategories } from '../contracts/tool-policy.ts'
import { AsyncFunction, inputSchemaOf } from './json-schema.ts'
import { checkingOptions, hintForOption, readOptions } from './options.ts'

export type ToolDefinition<Schema extends z.ZodType, Output = unknown> = {
  /** 1–64 of `[A-Za-z0-9_-]`, the limit of the model providers. */
  name: string
  /** For the model: when to use it and what comes back. */
  description: string
  execute: (input: z.output<Schema>, context: ToolContext) => Output | Promise<Output>
  /** What it is for, so that rules can name it as `group:<category>`. Default `messaging` where it has `sends`, `mcp` or `lsp` by its `source`, else `plugin`. */
  category?: ToolCategory
  onCrash?: CrashPolicy
  timeoutMs?: number
  attemptMax?: number
  outputBytesMax?: number
  /** Where it comes from, if not from the app, as `lsp:typescript`; those of `mcp:…` and `lsp:…` are listed as skills too. */
  source?: string
  /** For a tool that writes to users itself: what it sends, so that the answer does not say it once more. */
  sends?: (input: z.output<Schema>) => SentByTool | undefined
  /** The machine in which its agent is asked (`askAgent` with `reports`) runs it; `execute` does where there is none, such as in a session. */
  delegated?: true
  /** `silent`: the model does not get to know what comes of it, but for errors, and where all calls of an answer are silent the agent is done. */
  mode?: 'silent'
} & InputSchema<Schema> &
  ApprovalRule<z.output<Schema>>

/** A `z.object({ … })`: providers take nothing else as the input of a tool. `inputSchema` is what the AI SDK calls it. */
type InputSchema<Schema> = { input: Schema; inputSchema?: undefined } | { inputSchema: Schema; input?: undefined }

/** Whether a person must agree first; a function decides by the input. `needsApproval` is what the AI SDK calls it. Default false. */
type ApprovalRule<Input> =
  | { approval?: boolean | ((input: Input) => boolean); needsApproval?: undefined }
  | { needsApproval?: boolean | ((input: Input) => boolean); approval?: undefined }

export const toolDefaults = { onCrash: 'once', timeoutMs: 60_000, attemptMax: 1, outputBytesMax: 1024 * 1024, approval: false } as const

const known = [
  'name',
  'description',
  'input',
  'inputSchema',
  'execute',
  'approval',
  'needsApproval',
  'onCrash',
  'timeoutMs',
  'attemptMax',
  'outputBytesMax',
  'sends',
  'delegated',
  'mode',
  'source',
  'category',
]
/** Options of other libraries, with what to write instead. */
const elsewhere = {
  parameters: 'inputSchema: z.object({ … })',
  schema: 'inputSchema: z.object({ … })',
  jsonSchema: 'inputSchema: z.object({ … })',
  outputSchema: 'nothing: what execute returns is not checked against a schema',
  handler: 'execute: async (input, context) => …',
  run: 'execute: async (input, context) => …',
  maxRetries: 'attemptMax, which is one more: it counts the first attempt',
}

const crashPolicies: readonly CrashPolicy[] = ['retry', 'idempotent', 'once']
export const longestTimerMs = 2 ** 31 - 1

/**
 * Defines a tool. The defaults take the safe side: 60 s, one attempt, 1 MiB of result, never repeated after a crash.
 * @throws RuntimeError bad_request, naming the field and what to write instead
 */
export const tool = <Schema extends z.ZodType, Output>(definition: ToolDefinition<Schema, Output>): Tool<z.output<Schema>, Output> =>
  checkingOptions('tool()', () => {
    const given = readOptions('tool()', definition, known, (name) => hintForOption(name, known, elsewhere)) as ToolDefinition<Schema, Output>
    const { name, description, execute } = given
    if (typeof name !== 'string' || !/^[A-Za-z0-9_-]{1,64}$/.test(name))
      throw refused(
        name === undefined ? undefined : String(name),
        'name',
        'a tool name has 1 to 64 of the characters A-Z a-z 0-9 _ -',
        `for example "${suggestedName(name)}"`,
      )
    if (typeof description !== 'string' || description.trim() === '')
      throw refused(name, 'description', 'a tool needs a description', 'say when to use it and what it returns: the model sees nothing else')
    const { field, value: input } = oneOf(given, 'input', 'inputSchema')
    if (!(input instanceof z.ZodType)) throw refused(name, field, `the ${field} is not a zod schema`, `write ${field}: z.object({ … }) with zod 4`)
    if (typeof execute !== 'function') throw refused(name, 'execute', 'execute is not a function', 'write execute: async (input, context) => …')
    inputSchemaOf(name, input, field)
    const settings = {
      onCrash: given.onCrash ?? toolDefaults.onCrash,
      timeoutMs: count(name, 'timeoutMs', given.timeoutMs ?? toolDefaults.timeoutMs, longestTimerMs),
      attemptMax: count(name, 'attemptMax', given.attemptMax ?? toolDefaults.attemptMax, 100),
      outputBytesMax: count(name, 'outputBytesMax', given.outputBytesMax ?? toolDefaults.outputBytesMax, 64 * 1024 * 1024),
      approval: approvalOf(given),
      ...definedOf({
        sends: sendsOf(given),
        source: given.source,
        category: given.category,
        delegated: given.delegated === true || undefined,
        mode: given.mode,
      }),
    }
    if (!crashPolicies.includes(settings.onCrash))
      throw refused(name, 'onCrash', `"${String(settings.onCrash)}" is not a crash policy`, `write one of ${crashPolicies.join(', ')}`)
    if (given.source !== undefined && (typeof given.source !== 'string' || !/^[a-z]{1,20}(?::\S{1,100})?$/.test(given.source)))
      throw refused(
        name,
        'source',
        `"${String(given.source).slice(0, 80)}" does not say where it comes from`,
        'write a kind and a name, such as lsp:typescript',
      )
    if (given.mode !== undefined && given.mode !== 'silent')
      throw refused(name, 'mode', `"${String(given.mode).slice(0, 80)}" is no mode`, "write mode: 'silent', or leave it out")
    if (given.category !== undefined && !toolCategories.includes(given.category))
      throw refused(name, 'category', `"${String(given.category).slice(0, 80)}" is not a category`, `write one of ${toolCategories.join(', ')}`)
    const made = Object.freeze({ name, description, input, execute, ...settings }) as Tool<z.output<Schema>, Output>
    ours.add(made)
    return made
  })

/** What stands under one of two names. @throws RuntimeError bad_request where both are there */
const oneOf = <Ours extends string, Theirs extends string, Value>(
  definition: { name: string } & { [Name in Ours | Theirs]?: Value | undefined },
  ours: Ours,
  theirs: Theirs,
): { field: Ours | Theirs; value: Value | undefined } => {
  if (definition[theirs] === undefined) return { field: ours, value: definition[ours] }
  if (definition[ours] === undefined) return { field: theirs, value: definition[theirs] }
  throw refused(definition.name, theirs, `it has both ${ours} and ${theirs}`, `they mean the same: leave one of them out`)
}

const approvalOf = <Input>(definition: { name: string } & ApprovalRule<Input>): boolean | ((input: Input) => boolean) => {
  const { field, value = toolDefaults.approval } = oneOf(definition, 'approval', 'needsApproval')
  const hint = 'write true, or (input) => input.amount > 100'
  if (typeof value !== 'boolean' && typeof value !== 'function')
    throw refused(definition.name, field, `${field} is neither a boolean nor a function`, hint)
  // Its answer is journalled with the call, in the same step: nobody can wait for a promise there.
  if (value instanceof AsyncFunction)
    throw refused(definition.name, field, `${field} is an async function`, `${hint}; what has to be looked up first belongs into execute`)
  return value
}

const sendsOf = <Input>({ name, sends }: { name: string; sends?: ((input: Input) => SentByTool | undefined) | undefined }) => {
  if (sends === undefined || (typeof sends === 'function' && !(sends instanceof AsyncFunction))) return sends
  throw refused(name, 'sends', 'sends is not a function that answers at once', 'write sends: (input) => ({ text: input.text })')
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
    // Only the very object: a copy may have been changed.
    if (ours.has(one)) return one as Tool
    try {
      return tool(one as ToolDefinition<z.ZodType>)
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
