/** Executables as tools: agents of the ladder run them inside of their own runs, any other agent as runs of their own. */
import { z } from 'zod'
import { type Tool, tool } from '../index.ts'
import type { Result } from './envelope.ts'
import { code, either, flag, type KindsOf, oneOf, optionsIn, text } from './given.ts'
import type { Schema } from './schema.ts'

/** `input` is what the model is told of it, an object; default: what the executable takes, or a text. */
export type ToolOptions = {
  name?: string
  description?: string
  input?: z.ZodObject
  approval?: boolean | ((input: unknown) => boolean)
  /** The model is not told what it comes to, and where all calls of an answer are silent it is not asked again. */
  mode?: 'silent'
}

const kinds: KindsOf<ToolOptions> = {
  name: text,
  description: text,
  input: { is: (value) => value instanceof z.ZodObject, write: 'z.object({ … }) of zod 4' },
  approval: either(flag, code('(input) => input.amount > 100')),
  mode: oneOf('silent'),
}
/** @throws LadderError LADDER_CONFIG */
export const toolOptions = (name: string, given: unknown): ToolOptions =>
  optionsIn<ToolOptions>(given, kinds, { who: `'${name}' as a tool`, code: 'LADDER_CONFIG' })

type Delegate = {
  readonly name: string
  readonly description: string | undefined
  delegated(runId: string, input: unknown, attempt: { number: number; signal: AbortSignal }): Promise<Result<unknown>>
}

/** @param takes the schema of what it is given @throws RuntimeError bad_request: its description is missing, say */
export const toolOf = (
  executable: Delegate,
  takes: Schema | undefined,
  { name = executable.name, description = executable.description ?? '', input, approval = false, mode }: ToolOptions,
): Tool => {
  const schema = input ?? (takes instanceof z.ZodObject ? takes : undefined)
  const text = textOf(takes)
  const made = tool({
    name,
    description,
    input: schema ?? text,
    delegated: true,
    onCrash: 'idempotent',
    timeoutMs: longestMs,
    approval,
    ...(mode && { mode }),
    execute: async (given, { callId, attempt, signal }) => {
      const value = schema ? given : (given as z.output<typeof text>).text
      const { data, error } = await executable.delegated(callId, value, { number: attempt, signal })
      if (error) throw error
      return data ?? null
    },
  })
  return delegating(made, executable, schema === undefined)
}

/** What has no fields is called with a text, or with what it takes in the place of one. */
const textOf = (takes: Schema | undefined) =>
  z.object({ text: (takes instanceof z.ZodType ? takes : z.string()).describe('what it is to do, with all that it has to know') })
/** ms; its own limits end it before that. */
export const longestMs = 2 ** 31 - 1

/** @property isText whether it is called with a text in an object */
type Delegated = { executable: object; isText: boolean }
const delegates = new WeakMap<object, Delegated>()
/** Agents of the ladder run an executable in its place. */
export const delegating = (made: Tool, executable: object, isText: boolean): Tool => {
  delegates.set(made, { executable, isText })
  return made
}
/** Which executable a tool stands for, if any. */
export const delegateOf = (made: Tool): Delegated | undefined => delegates.get(made)
