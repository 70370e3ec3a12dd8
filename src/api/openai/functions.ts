/** Functions that the client runs: how a request names them, and how the results in it find the calls that they answer. */
import { z } from 'zod'
import { type ClientResult, ClientTool, type PendingCall } from '../../contracts/client-tools.ts'
import { RuntimeError } from '../../contracts/errors.ts'
import { parseInput } from '../../contracts/parse.ts'
import { callIdOf } from './names.ts'
import { refused, type ToldAt } from './told.ts'

/** Of the newest messages of a request, what answers a call. `at` is where its id stands. */
export type Result = { id: string; output: string; at: string }

const Parameters = ClientTool.shape.inputSchema.nullish()
const Named = z.object({ name: ClientTool.shape.name, description: z.string().max(4000).nullish(), parameters: Parameters })
const hint = 'see docs/reference/openai.md'

/** Anything of another type is refused with them, since only the provider of a model could run it. */
const Typed = z.looseObject({ type: z.string() })
export const Functions = z.array(Typed).max(128)

/**
 * @returns nothing where the request has no functions @throws RuntimeError bad_request naming the field
 */
export const clientTools = (api: 'chat' | 'responses', given: z.infer<typeof Functions> = []): ClientTool[] => {
  const tools = given.map((one, index): ClientTool => {
    if (one.type !== 'function')
      throw new RuntimeError('bad_request', `a tool of the type '${one.type.slice(0, 80)}' cannot be had here`, {
        field: 'tools',
        hint: 'send functions, which the client runs, or give the tools to the agent (agent({ tools: […] }))',
        data: { openai: 'unsupported_parameter' },
      })
    const field = api === 'chat' ? `tools.${index}.function` : `tools.${index}`
    const { [field]: parsed } = parseInput(z.object({ [field]: Named }), { [field]: api === 'chat' ? one.function : one }, hint)
    const { name, description, parameters } = parsed as z.infer<typeof Named>
    return { name, description: description ?? '', inputSchema: parameters ?? {} }
  })
  const twice = tools.findIndex(({ name }, index) => tools.findIndex((other) => other.name === name) !== index)
  if (twice !== -1) throw refused(`there are two functions '${tools[twice]?.name}'`, `tools.${twice}`, 'give each a name of its own')
  return tools
}

/** What stands behind the newest answer of the assistant. */
export const resultsOf = (messages: readonly ToldAt[]): Result[] =>
  messages
    .slice(messages.findLastIndex(({ told }) => told.role === 'assistant') + 1)
    .flatMap(({ told, at }) =>
      told.role === 'tool' ? [{ id: told.tool_call_id ?? '', output: told.content ?? '', at: `${at}.${idField(at)}` }] : [],
    )

const idField = (at: string): string => (at.startsWith('input') ? 'call_id' : 'tool_call_id')

/** In a request that holds all that was said: each result is of a call ahead of it, and each of those has one. @throws RuntimeError bad_request */
export const checkResults = (messages: readonly ToldAt[], results: readonly Result[]): void => {
  if (results.length === 0) return
  const end = messages.findLastIndex(({ told }) => told.role === 'assistant')
  // In responses each call is an item of its own, and so is what was said besides.
  const begin = messages.slice(0, end + 1).findLastIndex(({ told }) => told.role === 'user' || told.role === 'tool')
  matched(
    results,
    messages.slice(begin + 1, end + 1).flatMap(({ told }) => told.tool_calls?.flatMap(({ id }) => id ?? []) ?? []),
  )
}

/** In a conversation that stands here. @throws RuntimeError bad_request */
export const resultsFor = (results: readonly Result[], pending: readonly PendingCall[] = []): ClientResult[] => {
  matched(
    results,
    pending.map(({ callId }) => callIdOf(callId)),
  )
  return pending.flatMap(({ callId }) => {
    const result = results.find(({ id }) => id === callIdOf(callId))
    return result ? [{ callId, output: result.output }] : []
  })
}

const matched = (results: readonly Result[], ids: readonly string[]): void => {
  const seen = new Set<string>()
  for (const { id, at } of results) {
    if (!ids.includes(id)) throw refused(`no call '${id.slice(0, 80)}' waits for a result`, at, 'give the id of a call of the newest answer')
    if (seen.has(id)) throw refused(`there are two results of the call '${id.slice(0, 80)}'`, at, 'give one for each call')
    seen.add(id)
  }
  const missing = ids.find((id) => !seen.has(id))
  if (missing !== undefined)
    throw refused(`the call '${missing.slice(0, 80)}' has no result`, results[0]?.at.split('.')[0] ?? 'messages', 'give a result for each call')
}
