/** A local server that speaks OpenAI's chat completions, and goes wrong in all the ways that real ones do. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import type { Message } from '../../src/contracts/message.ts'
import { decideOffline } from '../../src/models/offline/offline.ts'
import type { ScriptedResponse } from '../../src/models/script.ts'

type ChatMessage = {
  role: 'system' | 'user' | 'assistant' | 'tool'
  content: string | { type: string; text?: string }[] | null
  tool_calls?: { id: string; function: { name: string; arguments: string } }[]
  tool_call_id?: string
}
export type ChatRequest = {
  model: string
  stream?: boolean
  messages: ChatMessage[]
  tools?: { function: { name: string } }[]
  stream_options?: { include_usage?: boolean }
}

/** What happens to one request instead of, or in the middle of, its answer. */
export type Fault =
  | { kind: 'status'; status: number; headers?: Record<string, string>; error?: Record<string, unknown>; body?: string }
  /** The socket is destroyed: before the first byte, or after the text. */
  | { kind: 'reset'; midway?: boolean }
  /** Silence: before the headers, or after the text. */
  | { kind: 'hang'; midway?: boolean }
  /** The stream ends properly as HTTP, but in the middle of the answer. */
  | { kind: 'cut' }
  | { kind: 'garbage' }
  | { kind: 'endless' }
  /** What is told of the tokens used, as JSON text. */
  | { kind: 'usage'; json: string }
  /** Goes on after the end, and leaves the connection open. */
  | { kind: 'after-done' }

export type OpenAiServerOptions = {
  /** One response per assistant message in the request, or a function of the request. Default: the offline stand-in. */
  script?: readonly ScriptedResponse[] | ((request: ChatRequest) => ScriptedResponse)
  /** By the number of the request; undefined lets it pass. */
  faults?: readonly (Fault | undefined)[]
  /** By what the request says. */
  refuse?: (request: ChatRequest) => Fault | undefined
  /** ms between chunks. */
  chunkDelayMs?: number
  port?: number
}

export type OpenAiServer = {
  /** With `/v1`, as OPENAI_BASE_URL wants it. */
  url: string
  requests: { body: ChatRequest; headers: IncomingMessage['headers'] }[]
  close(): Promise<void>
}

export const startOpenAiServer = async ({
  script = offlineAnswer,
  faults = [],
  refuse = () => undefined,
  chunkDelayMs = 0,
  port = 0,
}: OpenAiServerOptions = {}): Promise<OpenAiServer> => {
  const requests: OpenAiServer['requests'] = []
  const answer = async (incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> => {
    if (incoming.url === '/v1/models')
      return sendJson(outgoing, 200, { object: 'list', data: [{ id: 'offline', object: 'model', created: 0, owned_by: 'test' }] })
    if (incoming.method !== 'POST' || incoming.url !== '/v1/chat/completions') return sendJson(outgoing, 404, { error: { message: 'no such path' } })
    const body = JSON.parse(await textOf(incoming)) as ChatRequest
    const fault = faults[requests.length] ?? refuse(body)
    requests.push({ body, headers: incoming.headers })
    const refusal = refusalOf(body)
    if (refusal !== undefined) return sendJson(outgoing, 400, { error: { message: refusal, type: 'invalid_request_error' } })
    if (fault?.kind === 'status') return sendFault(outgoing, fault)
    if (fault?.kind === 'reset' && fault.midway !== true) return void incoming.socket.destroy()
    if (fault?.kind === 'hang' && fault.midway !== true) return
    const place = body.messages.filter(({ role }) => role === 'assistant').length
    const response = typeof script === 'function' ? script(body) : script[place]
    if (response === undefined) sendJson(outgoing, 400, { error: { message: 'the script has ended', type: 'invalid_request_error' } })
    else if (body.stream === true) await sendStream(outgoing, body, response, fault, chunkDelayMs)
    else
      sendJson(outgoing, 200, {
        id: 'chatcmpl-1',
        object: 'chat.completion',
        created: 0,
        model: body.model,
        choices: [wholeChoice(response)],
        usage: usageOf(response),
      })
  }
  const server = createServer((incoming, outgoing) => {
    answer(incoming, outgoing).catch(() => outgoing.destroy())
  })
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    requests,
    close: () => {
      server.closeAllConnections()
      return new Promise((resolve) => server.close(() => resolve()))
    },
  }
}

