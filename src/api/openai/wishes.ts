/** What a request wants of its answer: the call of a function, or JSON of a form. */
import { z } from 'zod'
import { AnswerFormat, type ToolChoice } from '../../contracts/answer-format.ts'
import type { ClientTool } from '../../contracts/client-tools.ts'
import { definedOf } from '../../contracts/defined.ts'
import { RuntimeError } from '../../contracts/errors.ts'
import { parseInput } from '../../contracts/parse.ts'

const hint = 'see docs/reference/openai.md'
const Typed = z.looseObject({ type: z.string() })

const unsupported = (message: string, field: string, remedy: string): RuntimeError =>
  new RuntimeError('bad_request', message, { field, hint: remedy, data: { openai: 'unsupported_parameter' } })

// ---- tool_choice

export const Choice = z.union([z.enum(['auto', 'none', 'required']), Typed], { error: "must be 'auto', 'none', 'required' or a function" })

const Named = z.object({ name: z.string() })
const Allowed = z.object({ mode: z.enum(['auto', 'required']), tools: z.array(Typed).min(1) })

/** Chat completions have the name one level deeper than responses. */
const nameIn = (tool: z.infer<typeof Typed>): string => {
  const parsed = Named.safeParse(tool.type === 'function' && 'function' in tool ? tool.function : tool)
  if (tool.type !== 'function' || !parsed.success)
    throw unsupported(`tool_choice cannot name a tool of the type '${tool.type.slice(0, 80)}'`, 'tool_choice', 'name a function')
  return parsed.data.name
}

/**
 * @param tools the functions of the request
 * @returns those that may be called, and which one must be
 * @throws RuntimeError bad_request
 */
export const chosen = (tools: ClientTool[], choice: z.infer<typeof Choice> = 'auto'): { tools: ClientTool[]; choice?: ToolChoice } => {
  if (choice === 'auto') return { tools }
  if (choice === 'none') return { tools: [] }
  if (choice === 'required') return { tools: someOf(tools), choice }
  if (choice.type === 'allowed_tools') {
    const { mode, tools: allowed } = parseInput(Allowed, 'allowed_tools' in choice ? choice.allowed_tools : choice, hint)
    const left = allowed.map((one) => named(tools, nameIn(one)))
    return { tools: left, ...definedOf({ choice: mode === 'required' ? ('required' as const) : undefined }) }
  }
  const { name } = named(tools, nameIn(choice))
  return { tools, choice: { name } }
}

const someOf = (tools: ClientTool[]): ClientTool[] => {
  if (tools.length > 0) return tools
  throw unsupported(
    "tool_choice 'required' needs functions in `tools`",
    'tool_choice',
    'send `tools`: the tools of the agent are for its model to choose',
  )
}

const named = (tools: readonly ClientTool[], name: string): ClientTool => {
  const found = tools.find((tool) => tool.name === name)
  if (found) return found
  throw unsupported(`tool_choice names '${name.slice(0, 80)}', which is not in \`tools\``, 'tool_choice', 'name a function of `tools`')
}

// ---- response_format, text.format

export const Format = Typed

const JsonSchema = z.object({
  name: AnswerFormat.shape.name,
  description: AnswerFormat.shape.description.nullish(),
  schema: AnswerFormat.shape.schema.nullish(),
  strict: z.boolean().nullish(),
})

/** @param field where it stands @returns undefined for text @throws RuntimeError bad_request */
export const wantedFormat = (format: z.infer<typeof Format> | undefined, field: string): AnswerFormat | undefined => {
  switch (format?.type) {
    case undefined:
    case 'text':
      return undefined
    case 'json_object':
      return {}
    case 'json_schema': {
      // Chat completions have the schema one level deeper than responses.
      const at = 'json_schema' in format ? `${field}.json_schema` : field
      const { [at]: parsed } = parseInput(z.object({ [at]: JsonSchema }), { [at]: 'json_schema' in format ? format.json_schema : format }, hint)
      const { name, description, schema, strict } = parsed as z.infer<typeof JsonSchema>
      return definedOf({ name, description: description ?? undefined, schema: schema ?? undefined, strict: strict ?? undefined })
    }
    default:
      throw unsupported(`${field} cannot be of the type '${format?.type.slice(0, 80)}'`, field, "send 'text', 'json_object' or 'json_schema'")
  }
}
