/** `POST /v1/chat/completions`: what is read of its body. */
import { z } from 'zod'
import { definedOf } from '../../contracts/defined.ts'
import { parseInput } from '../../contracts/parse.ts'
import { type Asked, efforts } from './asked.ts'
import { usedFields } from './fields.ts'
import { newestOf, saidBy, type Told } from './told.ts'

const ToolCall = z.object({ id: z.string().optional(), function: z.object({ name: z.string(), arguments: z.string() }) })

const Message = z.object({
  role: z.enum(['system', 'developer', 'user', 'assistant', 'tool', 'function']),
  content: z.unknown(),
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

/** @throws RuntimeError bad_request naming the field */
export const chatRequest = (body: unknown): Asked & { usage: boolean } => {
  const fields = usedFields('chat', body, Object.keys(ChatRequest.shape))
  const { model, messages, stream, stream_options, store, reasoning_effort } = parseInput(ChatRequest, fields, 'see docs/reference/openai.md')
  return {
    model,
    ...newestOf(
      messages.map((message, index) => ({ told: told(message, `messages.${index}`), at: `messages.${index}` })),
      'messages',
    ),
    field: 'messages',
    stream,
    store,
    usage: stream_options?.include_usage === true,
    ...definedOf({ thinking: reasoning_effort && efforts[reasoning_effort] }),
  }
}