/** What the strictest of those that speak this format say to a request that breaks their rules about texts and names. */
const refusalOf = ({ messages }: ChatRequest): string | undefined => {
  for (const [place, { role, content, tool_calls = [] }] of messages.entries()) {
    const parts = typeof content === 'string' ? [content] : (content ?? []).map(({ text = '' }) => text)
    const mayBeEmpty = role === 'tool' || (role === 'assistant' && tool_calls.length > 0)
    if ((parts.length === 0 && !mayBeEmpty) || parts.some((part) => part.trim() === '' && !(part === '' && mayBeEmpty)))
      return `messages[${place}].content: must not be empty`
    for (const { function: called } of tool_calls)
      if (!/^[a-zA-Z0-9_-]{1,64}$/.test(called.name))
        return `messages[${place}].tool_calls.function.name: string does not match pattern '^[a-zA-Z0-9_-]{1,64}$'`
  }
  return undefined
}

export const textOf = async (incoming: IncomingMessage): Promise<string> => {
  const chunks: Buffer[] = []
  for await (const chunk of incoming) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString('utf8')
}

export const sendJson = (outgoing: ServerResponse, status: number, body: unknown, headers: Record<string, string> = {}): void => {
  outgoing.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body))
}

const sendFault = (outgoing: ServerResponse, fault: Extract<Fault, { kind: 'status' }>): void => {
  if (fault.body !== undefined) outgoing.writeHead(fault.status, { 'content-type': 'text/html', ...fault.headers }).end(fault.body)
  else sendJson(outgoing, fault.status, { error: fault.error ?? { message: `status ${fault.status}` } }, fault.headers)
}

const sendStream = async (
  outgoing: ServerResponse,
  body: ChatRequest,
  response: ScriptedResponse,
  fault: Fault | undefined,
  chunkDelayMs: number,
): Promise<void> => {
  outgoing.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' })
  const send = async (choices: unknown[], usage?: string): Promise<void> => {
    const chunk = { id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 0, model: `${body.model}-served`, choices }
    outgoing.write(`data: ${withUsage(chunk, usage)}\n\n`)
    if (chunkDelayMs > 0) await pause(chunkDelayMs)
  }
  const delta = (part: object): Promise<void> => send([{ index: 0, delta: part, finish_reason: null }])
  await delta({ role: 'assistant', content: '' })
  for (const text of response.text?.match(/\s*\S+\s*/g) ?? []) await delta({ content: text })
  if (fault?.kind === 'reset') return void setImmediate(() => outgoing.destroy())
  if (fault?.kind === 'hang') return
  if (fault?.kind === 'cut') return void outgoing.end()
  if (fault?.kind === 'garbage') return void outgoing.end('data: {"this is": not json\n\n')
  if (fault?.kind === 'endless') {
    while (!outgoing.destroyed) {
      await delta({ content: 'again '.repeat(50) })
      await new Promise((resolve) => setImmediate(resolve))
    }
    return
  }
  for (const [index, call] of toolCalls(response).entries()) {
    await delta({ tool_calls: [{ index, id: call.id, type: 'function', function: { name: call.function.name, arguments: '' } }] })
    // In fragments that fit no token border, as real ones come.
    for (const fragment of call.function.arguments.match(/[\s\S]{1,5}/g) ?? [])
      await delta({ tool_calls: [{ index, function: { arguments: fragment } }] })
  }
  await send([{ index: 0, delta: {}, finish_reason: finishOf(response) }])
  if (body.stream_options?.include_usage === true) await send([], fault?.kind === 'usage' ? fault.json : JSON.stringify(usageOf(response)))
  if (fault?.kind !== 'after-done') return void outgoing.end('data: [DONE]\n\n')
  // Its end comes in two parts, in the middle of the mark.
  outgoing.write('data: [DO')
  await pause(5)
  outgoing.write('NE]\n\n')
  await delta({ content: ' AND MORE' })
  await send([{ index: 0, delta: {}, finish_reason: 'length' }])
}

