/** The answer of `POST /v1/responses`: the events that make it up, of which the last one holds all of it. */
import type { PendingCall } from '../../contracts/client-tools.ts'
import type { TurnOutput } from '../../contracts/turn.ts'
import type { Piece } from './answer.ts'
import { finishOf } from './chat-answer.ts'
import type { OpenAiError } from './error.ts'
import { callIdOf, itemIdOf } from './names.ts'

/** @property created seconds since the epoch */
type ResponseFacts = {
  id: string
  created: number
  model: string
  store: boolean
  previous: string | undefined
  instructions: string | undefined
  effort: string | undefined
  given: { tools: object[]; tool_choice: unknown; text: unknown }
}

export type ResponseEvent = { type: string; sequence_number: number } & Record<string, unknown>

type Item = { id: string; kind: Piece['kind']; text: string }

const usageOf = ({ usage }: TurnOutput) => ({
  input_tokens: usage.inputTokens,
  input_tokens_details: { cached_tokens: usage.cachedInputTokens },
  output_tokens: usage.outputTokens,
  output_tokens_details: { reasoning_tokens: usage.reasoningTokens },
  total_tokens: usage.inputTokens + usage.outputTokens,
})

const why = { length: 'max_output_tokens', content_filter: 'content_filter' } as const

const summaryPart = (text: string) => ({ type: 'summary_text', text })
const textPart = (text: string) => ({ type: 'output_text', text, annotations: [], logprobs: [] })

const shownItem = ({ id, kind, text }: Item, status: 'in_progress' | 'completed' | 'incomplete') =>
  kind === 'reasoning'
    ? { id, type: 'reasoning', summary: status === 'in_progress' ? [] : [summaryPart(text)], status }
    : { id, type: 'message', role: 'assistant', status, content: status === 'in_progress' ? [] : [textPart(text)] }

export async function* responseEvents(
  facts: ResponseFacts,
  pieces: AsyncGenerator<Piece, TurnOutput>,
  shown: (error: unknown) => OpenAiError,
): AsyncGenerator<ResponseEvent> {
  let number = 0
  const event = (type: string, fields: object): ResponseEvent => ({ type, sequence_number: number++, ...fields })
  const output: object[] = []
  let open: Item | undefined

  /** Where the piece that is being said belongs. */
  const place = (): object => ({
    item_id: open?.id,
    output_index: output.length,
    ...(open?.kind === 'reasoning' ? { summary_index: 0 } : { content_index: 0 }),
  })
  const names = (kind: Piece['kind']) =>
    kind === 'reasoning'
      ? { part: 'response.reasoning_summary_part', text: 'response.reasoning_summary_text', more: {} }
      : { part: 'response.content_part', text: 'response.output_text', more: { logprobs: [] } }
  function* begin(kind: Piece['kind']): Generator<ResponseEvent> {
    const id = itemIdOf(kind === 'reasoning' ? 'rs_' : 'msg_', facts.id, output.length)
    open = { id, kind, text: '' }
    yield event('response.output_item.added', { output_index: output.length, item: shownItem(open, 'in_progress') })
    yield event(`${names(kind).part}.added`, { ...place(), part: kind === 'reasoning' ? summaryPart('') : textPart('') })
  }
  function* end(status: 'completed' | 'incomplete'): Generator<ResponseEvent> {
    if (open === undefined) return
    const { kind, text } = open
    const { part, text: name, more } = names(kind)
    yield event(`${name}.done`, { ...place(), text, ...more })
    yield event(`${part}.done`, { ...place(), part: kind === 'reasoning' ? summaryPart(text) : textPart(text) })
    const item = shownItem(open, status)
    yield event('response.output_item.done', { output_index: output.length, item })
    output.push(item)
    open = undefined
  }
  function* call({ callId, name, input }: PendingCall): Generator<ResponseEvent> {
    const output_index = output.length
    const id = itemIdOf('fc_', facts.id, output_index)
    const item = { id, type: 'function_call', call_id: callIdOf(callId), name }
    const given = JSON.stringify(input)
    yield event('response.output_item.added', { output_index, item: { ...item, arguments: '', status: 'in_progress' } })
    yield event('response.function_call_arguments.delta', { item_id: id, output_index, delta: given })
    yield event('response.function_call_arguments.done', { item_id: id, output_index, name, arguments: given })
    const made = { ...item, arguments: given, status: 'completed' }
    yield event('response.output_item.done', { output_index, item: made })
    output.push(made)
  }
  const response = (status: string, more: object = {}) => ({ response: { ...responseOf(facts, status), output: [...output], ...more } })

  yield event('response.created', response('in_progress'))
  yield event('response.in_progress', response('in_progress'))
  try {
    for (;;) {
      const { done, value } = await pieces.next()
      if (!done) {
        const { kind, text } = value
        if (open?.kind !== kind) {
          yield* end('completed')
          yield* begin(kind)
        }
        const item = open as unknown as Item
        item.text += text
        const { text: name, more } = names(kind)
        yield event(`${name}.delta`, { ...place(), delta: text, ...more })
        continue
      }
      const finish = finishOf(value)
      const isWhole = finish === 'stop' || finish === 'tool_calls'
      const status = isWhole ? 'completed' : 'incomplete'
      yield* end(status)
      for (const one of value.pendingCalls ?? []) yield* call(one)
      const cut = isWhole ? {} : { incomplete_details: { reason: why[finish] } }
      yield event(`response.${status}`, response(status, { ...cut, usage: usageOf(value) }))
      return
    }
  } catch (error) {
    const { code, message } = shown(error)
    yield* end('incomplete')
    yield event('response.failed', response('failed', { error: { code, message } }))
  }
}

/** Everything but what was said. What only a provider of models could know is null, or as it is without a choice. */
const responseOf = ({ id, created, model, store, previous, instructions, effort, given }: ResponseFacts, status: string) => ({
  id,
  object: 'response',
  created_at: created,
  status,
  background: false,
  error: null,
  incomplete_details: null,
  instructions: instructions ?? null,
  max_output_tokens: null,
  metadata: {},
  model,
  output: [],
  parallel_tool_calls: true,
  previous_response_id: previous ?? null,
  reasoning: { effort: effort ?? null, summary: null },
  store,
  temperature: null,
  text: given.text,
  tool_choice: given.tool_choice,
  tools: given.tools,
  top_p: null,
  truncation: 'disabled',
  usage: null,
  user: null,
})
