/** `POST /v1/responses`: what is read of its body. */
import { z } from 'zod'
import { definedOf } from '../../contracts/defined.ts'
import { RuntimeError } from '../../contracts/errors.ts'
import { parseInput } from '../../contracts/parse.ts'
import { type Asked, efforts } from './asked.ts'
import { usedFields } from './fields.ts'
import { checkResults, clientTools, Functions, resultsOf } from './functions.ts'
import { responseOfItem } from './names.ts'
import { contentText, newestOf, refused, saidBy, type Told, type ToldAt } from './told.ts'
import { Choice, chosen, Format, wantedFormat } from './wishes.ts'

/** One without a type is a message. */
const Item = z.looseObject({ type: z.string().default('message') })
const Message = z.object({ role: z.enum(['system', 'developer', 'user', 'assistant']), content: z.unknown() })
const Call = z.object({ call_id: z.string(), name: z.string(), arguments: z.string() })
const CallOutput = z.object({ call_id: z.string(), output: z.unknown() })

const ResponsesRequest = z.object({
  model: z.string().min(1),
  input: z.union([z.string(), z.array(Item).min(1)], { error: 'must be a text, or a list of items' }),
  instructions: z.string().optional(),
  previous_response_id: z.string().min(1).optional(),
  stream: z.boolean().default(false),
  store: z.boolean().default(true),
  tools: Functions.optional(),
  tool_choice: Choice.optional(),
  text: z.object({ format: Format.nullish() }).optional(),
  reasoning: z.object({ effort: z.enum(Object.keys(efforts) as (keyof typeof efforts)[]).nullish() }).optional(),
})

/** What the answer repeats. */
type Shown = { instructions?: string; effort?: string; given: { tools: object[]; tool_choice: unknown; text: unknown } }

const hint = 'see docs/reference/openai.md'

const told = (item: z.infer<typeof Item>, field: string): Told[] => {
  const at = <Schema extends z.ZodType>(schema: Schema): z.output<Schema> => {
    const { [field]: parsed } = parseInput(z.object({ [field]: schema }), { [field]: item }, hint) as Record<string, z.output<Schema>>
    return parsed as z.output<Schema>
  }
  switch (item.type) {
    case 'message': {
      const { role, content } = at(Message)
      return [{ role, ...saidBy(role, content, `${field}.content`) }]
    }
    case 'function_call': {
      const { call_id: id, name, arguments: given } = at(Call)
      return [{ role: 'assistant', tool_calls: [{ id, name, arguments: given }] }]
    }
    case 'function_call_output': {
      const { call_id, output } = at(CallOutput)
      return [{ role: 'tool', tool_call_id: call_id, content: contentText(output, `${field}.output`) }]
    }
    // The stored response holds it.
    case 'item_reference':
      return []
    // Clients send back what they got; what a model has thought is its own.
    case 'reasoning':
      return []
    default:
      throw refused(`an item of the type '${item.type.slice(0, 80)}' cannot be read here`, `${field}.type`, 'send messages')
  }
}

/**
 * Resolves `item_reference` items. The newest one names the stored response to continue from; that response already holds the items before the reference.
 * @throws RuntimeError not_found
 */
const referredTo = (input: readonly z.infer<typeof Item>[]): { continues: string | undefined; begin: number } => {
  const at = input.findLastIndex(({ type }) => type === 'item_reference')
  if (at === -1) return { continues: undefined, begin: 0 }
  const { id } = input[at] as { id?: unknown }
  const continues = typeof id === 'string' ? responseOfItem(id) : undefined
  if (continues === undefined)
    throw new RuntimeError('not_found', `the item ${JSON.stringify(id)?.slice(0, 80)} was not found`, {
      field: `input.${at}.id`,
      hint: 'send the items themselves: only those of responses that were stored here can be referred to',
    })
  return { continues, begin: at + 1 }
}

/** @param standsHere what was said before is not only in the request @throws RuntimeError bad_request naming the field */
export const responsesRequest = (body: unknown, standsHere = false): Asked & Shown => {
  const fields = usedFields('responses', body, Object.keys(ResponsesRequest.shape))
  const {
    model,
    input,
    instructions,
    previous_response_id,
    stream,
    store,
    tools,
    tool_choice,
    text: answerText,
    reasoning,
  } = parseInput(ResponsesRequest, fields, hint)
  const { continues, begin } = typeof input === 'string' ? { continues: undefined, begin: 0 } : referredTo(input)
  const previous = previous_response_id ?? continues
  const items: ToldAt[] =
    typeof input === 'string'
      ? [{ told: { role: 'user', content: input }, at: 'input' }]
      : input.flatMap((item, index) => (index < begin ? [] : told(item, `input.${index}`).map((one) => ({ told: one, at: `input.${index}` }))))
  const { before, text, files } = newestOf(items, 'input')
  const results = resultsOf(items)
  if (!standsHere && previous === undefined) checkResults(items, results)
  return {
    model,
    text,
    files,
    ...chosen(clientTools('responses', tools), tool_choice),
    results,
    given: { tools: tools ?? [], tool_choice: tool_choice ?? 'auto', text: { format: answerText?.format ?? { type: 'text' } } },
    before: instructions === undefined ? before : [{ role: 'system', content: instructions }, ...before],
    field: 'input',
    stream,
    store,
    ...definedOf({
      format: wantedFormat(answerText?.format ?? undefined, 'text.format'),
      instructions,
      previous,
      thinking: reasoning?.effort ? efforts[reasoning.effort] : undefined,
      effort: reasoning?.effort ?? undefined,
    }),
  }
}
