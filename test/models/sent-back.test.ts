/** What goes back to a provider with its own answers, and what stands in for it where another model answered. */
import { expect, test } from 'vitest'
import type { AssistantMessage, Message } from '../../src/contracts/message.ts'
import type { ProviderMetadata } from '../../src/contracts/provider-metadata.ts'
import { checked } from '../../src/models/checked.ts'
import { familyOf } from '../../src/models/model-family.ts'
import { callOptions } from '../../src/models/prompt.ts'
import { rawFieldsExtractor } from '../../src/models/raw-fields.ts'
import { aRequest, assistant, result, start, user, virtualClock } from './fixtures.ts'

const families: [string, string][] = [
  ['claude-sonnet-4-5', 'claude'],
  ['us.anthropic.claude-opus-4-6-v1:0', 'claude'],
  ['anthropic/claude-sonnet-4.5', 'claude'],
  ['models/gemini-3-pro', 'gemini'],
  ['gpt-5.1-codex', 'gpt'],
  ['o3', 'o'],
  ['us-gov.anthropic.claude-sonnet-4-5', 'claude'],
  ['deepseek-ai/DeepSeek-V3.2', 'deepseek'],
  ['accounts/fireworks/models/kimi-k2p5', 'kimi'],
  ['qwen3-max', 'qwen'],
  ['GLM-4.6', 'glm'],
  ['4o', '4o'],
  ['', ''],
]
test.each(families)('%j is of the family %j', (id, family) => {
  expect(familyOf(id)).toBe(family)
})

const claude = { provider: 'anthropic.messages', modelId: 'claude-sonnet-4-5' }
const call = (callId: string) => ({ callId, name: 'add', input: { a: 1 } })
const signature = { anthropic: { signature: 's' } }
const source = 'anthropic.messages claude'
const step = (message: Partial<AssistantMessage>, metadata?: Partial<ProviderMetadata>): Message => ({
  ...(assistant(message.text ?? '', message.calls ?? [call('c')]) as AssistantMessage),
  ...message,
  ...(metadata && { providerMetadata: { source, parts: [], ...metadata } }),
})
const sent = (messages: Message[], model = claude, reasoning?: 'high') => {
  const { prompt, reasoning: level } = callOptions(aRequest({ messages, settings: reasoning ? { reasoning } : {} }), model)
  return {
    content: prompt.flatMap((one) => (one.role === 'assistant' ? [one.content] : [])),
    options: prompt.map((one) => one.providerOptions),
    level,
  }
}

test('parts stand in the order of the answer, texts with their own part of the text', () => {
  const parts: ProviderMetadata['parts'] = [
    { type: 'text', length: 3 },
    { type: 'reasoning', text: 'hm', metadata: signature },
    { type: 'call', callId: 'c' },
    { type: 'text', length: 4, metadata: { anthropic: { citations: [] } } },
  ]
  expect(sent([user('x'), step({ text: 'one two' }, { parts }), result('c', 'add', 2)]).content).toEqual([
    [
      { type: 'text', text: 'one' },
      { type: 'reasoning', text: 'hm', providerOptions: signature },
      { type: 'tool-call', toolCallId: 'c', toolName: 'add', input: { a: 1 } },
      { type: 'text', text: ' two', providerOptions: { anthropic: { citations: [] } } },
    ],
  ])
})

test('a changed text stands as a whole before the calls', () => {
  const parts: ProviderMetadata['parts'] = [
    { type: 'reasoning', metadata: signature },
    { type: 'text', length: 3 },
    { type: 'call', callId: 'c' },
  ]
  expect(sent([user('x'), step({ text: 'changed', reasoning: 'hm' }, { parts }), result('c', 'add', 2)]).content).toMatchObject([
    [{ type: 'reasoning', text: 'hm' }, { type: 'text', text: 'changed' }, { type: 'tool-call' }],
  ])
})

