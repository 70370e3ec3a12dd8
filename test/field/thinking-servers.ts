/** Servers that sign what their models think, and refuse a later step that does not bring it back as it was: each with the rule of one provider. */
import { createHash } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterThisTest } from '../support/cleanup.ts'
import { textOf } from '../support/openai-server.ts'

type Answer = { status?: number; events: unknown[] }
/** @property place how many requests came before */
export type Handler = (body: any, place: number) => Answer | { refuse: string }
export type ThinkingServer = { url: string; requests: any[] }

export const signed = (text: string): string => createHash('sha256').update(text).digest('base64')

/** @param name events of Anthropic and OpenAI's responses have names beside their data */
export const thinkingServer = async (handler: Handler, { isNamed = false } = {}): Promise<ThinkingServer> => {
  const requests: any[] = []
  const answer = async (incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> => {
    const body = JSON.parse(await textOf(incoming))
    const sent = handler(body, requests.length)
    requests.push(body)
    if ('refuse' in sent) {
      outgoing.writeHead(400, { 'content-type': 'application/json' })
      return void outgoing.end(JSON.stringify({ type: 'error', error: { type: 'invalid_request_error', message: sent.refuse } }))
    }
    outgoing.writeHead(200, { 'content-type': 'text/event-stream' })
    for (const event of sent.events)
      outgoing.write(
        `${isNamed ? `event: ${(event as { type: string }).type}\n` : ''}data: ${typeof event === 'string' ? event : JSON.stringify(event)}\n\n`,
      )
    outgoing.end()
  }
  const server = createServer((incoming, outgoing) => void answer(incoming, outgoing))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  afterThisTest(() => {
    server.closeAllConnections()
    server.close()
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, requests }
}

/** A step that calls `add`, or the last one. */
export type Step = { thought: string; text?: string; calls?: { id: string; input: object }[] }

// ---- Anthropic

const block = (index: number, begin: object, ...deltas: object[]): object[] => [
  { type: 'content_block_start', index, content_block: begin },
  ...deltas.map((delta) => ({ type: 'content_block_delta', index, delta })),
  { type: 'content_block_stop', index },
]

type Messages = { messages: { role: string; content: Block[] }[]; thinking?: { type: string } }
type Block = { type: string; thinking?: string; signature?: string; data?: string }

/** @param step by the number of the request; its thought is signed, one that begins with `#` is redacted */
export const anthropic = (step: (body: any, place: number) => Step, refuse: (body: Messages) => string | undefined = () => undefined) =>
  thinkingServer(
    (body, place) => {
      const problem = anthropicProblem(body) ?? refuse(body)
      if (problem !== undefined) return { refuse: problem }
      const { thought, text, calls = [] } = step(body, place)
      const isThinking = body.thinking !== undefined && body.thinking.type !== 'disabled' && thought !== ''
      const blocks: ((index: number) => object[])[] = []
      if (isThinking && thought.startsWith('#')) blocks.push((index) => block(index, { type: 'redacted_thinking', data: signed(thought) }))
      else if (isThinking)
        blocks.push((index) =>
          block(
            index,
            { type: 'thinking', thinking: '', signature: '' },
            ...(thought.match(/.{1,4}/gs) ?? []).map((thinking) => ({ type: 'thinking_delta', thinking })),
            { type: 'signature_delta', signature: signed(thought) },
          ),
        )
      if (text !== undefined) blocks.push((index) => block(index, { type: 'text', text: '' }, { type: 'text_delta', text }))
      for (const { id, input } of calls)
        blocks.push((index) =>
          block(index, { type: 'tool_use', id, name: 'add', input: {} }, { type: 'input_json_delta', partial_json: JSON.stringify(input) }),
        )
      const message = { id: `msg_${place}`, type: 'message', role: 'assistant', model: body.model, content: [], stop_reason: null }
      return {
        events: [
          { type: 'message_start', message: { ...message, usage: { input_tokens: 10, output_tokens: 1 } } },
          ...blocks.flatMap((make, index) => make(index)),
          { type: 'message_delta', delta: { stop_reason: calls.length > 0 ? 'tool_use' : 'end_turn' }, usage: { output_tokens: 5 } },
          { type: 'message_stop' },
        ],
      }
    },
    { isNamed: true },
  )

/** platform.claude.com/docs/en/build-with-claude/extended-thinking: preserving thinking blocks. */
const anthropicProblem = ({ messages, thinking }: Messages): string | undefined => {
  for (const { content } of messages)
    for (const one of content)
      if (one.type === 'thinking' && one.signature !== signed(one.thinking ?? '')) return 'Invalid `signature` in `thinking` block'
  if (thinking === undefined || thinking.type === 'disabled') return undefined
  const begin = messages.findLastIndex(({ role, content }) => role === 'user' && content.some(({ type }) => type === 'text')) + 1
  const step = messages.slice(begin).find(({ role }) => role === 'assistant')
  const first = step?.content[0]?.type
  return step !== undefined && first !== 'thinking' && first !== 'redacted_thinking'
    ? `Expected \`thinking\` or \`redacted_thinking\`, but found \`${first}\`. When \`thinking\` is enabled, a final \`assistant\` message must start with a thinking block`
    : undefined
}

// ---- OpenAI-compatible servers

const chunk = (delta: object, finish: string | null = null) => ({
  id: 'c',
  object: 'chat.completion.chunk',
  created: 1,
  model: 'm',
  choices: [{ index: 0, delta, finish_reason: finish }],
})

type ChatMessage = Record<string, any> & { role: string; tool_calls?: Record<string, any>[] }
export type Wire = {
  /** The deltas that carry a thought, before text and calls. */
  deltas?: (thought: string) => object[]
  /** What each call carries, by its place in the step. */
  onCall?: (thought: string, place: number) => object
  /** What is wrong with an answer of the history that called a tool. */
  problem?: (message: ChatMessage) => string | undefined
}

export const compatible = ({ deltas = () => [], onCall = () => ({}), problem = () => undefined }: Wire, step: (body: any, place: number) => Step) =>
  thinkingServer((body, place) => {
    for (const message of body.messages as ChatMessage[]) {
      const found = message.role === 'assistant' && message.tool_calls ? problem(message) : undefined
      if (found !== undefined) return { refuse: found }
    }
    const { thought, text, calls = [] } = step(body, place)
    return {
      events: [
        chunk({ role: 'assistant', content: null }),
        ...deltas(thought).map((delta) => chunk(delta)),
        ...(text === undefined ? [] : [chunk({ content: text })]),
        ...calls.flatMap(({ id, input }, index) => [
          chunk({ tool_calls: [{ index, id, type: 'function', function: { name: 'add', arguments: '' }, ...onCall(thought, index) }] }),
          chunk({ tool_calls: [{ index, function: { arguments: JSON.stringify(input) } }] }),
        ]),
        { ...chunk({}, calls.length > 0 ? 'tool_calls' : 'stop'), usage: { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 } },
        '[DONE]',
      ],
    }
  })

// ---- OpenAI's responses

type Item = Record<string, any>

/** Nothing is stored: a call comes back behind the encrypted reasoning that led to it. */
export const responses = (step: (body: any, place: number) => Step) =>
  thinkingServer(
    (body, place) => {
      if (body.store !== false) return { refuse: 'this organization has zero data retention: store must be false' }
      const input = body.input as Item[]
      const found = input.find(({ type }) => type === 'item_reference')
      if (found) return { refuse: `Item with id '${found.id}' not found. Items are not persisted when \`store\` is set to false.` }
      for (const [at, item] of input.entries()) {
        if (item.type === 'reasoning' && item.encrypted_content !== signed(item.summary[0]?.text ?? ''))
          return { refuse: 'the encrypted content could not be verified' }
        const begin = input.slice(0, at).findLastIndex(({ type, role }) => type === 'function_call_output' || role === 'user')
        if (item.type === 'function_call' && !input.slice(begin, at).some(({ type }) => type === 'reasoning'))
          return { refuse: `Item of type 'function_call' was provided without its required 'reasoning' item` }
      }
      const { thought, text, calls = [] } = step(body, place)
      const reasoning = { id: `rs_${place}`, type: 'reasoning', summary: [], encrypted_content: null }
      const said = { id: `msg_${place}`, type: 'message', role: 'assistant', status: 'completed', content: [] }
      let index = 0
      const events: object[] = [
        { type: 'response.created', response: { id: `resp_${place}`, created_at: 1, model: body.model } },
        { type: 'response.output_item.added', output_index: index, item: reasoning },
        { type: 'response.reasoning_summary_part.added', item_id: reasoning.id, output_index: index, summary_index: 0 },
        { type: 'response.reasoning_summary_text.delta', item_id: reasoning.id, output_index: index, summary_index: 0, delta: thought },
        { type: 'response.reasoning_summary_part.done', item_id: reasoning.id, output_index: index, summary_index: 0 },
        {
          type: 'response.output_item.done',
          output_index: index++,
          item: { ...reasoning, summary: [{ type: 'summary_text', text: thought }], encrypted_content: signed(thought) },
        },
      ]
      if (text !== undefined)
        events.push(
          { type: 'response.output_item.added', output_index: index, item: said },
          { type: 'response.output_text.delta', item_id: said.id, output_index: index, content_index: 0, delta: text },
          { type: 'response.output_item.done', output_index: index++, item: { ...said, content: [{ type: 'output_text', text, annotations: [] }] } },
        )
      for (const { id, input: given } of calls) {
        const item = { id: `fc_${id}`, type: 'function_call', call_id: id, name: 'add', arguments: '', status: 'in_progress' }
        events.push(
          { type: 'response.output_item.added', output_index: index, item },
          {
            type: 'response.output_item.done',
            output_index: index++,
            item: { ...item, status: 'completed', arguments: JSON.stringify(given) },
          },
        )
      }
      events.push({
        type: 'response.completed',
        response: { id: `resp_${place}`, usage: { input_tokens: 10, output_tokens: 5 }, incomplete_details: null },
      })
      return { events }
    },
    { isNamed: true },
  )