/** As text: what is wrong with it may be a number that JavaScript does not have. */
export const withUsage = (fields: object, json: string | undefined): string => {
  const text = JSON.stringify(fields)
  return json === undefined ? text : `${text.slice(0, -1)},"usage":${json}}`
}

const wholeChoice = (response: ScriptedResponse) => ({
  index: 0,
  message: { role: 'assistant', content: response.text ?? null, ...(toolCalls(response).length === 0 ? {} : { tool_calls: toolCalls(response) }) },
  finish_reason: finishOf(response),
})

const toolCalls = ({ calls = [], rawCalls = [] }: ScriptedResponse) => {
  const written = [...calls.map(({ name, input, callId }) => ({ name, callId, input: JSON.stringify(input ?? {}) })), ...rawCalls]
  // Counted over the whole process, as the ids of a real server never repeat.
  return written.map(({ name, callId, input }) => ({ id: callId ?? `call_${++callCount}`, type: 'function', function: { name, arguments: input } }))
}
let callCount = 0

const finishOf = (response: ScriptedResponse): string => {
  if (response.finish === undefined) return (response.calls?.length ?? 0) + (response.rawCalls?.length ?? 0) > 0 ? 'tool_calls' : 'stop'
  return response.finish.replace('-', '_')
}

const usageOf = ({ usage = {} }: ScriptedResponse) => ({
  prompt_tokens: usage.inputTokens ?? 0,
  completion_tokens: usage.outputTokens ?? 0,
  total_tokens: (usage.inputTokens ?? 0) + (usage.outputTokens ?? 0),
  prompt_tokens_details: { cached_tokens: usage.cachedInputTokens ?? 0 },
  completion_tokens_details: { reasoning_tokens: usage.reasoningTokens ?? 0 },
})

/** The offline stand-in over the wire. */
export const offlineAnswer = ({ messages, tools = [] }: ChatRequest): ScriptedResponse =>
  decideOffline(
    ourMessages(messages),
    tools.map((tool) => tool.function.name),
  )

const ourMessages = (messages: readonly ChatMessage[]): Message[] => {
  const names = new Map<string, string>()
  return messages.flatMap((message, index): Message[] => {
    const text = typeof message.content === 'string' ? message.content : (message.content ?? []).map((part) => part.text ?? '').join('\n')
    if (message.role === 'user') return [{ role: 'user', id: `m${index}`, text }]
    if (message.role === 'tool') {
      const output = jsonOrText(text)
      const callId = message.tool_call_id ?? ''
      return [{ role: 'tool', callId, name: names.get(callId) ?? '', output, isError: isErrorBody(output) }]
    }
    if (message.role === 'system') return []
    const calls = (message.tool_calls ?? []).map((call) => ({
      callId: call.id,
      name: call.function.name,
      input: jsonOrText(call.function.arguments),
    }))
    for (const { callId, name } of calls) names.set(callId, name)
    return [{ role: 'assistant', id: `m${index}`, text, calls }]
  })
}

const jsonOrText = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

// The wire has no mark for it; our errors are known by their shape.
const isErrorBody = (output: unknown): boolean =>
  typeof output === 'object' && output !== null && ('error' in output || ('code' in output && 'message' in output && 'retryable' in output))

if (import.meta.main) {
  const { values } = parseArgs({
    options: { port: { type: 'string', default: '0' }, offline: { type: 'boolean', default: true }, delay: { type: 'string', default: '5' } },
  })
  const server = await startOpenAiServer({ port: Number(values.port), chunkDelayMs: Number(values.delay) })
  console.log(server.url)
}