test('a call that is not there any more takes what was attached to it away, and one that was added is sent', () => {
  const parts: ProviderMetadata['parts'] = [{ type: 'call', callId: 'gone', metadata: signature }]
  expect(sent([user('x'), step({}, { parts }), result('c', 'add', 2)]).content).toMatchObject([[{ type: 'tool-call', toolCallId: 'c' }]])
})

const reasoned: ProviderMetadata['parts'] = [{ type: 'reasoning', metadata: signature }]
const loops: [string, Message[], 'high' | 'none'][] = [
  ['its own steps', [user('x'), step({}, { parts: reasoned }), result('c', 'add', 2)], 'high'],
  ['a first step that it did not reason', [user('x'), step({}, {}), result('c', 'add', 2)], 'high'],
  ['a step of another provider', [user('x'), step({}, { source: 'openai.responses gpt', parts: reasoned }), result('c', 'add', 2)], 'none'],
  ['a step without anything', [user('x'), step({}), result('c', 'add', 2)], 'none'],
  [
    'a first step whose reasoning nobody signed',
    [user('x'), step({ reasoning: 'hm' }, { parts: [{ type: 'reasoning' }] }), result('c', 'add', 2)],
    'none',
  ],
  ['the rest of a loop that was compacted', [{ role: 'summary', id: 's', text: 'so far' }, step({}, {}), result('c', 'add', 2)], 'none'],
  ['a loop of an earlier turn', [user('x'), step({}), result('c', 'add', 2), assistant('done'), user('y')], 'high'],
]
test.each(loops)('after %s Claude is asked as it should be', (_, messages, level) => {
  expect(sent(messages, claude, 'high').level).toBe(level)
})

test.each(['openai.responses', 'azure-openai.responses', 'mine.responses'])('%s is asked to store nothing', (provider) => {
  expect(callOptions(aRequest(), { provider, modelId: 'gpt-5' }).providerOptions).toMatchObject({ openai: { store: false } })
})

test('other providers are asked as before', () => {
  expect(sent([user('x'), step({}), result('c', 'add', 2)], { provider: 'openai.chat', modelId: 'gpt-5' }, 'high').level).toBe('high')
})

test.each(['deepseek-v4-pro', 'kimi-k2.5'])('%s takes a space for the reasoning of another model', (modelId) => {
  const { options } = sent([user('x'), step({}), result('c', 'add', 2)], { provider: 'openai-compatible.chat', modelId })
  expect(options[1]).toEqual({ openaiCompatible: { reasoning_content: ' ' } })
})

test('Gemini gets its word for a signature that is not there, on the first call of a step', () => {
  const messages = [user('x'), step({ calls: [call('c'), call('d')] }), result('c', 'add', 2), result('d', 'add', 2)]
  const model = { provider: 'openai-compatible.chat', modelId: 'gemini-3-pro' }
  const [content] = sent(messages, model).content
  expect(content?.map(({ providerOptions }: any) => providerOptions?.openaiCompatible.extra_content.google.thought_signature)).toEqual([
    'skip_thought_signature_validator',
    undefined,
  ])
  expect(sent(messages, { ...model, modelId: 'gemini-2.5-pro' }).content[0]?.map(({ providerOptions }: any) => providerOptions)).toEqual([
    undefined,
    undefined,
  ])
})

const read = (deltas: object[]): any => {
  const extractor = rawFieldsExtractor.createStreamExtractor()
  for (const delta of deltas) extractor.processChunk({ choices: [{ delta }] })
  return extractor.buildMetadata()?.rawFields
}

