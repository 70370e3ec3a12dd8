/** A local server that speaks Anthropic's messages, streamed. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { ScriptedResponse } from '../../src/models/script.ts'
import { type Fault, sendJson, textOf, withUsage } from './openai-server.ts'

export type MessagesRequest = {
  model: string
  system?: { text: string }[] | string
  messages: { role: 'user' | 'assistant'; content: { type: string; [key: string]: unknown }[] }[]
  tools?: { name: string }[]
}

export type AnthropicServer = { url: string; requests: { body: MessagesRequest; headers: IncomingMessage['headers'] }[]; close(): Promise<void> }

/** `cut`, `reset` and an `error` event in mid-stream (`garbage`) happen after the text. @returns url without `/v1` */
export const startAnthropicServer = async ({
  script,
  faults = [],
}: {
  script: readonly ScriptedResponse[]
  faults?: readonly (Fault | undefined)[]
}): Promise<AnthropicServer> => {
  const requests: AnthropicServer['requests'] = []
  const answer = async (incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> => {
    if (incoming.url !== '/v1/messages')
      return sendJson(outgoing, 404, { type: 'error', error: { type: 'not_found_error', message: 'no such path' } })
    const body = JSON.parse(await textOf(incoming)) as MessagesRequest
    const fault = faults[requests.length]
    requests.push({ body, headers: incoming.headers })
    const refusal = refusalOf(body)
    if (refusal !== undefined) return sendJson(outgoing, 400, { type: 'error', error: { type: 'invalid_request_error', message: refusal } })
    if (fault?.kind === 'status') return sendJson(outgoing, fault.status, { type: 'error', error: fault.error ?? {} }, fault.headers)
    const place = body.messages.filter(({ role }) => role === 'assistant').length
    sendStream(outgoing, body, script[place] ?? {}, fault)
  }
  const server = createServer((incoming, outgoing) => {
    answer(incoming, outgoing).catch(() => outgoing.destroy())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    close: () => {
      server.closeAllConnections()
      return new Promise((resolve) => server.close(() => resolve()))
    },
  }
}

/** What the real one says to a request that breaks its rules about texts, names and ids. */
const refusalOf = ({ system = [], messages }: MessagesRequest): string | undefined => {
  const blank = 'text content blocks must contain non-whitespace text'
  if ([system].flat().some((part) => isBlank(typeof part === 'string' ? part : part.text))) return `system: ${blank}`
  if (messages.length === 0) return 'messages: at least one message is required'
  if (messages[0]?.role !== 'user') return 'messages: first message must use the "user" role'
  const ids = new Set<unknown>()
  for (const [place, { role, content }] of messages.entries()) {
    const isLast = place === messages.length - 1
    if (content.length === 0) return `messages.${place}: all messages must have non-empty content`
    if (role === messages[place - 1]?.role) return 'messages: roles must alternate'
    for (const [index, part] of content.entries()) {
      const where = `messages.${place}.content.${index}`
      if (part.type === 'text') {
        if (isBlank(part.text)) return `messages: ${blank}`
        if (isLast && role === 'assistant' && /\s$/.test(String(part.text)))
          return 'messages: final assistant content cannot end with trailing whitespace'
      }
      if (part.type === 'tool_use') {
        if (!/^[a-zA-Z0-9_-]+$/.test(String(part.id))) return `${where}.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'`
        if (!/^[a-zA-Z0-9_-]{1,200}$/.test(String(part.name))) return `${where}.tool_use.name: String should match pattern '^[a-zA-Z0-9_-]{1,200}$'`
        if (ids.has(part.id)) return 'messages: `tool_use` ids must be unique'
        ids.add(part.id)
        const results = messages[place + 1]?.content.filter(({ type }) => type === 'tool_result') ?? []
        if (!results.some((result) => result.tool_use_id === part.id)) return `${where}: \`tool_use\` ids were found without \`tool_result\` blocks`
      }
      if (part.type === 'tool_result') {
        const texts = typeof part.content === 'string' ? [part.content] : []
        if (part.is_error === true && texts.includes('')) return `${where}.tool_result: content cannot be empty if \`is_error\` is true`
        if (texts.some((text) => text !== '' && isBlank(text))) return `${where}.tool_result: ${blank}`
      }
    }
  }
  return undefined
}

const isBlank = (text: unknown): boolean => typeof text !== 'string' || text.trim() === ''

const sendStream = (outgoing: ServerResponse, { model }: MessagesRequest, response: ScriptedResponse, fault: Fault | undefined): void => {
  outgoing.writeHead(200, { 'content-type': 'text/event-stream' })
  const write = (type: string, data: string): void => void outgoing.write(`event: ${type}\ndata: ${data}\n\n`)
  const send = (type: string, data: object): void => write(type, JSON.stringify({ type, ...data }))
  const { inputTokens = 0, outputTokens = 0 } = response.usage ?? {}
  const usageText = (usage: object): string => (fault?.kind === 'usage' ? fault.json : JSON.stringify(usage))
  const message = { id: 'msg_1', type: 'message', role: 'assistant', model, content: [], stop_reason: null, stop_sequence: null }
  write('message_start', `{"type":"message_start","message":${withUsage(message, usageText({ input_tokens: inputTokens, output_tokens: 1 }))}}`)
  send('ping', {})
  let index = 0
  if (response.text !== undefined) {
    send('content_block_start', { index, content_block: { type: 'text', text: '' } })
    for (const text of response.text.match(/\s*\S+\s*/g) ?? []) send('content_block_delta', { index, delta: { type: 'text_delta', text } })
    send('content_block_stop', { index })
    index++
  }
  if (fault?.kind === 'cut') return void outgoing.end()
  if (fault?.kind === 'reset') return void setImmediate(() => outgoing.destroy())
  if (fault?.kind === 'garbage') {
    send('error', { error: { type: 'overloaded_error', message: 'Overloaded' } })
    return void outgoing.end()
  }
  for (const { name, input, callId } of response.calls ?? []) {
    send('content_block_start', { index, content_block: { type: 'tool_use', id: callId ?? `toolu_${index}`, name, input: {} } })
    for (const fragment of JSON.stringify(input ?? {}).match(/[\s\S]{1,5}/g) ?? [])
      send('content_block_delta', { index, delta: { type: 'input_json_delta', partial_json: fragment } })
    send('content_block_stop', { index })
    index++
  }
  const isCalling = (response.calls?.length ?? 0) > 0
  const delta = { stop_reason: isCalling ? 'tool_use' : 'end_turn', stop_sequence: null }
  write('message_delta', withUsage({ type: 'message_delta', delta }, usageText({ output_tokens: outputTokens })))
  send('message_stop', {})
  outgoing.end()
}
