/**
 * The tokens of a call are counted from each field that servers report, cache reads and cache writes included.
 * Sources beside each; the others are the documented reports of their servers.
 */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createOpenAI } from '@ai-sdk/openai'
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { describe, expect, test } from 'vitest'
import { agent, createRuntime } from '../../src/index.ts'
import { createModels } from '../../src/models/models.ts'
import { afterThisTest } from '../support/cleanup.ts'
import { anEnvironment } from '../transport/harness.ts'

/** A server that answers each request with these events. */
const serving = async (events: readonly (object | string)[]): Promise<string> => {
  const server = createServer((incoming, outgoing) => {
    incoming.resume().once('end', () => {
      outgoing.writeHead(200, { 'content-type': 'text/event-stream' })
      for (const event of events) outgoing.write(`${typeof event === 'string' ? event : `data: ${JSON.stringify(event)}`}\n\n`)
      outgoing.end()
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  afterThisTest(() => void server.close())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`
}

const key = 'sk-test-THISMUSTNOTBESHOWN1234'
const environment = { ...anEnvironment(), random: { next: () => 0.5 } }
type Models = NonNullable<Parameters<typeof createRuntime>[0]>['models']

/** What a conversation with one answer has used, as its record and the metrics have it. */
const counted = async (model: NonNullable<Models>[string]) => {
  const runtime = await createRuntime({ transport: 'memory:', agents: [agent({ name: 'main', model: 'test/m' })], models: { 'test/m': model } })
  afterThisTest(() => runtime.close())
  const session = runtime.session('main')
  expect(await (await session.send('hi')).result()).toMatchObject({ text: 'hello' })
  const { spent } = (await session.view()).record
  return { ...spent.usage, metrics: Object.values(runtime.metrics().model_tokens_total ?? {})[0] }
}

const ours = async (provider: 'anthropic' | 'openai' | 'openai-compatible', events: readonly (object | string)[]) => {
  const url = await serving(events)
  const named = provider === 'anthropic' ? 'ANTHROPIC' : 'OPENAI'
  const env = { [`${named}_BASE_URL`]: url, [`${named}_API_KEY`]: key }
  return createModels({ environment, env }).get(`${provider}/served`)
}

const chunk = (choices: unknown[], more: object = {}): object => ({
  id: 'c',
  object: 'chat.completion.chunk',
  created: 0,
  model: 'm',
  choices,
  ...more,
})
const text = chunk([{ index: 0, delta: { role: 'assistant', content: 'hello' }, finish_reason: null }])
const end = (more: object = {}, inChoice: object = {}) => chunk([{ index: 0, delta: {}, finish_reason: 'stop', ...inChoice }], more)
const done = 'data: [DONE]'
const last = (usage: unknown): (object | string)[] => [text, end(), chunk([], { usage }), done]

/** 100 tokens read and 20 written; of those read 40 from a cache. */
const cached = { inputTokens: 100, outputTokens: 20, cachedInputTokens: 40 }
const plain = { ...cached, cachedInputTokens: 0 }

const chats: [server: string, events: (object | string)[], expected: object][] = [
  ['OpenAI', last({ prompt_tokens: 100, completion_tokens: 20, total_tokens: 120, prompt_tokens_details: { cached_tokens: 40 } }), cached],
  [
    'OpenAI, with a reasoning and null in every other chunk',
    [
      chunk([{ index: 0, delta: { role: 'assistant', content: 'hello' }, finish_reason: null }], { usage: null }),
      end({ usage: null }),
      chunk([], { usage: { prompt_tokens: 100, completion_tokens: 20, total_tokens: 120, completion_tokens_details: { reasoning_tokens: 15 } } }),
      done,
    ],
    { ...plain, reasoningTokens: 15 },
  ],
  ['Moonshot (earendil-works/pi#8075)', last({ prompt_tokens: 100, completion_tokens: 20, total_tokens: 120, cached_tokens: 40 }), cached],
  [
    'Moonshot, within the choice (northes/go-moonshot#17, higress-group/higress#1568)',
    [text, end({}, { usage: { prompt_tokens: 100, completion_tokens: 20, total_tokens: 120, cached_tokens: 40 } }), done],
    cached,
  ],
  [
    'DeepSeek (BerriAI/litellm#5017)',
    last({ prompt_tokens: 100, completion_tokens: 20, total_tokens: 120, prompt_cache_hit_tokens: 40, prompt_cache_miss_tokens: 60 }),
    cached,
  ],
  [
    'Groq (vercel/ai#1651)',
    [
      text,
      end({ x_groq: { id: 'r', usage: { queue_time: 0.07, prompt_tokens: 100, completion_tokens: 20, total_tokens: 120, total_time: 0.02 } } }),
      done,
    ],
    plain,
  ],
  [
    'xAI, whose output leaves out the reasoning (vercel/ai#12425)',
    last({ prompt_tokens: 12, completion_tokens: 1, total_tokens: 399, completion_tokens_details: { reasoning_tokens: 386 } }),
    { inputTokens: 12, outputTokens: 387, reasoningTokens: 386, cachedInputTokens: 0 },
  ],
  [
    'LiteLLM, in the names of both (larsderidder/context-lens#51)',
    last({
      prompt_tokens: 100,
      completion_tokens: 20,
      total_tokens: 120,
      cache_read_input_tokens: 40,
      cache_creation_input_tokens: 10,
      prompt_tokens_details: { cached_tokens: 40, cache_creation_tokens: 10 },
    }),
    { ...cached, cacheWriteTokens: 10 },
  ],
  [
    'OpenRouter, with what it wrote to a cache',
    last({
      prompt_tokens: 100,
      completion_tokens: 20,
      total_tokens: 120,
      prompt_tokens_details: { cached_tokens: 40, cache_write_tokens: 10 },
      cost: 0.1,
    }),
    { ...cached, cacheWriteTokens: 10 },
  ],
  [
    'mlx-vlm (earendil-works/pi#2326)',
    last({ input_tokens: 100, output_tokens: 20, total_tokens: 120, prompt_tps: 21.55, generation_tps: 81.56 }),
    plain,
  ],
  ['a server in the words of responses', last({ input_tokens: 100, output_tokens: 20, input_tokens_details: { cached_tokens: 40 } }), cached],
  [
    'a server in the words of Anthropic',
    last({ input_tokens: 50, output_tokens: 20, cache_read_input_tokens: 40, cache_creation_input_tokens: 10 }),
    { ...cached, cacheWriteTokens: 10 },
  ],
  ['a server in capitals', last({ promptTokens: 100, completionTokens: 20, cachedTokens: 40 }), cached],
  ['a server in the words of the AI SDK', last({ inputTokens: 100, outputTokens: 20, cachedInputTokens: 40 }), cached],
  [
    'a server that quotes its counts',
    last({ prompt_tokens: '100', completion_tokens: '20', prompt_tokens_details: { cached_tokens: '40' } }),
    cached,
  ],
  [
    'Gemini',
    [
      text,
      end({
        usageMetadata: { promptTokenCount: 100, candidatesTokenCount: 5, thoughtsTokenCount: 15, cachedContentTokenCount: 40, totalTokenCount: 120 },
      }),
      done,
    ],
    { ...cached, reasoningTokens: 15 },
  ],
  ['Ollama', [text, end({ prompt_eval_count: 100, eval_count: 20, eval_duration: 7 }), done], plain],
  [
    'a server that reports in every chunk',
    [
      chunk([{ index: 0, delta: { role: 'assistant', content: 'hello' } }], {
        usage: { prompt_tokens: 100, completion_tokens: 1, total_tokens: 101 },
      }),
      end({ usage: { prompt_tokens: 100, completion_tokens: 20, total_tokens: 120, cached_tokens: 40 } }),
      done,
    ],
    cached,
  ],
  [
    'a server that reports before its last chunk',
    [text, end({ usage: { input_tokens: 100, output_tokens: 20 } }), chunk([], { usage: null }), done],
    plain,
  ],
  ['a server that reports a total alone', last({ total_tokens: 100 }), { inputTokens: 100, outputTokens: 0, cachedInputTokens: 0 }],
]

describe.each(['openai', 'openai-compatible'] as const)('[OC-88] chat completions, by %s', (provider) => {
  test.each(chats)('of %s', async (_, events, expected) => {
    const { metrics, ...usage } = await counted(await ours(provider, events))
    const { inputTokens, outputTokens, cachedInputTokens, cacheWriteTokens = 0 } = expected as typeof cached & { cacheWriteTokens?: number }

    expect(usage).toEqual({ reasoningTokens: 0, cacheWriteTokens: 0, ...expected })
    expect(metrics).toEqual({
      input: inputTokens - cachedInputTokens - cacheWriteTokens,
      output: outputTokens,
      cacheRead: cachedInputTokens,
      cacheWrite: cacheWriteTokens,
    })
  })
})

const messages = (begin: unknown, finish: unknown): string[] =>
  [
    { type: 'message_start', message: { id: 'm', type: 'message', role: 'assistant', model: 'm', content: [], stop_reason: null, usage: begin } },
    { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
    { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'hello' } },
    { type: 'content_block_stop', index: 0 },
    { type: 'message_delta', delta: { stop_reason: 'end_turn', stop_sequence: null }, usage: finish },
    { type: 'message_stop' },
  ].map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}`)

test.each<[string, unknown, unknown, object]>([
  [
    'Anthropic, with a cache that is read and written',
    { input_tokens: 50, cache_read_input_tokens: 40, cache_creation_input_tokens: 10, output_tokens: 1 },
    { output_tokens: 20 },
    { ...cached, cacheWriteTokens: 10 },
  ],
  [
    'Anthropic, which repeats it at the end',
    { input_tokens: 50, cache_read_input_tokens: 40, cache_creation_input_tokens: 10, output_tokens: 1 },
    { input_tokens: 50, cache_read_input_tokens: 40, cache_creation_input_tokens: 10, output_tokens: 20 },
    { ...cached, cacheWriteTokens: 10 },
  ],
  [
    'Ollama, which counts at the end (ollama/ollama#13934)',
    { input_tokens: 0, output_tokens: 0 },
    { input_tokens: 60, cache_read_input_tokens: 40, output_tokens: 20 },
    cached,
  ],
  [
    'SGLang, which counts at the beginning and ends with zeros (envoyproxy/ai-gateway#1631, sgl-project/sglang#20830)',
    { input_tokens: 60, cache_read_input_tokens: 40, output_tokens: 0 },
    { input_tokens: 0, cache_read_input_tokens: 0, output_tokens: 20 },
    cached,
  ],
  ['a server that quotes its counts', { input_tokens: '60', cache_read_input_tokens: '40' }, { output_tokens: '20' }, cached],
  [
    'a server in the words of chat completions',
    null,
    { prompt_tokens: 100, completion_tokens: 20, prompt_tokens_details: { cached_tokens: 40 } },
    cached,
  ],
  ['a server with null at the beginning', null, { input_tokens: 60, cache_read_input_tokens: 40, output_tokens: 20 }, cached],
])('[OC-88] messages of %s', async (_, begin, finish, expected) => {
  const { metrics: _metrics, ...usage } = await counted(await ours('anthropic', messages(begin, finish)))

  expect(usage).toEqual({ reasoningTokens: 0, cacheWriteTokens: 0, ...expected })
})

describe("[OC-88] a model of the AI SDK that is the author's own", () => {
  test('of responses', async () => {
    const usage = {
      input_tokens: 100,
      output_tokens: 20,
      input_tokens_details: { cached_tokens: 40 },
      output_tokens_details: { reasoning_tokens: 15 },
    }
    const item = { type: 'message', id: 'i', role: 'assistant', status: 'completed', content: [] }
    const url = await serving([
      { type: 'response.created', response: { id: 'r', created_at: 0, model: 'm' } },
      { type: 'response.output_item.added', output_index: 0, item },
      { type: 'response.output_text.delta', item_id: 'i', delta: 'hello' },
      { type: 'response.output_item.done', output_index: 0, item },
      { type: 'response.completed', response: { id: 'r', usage } },
    ])

    expect(await counted(createOpenAI({ apiKey: key, baseURL: url }).responses('m'))).toMatchObject({ ...cached, reasoningTokens: 15 })
  })

  test.each(chats.filter(([server]) => /^(?:Moonshot \(|DeepSeek|OpenRouter|xAI|a server in)/.test(server)))('of %s', async (_, events, expected) => {
    const provider = createOpenAICompatible({ name: 'own', baseURL: await serving(events), includeUsage: true })

    expect(await counted(provider('m'))).toMatchObject(expected)
  })
})