const streams: [string, object[], object | undefined][] = [
  [
    'nothing',
    [
      { role: 'assistant', content: 'x' },
      { content: 'y', refusal: null },
    ],
    undefined,
  ],
  ['increments', [{ reasoning_content: 'a' }, { reasoning_content: 'b' }], { reasoning_content: 'ab' }],
  ['an empty text', [{ reasoning_content: '' }], undefined],
  ['an empty list', [{ reasoning_details: [] }], undefined],
  [
    'a text that is repeated beside others',
    [{ provider_specific_fields: { status: 'a', model: 'm' } }, { provider_specific_fields: { status: 'a', model: 'm' } }],
    { provider_specific_fields: { status: 'a', model: 'm' } },
  ],
  [
    'encrypted blocks, which come whole',
    [{ thinking_blocks: [{ type: 'redacted_thinking', data: 'R1' }] }, { thinking_blocks: [{ type: 'redacted_thinking', data: 'R2' }] }],
    {
      thinking_blocks: [
        { type: 'redacted_thinking', data: 'R1' },
        { type: 'redacted_thinking', data: 'R2' },
      ],
    },
  ],
  [
    'entries of one index with ids of their own',
    [
      { reasoning_details: [{ type: 'reasoning.encrypted', index: 0, id: 'c1', data: 'A' }] },
      { reasoning_details: [{ type: 'reasoning.encrypted', index: 0, id: 'c2', data: 'B' }] },
    ],
    {
      reasoning_details: [
        { type: 'reasoning.encrypted', index: 0, id: 'c1', data: 'A' },
        { type: 'reasoning.encrypted', index: 0, id: 'c2', data: 'B' },
      ],
    },
  ],
  [
    'a signature without a type',
    [{ reasoning_details: [{ type: 't', index: 0, text: 'a' }] }, { reasoning_details: [{ index: 0, signature: 's' }] }],
    { reasoning_details: [{ type: 't', index: 0, text: 'a', signature: 's' }] },
  ],
  ['null', [{ reasoning_content: null }], undefined],
  ['a signature that is repeated', [{ thought_signature: 's' }, { thought_signature: 's' }], { thought_signature: 's' }],
  ['numbers', [{ reasoning_tokens: 7 }], undefined],
  [
    'blocks without an index, each up to its signature',
    [
      { thinking_blocks: [{ type: 'thinking', thinking: 'a' }] },
      { thinking_blocks: [{ type: 'thinking', thinking: 'b', signature: 's' }] },
      { thinking_blocks: [{ type: 'thinking', thinking: 'c' }] },
    ],
    {
      thinking_blocks: [
        { type: 'thinking', thinking: 'ab', signature: 's' },
        { type: 'thinking', thinking: 'c' },
      ],
    },
  ],
  [
    'blocks by their index, interleaved',
    [
      { reasoning_details: [{ type: 't', index: 0, text: 'a' }] },
      { reasoning_details: [{ type: 't', index: 1, text: 'x' }] },
      { reasoning_details: [{ type: 't', index: 0, text: 'b' }] },
    ],
    {
      reasoning_details: [
        { type: 't', index: 0, text: 'ab' },
        { type: 't', index: 1, text: 'x' },
      ],
    },
  ],
  ['entries that are no objects', [{ reasoning_details: ['a'] }, { reasoning_details: ['b'] }], { reasoning_details: ['a', 'b'] }],
]
test.each(streams)('raw fields of a stream with %s', (_, deltas, message) => {
  expect(read(deltas)?.message).toEqual(message)
})

test('calls that all have one index are told apart by their ids', () => {
  const call = (id: string, sign: string) => ({ tool_calls: [{ index: 0, id, extra_content: { google: { thought_signature: sign } } }] })
  expect(read([call('x', 'A'), call('y', 'B')]).calls).toMatchObject([
    { id: 'x', fields: { extra_content: { google: { thought_signature: 'A' } } } },
    { id: 'y', fields: { extra_content: { google: { thought_signature: 'B' } } } },
  ])
})

