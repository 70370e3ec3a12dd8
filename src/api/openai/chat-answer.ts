/** The answer of `POST /v1/chat/completions`, whole or in chunks. */
import type { TurnOutput } from '../../contracts/turn.ts'
import type { Piece } from './answer.ts'
import type { OpenAiError } from './error.ts'
import { callIdOf } from './names.ts'

/** @property created seconds since the epoch */
type ChatFacts = { id: string; created: number; model: string; usage: boolean }

export const finishOf = ({
  finish,
  pendingCalls,
}: Pick<TurnOutput, 'finish' | 'pendingCalls'>): 'stop' | 'length' | 'content_filter' | 'tool_calls' =>
  pendingCalls ? 'tool_calls' : finish === 'length' ? 'length' : finish === 'content-filter' ? 'content_filter' : 'stop'

const usageOf = ({ usage }: TurnOutput) => ({
  prompt_tokens: usage.inputTokens,
  completion_tokens: usage.outputTokens,
  total_tokens: usage.inputTokens + usage.outputTokens,
  prompt_tokens_details: { cached_tokens: usage.cachedInputTokens },
  completion_tokens_details: { reasoning_tokens: usage.reasoningTokens },
})

const callsOf = ({ pendingCalls = [] }: TurnOutput) =>
  pendingCalls.map(({ callId, name, input }) => ({
    id: callIdOf(callId),
    type: 'function' as const,
    function: { name, arguments: JSON.stringify(input) },
  }))

export const chatCompletion = async ({ id, created, model }: ChatFacts, pieces: AsyncGenerator<Piece, TurnOutput>) => {
  const said = { text: '', reasoning: '' }
  for (;;) {
    const { done, value } = await pieces.next()
    if (!done) {
      said[value.kind] += value.text
      continue
    }
    const calls = callsOf(value)
    const message = {
      role: 'assistant',
      content: said.text === '' && calls.length > 0 ? null : said.text,
      refusal: null,
      ...(calls.length === 0 ? {} : { tool_calls: calls }),
      ...(said.reasoning === '' ? {} : { reasoning_content: said.reasoning }),
    }
    const choice = { index: 0, message, logprobs: null, finish_reason: finishOf(value) }
    return { id, object: 'chat.completion', created, model, choices: [choice], usage: usageOf(value) }
  }
}

/** The data of each server-sent event. */
export async function* chatChunks(
  { id, created, model, usage }: ChatFacts,
  pieces: AsyncGenerator<Piece, TurnOutput>,
  shown: (error: unknown) => OpenAiError,
): AsyncGenerator<string> {
  const frame = { id, object: 'chat.completion.chunk', created, model }
  const chunk = (delta: object, finish: string | null = null): string =>
    JSON.stringify({ ...frame, choices: [{ index: 0, delta, logprobs: null, finish_reason: finish }], ...(usage ? { usage: null } : {}) })
  // Clients make a text part of an empty text, also where only calls follow.
  yield chunk({ role: 'assistant', content: null })
  try {
    for (;;) {
      const { done, value } = await pieces.next()
      if (!done) {
        yield chunk(value.kind === 'text' ? { content: value.text } : { reasoning_content: value.text })
        continue
      }
      for (const [index, { function: called, ...call }] of callsOf(value).entries()) {
        yield chunk({ tool_calls: [{ index, ...call, function: { name: called.name, arguments: '' } }] })
        yield chunk({ tool_calls: [{ index, function: { arguments: called.arguments } }] })
      }
      yield chunk({}, finishOf(value))
      if (usage) yield JSON.stringify({ ...frame, choices: [], usage: usageOf(value) })
      break
    }
  } catch (error) {
    // Its status has been sent: what went wrong comes as an event, which clients throw.
    yield JSON.stringify({ error: shown(error) })
  }
  yield '[DONE]'
}
