/** Which fields of a request do nothing here, and which cannot be had. What is neither used nor listed is refused: who sends it expects something of it. */
import { RuntimeError } from '../../contracts/errors.ts'

/** Settings of a model, which its agent makes, and remarks for the books of a provider: an answer without them is still an answer. */
const ofBoth = [
  'metadata',
  'parallel_tool_calls',
  'prompt_cache_key',
  'prompt_cache_retention',
  'safety_identifier',
  'service_tier',
  'temperature',
  'top_logprobs',
  'top_p',
  'user',
]

export const ignoredFields = {
  chat: [
    ...ofBoth,
    'frequency_penalty',
    'logit_bias',
    'max_completion_tokens',
    'max_tokens',
    'min_p',
    'prediction',
    'presence_penalty',
    'repetition_penalty',
    'seed',
    'stop',
    'top_k',
    'verbosity',
  ],
  responses: [...ofBoth, 'include', 'max_output_tokens', 'max_tool_calls', 'stream_options', 'truncation'],
} as const satisfies Record<string, readonly string[]>

type Api = keyof typeof ignoredFields

const callerTools = 'send functions that the client runs as `tools`, or give the tools to the agent (agent({ tools: […] }))'
const unstored = "continue a conversation with previous_response_id, or the header 'x-statecast-session'"

const isEmpty = (value: unknown): boolean => Array.isArray(value) && value.length === 0
/** Whether a tool is called is for the model to say. */
const isOpenChoice = (value: unknown): boolean => value === 'auto' || value === 'none'

/** @property fits the values that ask for nothing that is not there */
type Refusal = { fits: (value: unknown) => boolean; hint: string }
const refusals: Record<Api, Record<string, Refusal>> = {
  chat: {
    functions: { fits: isEmpty, hint: callerTools },
    function_call: { fits: isOpenChoice, hint: callerTools },
    n: { fits: (value) => value === 1, hint: 'ask again for another answer' },
    modalities: { fits: (value) => Array.isArray(value) && value.every((one) => one === 'text'), hint: 'answers are text' },
    audio: { fits: () => false, hint: 'answers are text' },
    logprobs: { fits: (value) => value === false, hint: 'leave it out' },
    web_search_options: { fits: () => false, hint: callerTools },
  },
  responses: {
    background: { fits: (value) => value === false, hint: 'chat.send of POST /rpc does that' },
    conversation: { fits: () => false, hint: unstored },
    prompt: { fits: () => false, hint: 'write the prompt into instructions and input' },
  },
}

const lists = new Set(['messages', 'input', 'tools', 'stream_options', 'reasoning', 'response_format', 'text'])
/** Of these null says something, or is not ours to read. */
const meant = new Set(['content', 'output', 'parameters'])

/** Clients write null for what they leave out, in the parts of a request as well; what a schema or an answer holds stays as it is. */
const withoutNulls = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(withoutNulls)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, part]): [string, unknown][] =>
      meant.has(name) ? [[name, part]] : part === null ? [] : [[name, name === 'tool_calls' || name === 'function' ? withoutNulls(part) : part]],
    ),
  )
}

/**
 * The fields that are used, without those that say nothing.
 * @throws RuntimeError bad_request naming the field
 */
export const usedFields = (api: Api, body: unknown, used: readonly string[]): Record<string, unknown> => {
  if (typeof body !== 'object' || body === null || Array.isArray(body))
    throw new RuntimeError('bad_request', 'the body must be a JSON object', { hint: "send { model, … } as 'application/json'" })
  const fields = new Map<string, unknown>()
  for (const [name, value] of Object.entries(body)) {
    // Clients write null for what they leave out.
    if (value === null || (ignoredFields[api] as readonly string[]).includes(name)) continue
    const refusal = Object.hasOwn(refusals[api], name) ? refusals[api][name] : undefined
    if (used.includes(name) && refusal?.fits(value) !== false) {
      fields.set(name, lists.has(name) ? withoutNulls(value) : value)
      continue
    }
    if (refusal?.fits(value)) continue
    const field = name.slice(0, 80)
    throw refusal
      ? new RuntimeError('bad_request', `'${field}' cannot be what this request asks for`, {
          field,
          hint: refusal.hint,
          data: { openai: 'unsupported_parameter' },
        })
      : new RuntimeError('bad_request', `unknown field '${field}'`, {
          field,
          hint: 'leave the field out, or correct its name; docs/reference/openai.md lists those that are known',
          data: { openai: 'unknown_parameter' },
        })
  }
  return Object.fromEntries(fields)
}