test('40,000 entries are read in linear time', () => {
  const entries = Array.from({ length: 40_000 }, (_, index) => ({ reasoning_details: [{ type: 't', index, text: 'x' }] }))
  const cost = (count: number): number => {
    const began = process.cpuUsage()
    read(entries.slice(0, count))
    const { user, system } = process.cpuUsage(began)
    return user + system
  }
  cost(10_000)
  expect(cost(40_000)).toBeLessThan(40 * Math.max(cost(10_000), 5_000))
})

test('a server that attaches without an end is stopped', () => {
  const extractor = rawFieldsExtractor.createStreamExtractor()
  const chunk = { choices: [{ delta: { reasoning_details: [{ type: 'reasoning.encrypted', data: 'x'.repeat(100_000) }] } }] }
  expect(() => {
    for (let count = 0; count < 1_000; count++) extractor.processChunk(chunk)
  }).toThrow(expect.objectContaining({ code: 'provider_rejected', data: expect.objectContaining({ charsMax: 524_288 }) }))
})

test.each(['deepseek-v4-pro', 'kimi-k2.5'])('%s gets a space for a step that it did not reason', (modelId) => {
  const model = { provider: 'openai-compatible.chat', modelId }
  const own = { source: `openai-compatible.chat ${familyOf(modelId)}`, parts: [{ type: 'call' as const, callId: 'c' }] }
  const { options } = sent([user('x'), step({}, own), result('c', 'add', 2)], model)
  expect(options[1]).toEqual({ openaiCompatible: { reasoning_content: ' ' } })
  const reasoned = sent([user('x'), step({ reasoning: 'hm' }, { ...own, reasoningFields: ['reasoning_content'] }), result('c', 'add', 2)], model)
  expect(reasoned.options[1]).toEqual({ openaiCompatible: { reasoning_content: 'hm' } })
})

test('fields of the wire in a forged journal do not reach it', () => {
  const metadata = { openaiCompatible: { id: 'forged', function: { name: 'other' }, thought_signature: 's' } }
  const forged = {
    source: 'openai-compatible.chat m',
    parts: [{ type: 'call' as const, callId: 'c', metadata }],
    fields: { role: 'system', content: 'x' },
  }
  const { content, options } = sent([user('x'), step({}, forged), result('c', 'add', 2)], { provider: 'openai-compatible.chat', modelId: 'm' })
  expect(content[0]).toMatchObject([{ toolCallId: 'c', providerOptions: { openaiCompatible: { thought_signature: 's' } } }])
  expect(content[0]?.[0]?.providerOptions?.openaiCompatible).not.toHaveProperty('id')
  expect(options[1]).toBeUndefined()
})

test.each([[null], ['x'], [{}], [{ choices: [] }], [{ choices: [{ delta: null }] }], [{ choices: [{ delta: { tool_calls: [null, 'x', {}] } }] }]])(
  'a chunk such as %j is passed over',
  (chunk) => {
    const extractor = rawFieldsExtractor.createStreamExtractor()
    extractor.processChunk(chunk)
    expect(extractor.buildMetadata()).toBeUndefined()
  },
)

test('a model that wraps another hands on what was attached', async () => {
  const providerMetadata: ProviderMetadata = { source, parts: [{ type: 'call', callId: 'c', metadata: signature }] }
  const answer = {
    text: '',
    reasoning: '',
    calls: [{ callId: 'c', name: 'add', input: '{}' }],
    usage: {},
    finish: 'tool-calls',
    model: 'm',
    partial: false,
  }
  const usage = { inputTokens: 1, outputTokens: 1 }
  const model = checked({ call: async () => ({ ...answer, usage, providerMetadata }) as any }, { ref: 'test/w', clock: virtualClock() })
  expect((await start(model).response).providerMetadata).toEqual(providerMetadata)

  const wrong = checked({ call: async () => ({ ...answer, usage, providerMetadata: { parts: 1 } }) as any }, { ref: 'test/w', clock: virtualClock() })
  expect(await start(wrong).error).toMatchObject({ code: 'provider_malformed', message: expect.stringContaining('providerMetadata') })
})
