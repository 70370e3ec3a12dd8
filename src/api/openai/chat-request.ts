/** `POST /v1/chat/completions`: what is read of its body. */
import { z } from 'zod'
import { definedOf } from '../../contracts/defined.ts'
import { parseInput } from '../../contracts/parse.ts'
import { type Asked, efforts } from './asked.ts'
import { usedFields } from './fields.ts'
import { checkResults, clientTools, Functions, resultsOf } from './functions.ts'
import { newestOf, saidBy, type Told } from './told.ts'
import { Choice, chosen, Format, wantedFormat } from './wishes.ts'

const ToolCall = z.object({ id: z.string().optional(), function: z.object({ name: z.string(), arguments: z.string() }) })

const Message = z.object({
  role: z.enum(['system', 'developer', 'user', 'assistant', 'tool', 'function']),
  content: z.unknown().optional(),
  name: z.string().optional(),
  refusal: z.string().nullish(),
  tool_calls: z.array(ToolCall).nullish(),
  tool_call_id: z.string().optional(),
})

const ChatRequest = z.object({
  model: z.string().min(1),
  messages: z.array(Message).min(1),
  stream: z.boolean().default(false),
  stream_options: z.object({ include_usage: z.boolean().nullish() }).optional(),
  store: z.boolean().default(false),
  tools: Functions.optional(),
  tool_choice: Choice.optional(),
  response_format: Format.optional(),
  reasoning_effort: z.enum(Object.keys(efforts) as (keyof typeof efforts)[]).optional(),
})

const told = ({ role, content, name, refusal, tool_calls, tool_call_id }: z.infer<typeof Message>, field: string): Told => ({
  role: role === 'function' ? 'tool' : role,
  ...definedOf({ name }),
  ...saidBy(role, content ?? refusal, `${field}.content`),
  ...definedOf({
    tool_calls: tool_calls?.map(({ id, function: called }) => ({ ...definedOf({ id }), name: called.name, arguments: called.arguments })),
    tool_call_id,
  }),
})

/** @param standsHere what was said before is not only in the request @throws RuntimeError bad_request naming the field */
export const chatRequest = (body: unknown, standsHere = false): Asked & { usage: boolean } => {
  const fields = usedFields('chat', body, Object.keys(ChatRequest.shape))
  const parsed = parseInput(ChatRequest, fields, 'see docs/reference/openai.md')
  const { model, stream, stream_options, store, tools, tool_choice, response_format, reasoning_effort } = parsed
  const messages = parsed.messages.map((message, index) => ({ told: told(message, `messages.${index}`), at: `messages.${index}` }))
  const newest = newestOf(messages, 'messages')
  const results = resultsOf(messages)
  if (!standsHere) checkResults(messages, results)
  return {
    model,
    ...newest,
    ...chosen(clientTools('chat', tools), tool_choice),
    results,
    field: 'messages',
    stream,
    store,
    usage: stream_options?.include_usage === true,
    ...definedOf({ format: wantedFormat(response_format, 'response_format'), thinking: reasoning_effort && efforts[reasoning_effort] }),
  }
}
