/**
 * JSON of a form and functions that must be called: what clients of `/v1` ask for reaches the model of the provider, in its own mode or in words.
 * Sources: vercel/ai#11489, langchain-ai/langchain#32120, and beside each refusal.
 */
import { createOpenAI } from '@ai-sdk/openai'
import { tool as clientTool, generateText, jsonSchema, Output } from 'ai'
import OpenAI from 'openai'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { agent, tool } from '../../src/index.ts'
import { agent as clerk } from '../../src/ladder/index.ts'
import { createModels } from '../../src/models/models.ts'
import type { ScriptedResponse } from '../../src/models/script.ts'
import { aGateway, token } from '../api/http/harness.ts'
import { aLadderOf } from '../ladder/a-ladder.ts'
import { startAnthropicServer } from '../support/anthropic-server.ts'
import { afterThisTest } from '../support/cleanup.ts'
import { type Fault, startOpenAiServer } from '../support/openai-server.ts'
import { anEnvironment } from '../transport/harness.ts'

const schema = { type: 'object', properties: { x: { type: 'number' } }, required: ['x'], additionalProperties: false }

const modelOf = (ref: string, env: Record<string, string>) =>
  createModels({ environment: { ...anEnvironment(), random: { next: () => 0.5 } }, env }).get(ref)

type Kit = { script?: (request: any) => ScriptedResponse; refuse?: (request: any) => Fault | undefined; provider?: 'openai' | 'openai-compatible' }
const json = () => ({ text: '{"x":1}' })

/** A node whose model is one of a provider, before it the clients. */
const aNode = async ({ script = json, refuse = () => undefined, provider = 'openai-compatible' }: Kit = {}) => {
  const server = await startOpenAiServer({ script, refuse })
  afterThisTest(() => server.close())
  const model = await modelOf(`${provider}/m`, { OPENAI_BASE_URL: server.url, OPENAI_API_KEY: 'k' })
  const look = tool({ name: 'look', description: 'looks', input: z.object({}), execute: () => 'seen' })
  const { gateway } = await aGateway({}, { agents: [agent({ name: 'main', model: 'test/m', tools: [look] })], models: { 'test/m': model } })
  const baseURL = `${gateway.url}/v1`
  return {
    server,
    sent: () => server.requests.map(({ body }) => body as any),
    openai: new OpenAI({ apiKey: token, baseURL, maxRetries: 0 }),
    sdk: createOpenAI({ apiKey: token, baseURL }),
  }
}

const openAi = (message: string): string => JSON.stringify({ error: { message, type: 'invalid_request_error' } })
const gemini = (message: string): string => JSON.stringify([{ error: { code: 400, message, status: 'INVALID_ARGUMENT' } }])

const hi = [{ role: 'user' as const, content: 'hi' }]

describe('a form reaches the model', () => {
  test.each(['openai', 'openai-compatible'] as const)('response_format of chat completions, in the mode of %s', async (provider) => {
    const { openai, sent } = await aNode({ provider })
    const { choices } = await openai.chat.completions.create({
      model: 'main',
      messages: hi,
      response_format: { type: 'json_schema', json_schema: { name: 'point', description: 'a point', schema, strict: true } },
    })
    expect(choices[0]?.message.content).toBe('{"x":1}')
    expect(sent()[0].response_format).toEqual({ type: 'json_schema', json_schema: { name: 'point', description: 'a point', schema, strict: true } })
  })

  test('text.format of responses', async () => {
    const { openai, sent } = await aNode()
    const response = await openai.responses.create({
      model: 'main',
      input: 'hi',
      text: { format: { type: 'json_schema', name: 'point', schema, strict: false } },
    })
    expect(response.output_text).toBe('{"x":1}')
    expect(response.text).toEqual({ format: { type: 'json_schema', name: 'point', schema, strict: false } })
    expect(sent()[0].response_format.json_schema).toMatchObject({ name: 'point', schema, strict: false })
  })

  test('json_object', async () => {
    const { openai, sent } = await aNode()
    await openai.chat.completions.create({ model: 'main', messages: hi, response_format: { type: 'json_object' } })
    expect(sent()[0].response_format).toEqual({ type: 'json_object' })
  })

  test.each(['chat', 'responses'] as const)('Output.object of the AI SDK by %s', async (api) => {
    const { sdk, sent } = await aNode()
    const { output } = await generateText({
      model: sdk[api]('main'),
      prompt: 'hi',
      output: Output.object({ schema: jsonSchema<{ x: number }>(schema as any) }),
    })
    expect(output).toEqual({ x: 1 })
    expect(sent()[0].response_format.json_schema.schema).toMatchObject({ properties: { x: { type: 'number' } } })
  })

  test('Claude gets its own mode', async () => {
    const server = await startAnthropicServer({ script: [{ text: '{"x":1}' }] })
    afterThisTest(() => server.close())
    const model = await modelOf('anthropic/claude-sonnet-4-5', { ANTHROPIC_BASE_URL: server.url, ANTHROPIC_API_KEY: 'k' })
    const { gateway } = await aGateway({}, { agents: [agent({ name: 'main', model: 'test/m' })], models: { 'test/m': model } })
    const openai = new OpenAI({ apiKey: token, baseURL: `${gateway.url}/v1`, maxRetries: 0 })
    await openai.chat.completions.create({
      model: 'main',
      messages: hi,
      response_format: { type: 'json_schema', json_schema: { name: 'p', schema } },
    })
    expect(JSON.stringify(server.requests[0]?.body)).toContain('"x":{"type":"number"}')
  })

  test('what the agent said on the way is no part of the JSON', async () => {
    const { openai } = await aNode({
      script: ({ messages }) =>
        messages.some(({ role }: { role: string }) => role === 'tool') ? json() : { text: 'I look.', calls: [{ name: 'look', input: {} }] },
    })
    const { choices } = await openai.chat.completions.create({ model: 'main', messages: hi, response_format: { type: 'json_object' } })
    expect(choices[0]?.message.content).toBe('{"x":1}')
  })
})

/** As servers without the mode refuse it. */
const refusals: [source: string, body: string][] = [
  ['OpenAI (web-infra-dev/midscene#259)', openAi("Invalid parameter: 'response_format' of type 'json_schema' is not supported with this model.")],
  ['OpenAI (mkht/PSOpenAI#44)', openAi("Unsupported parameter: 'response_format'. In the Responses API, this parameter has moved to 'text.format'.")],
  ['LM Studio (LoadShine/tada#16)', `{"error":"'response_format.type' must be 'json_schema' or 'text'"}`],
  ['Groq (agno-agi/agno#1065)', openAi('response_format` json_object cannot be combined with tool/function calling')],
  ['Groq (vercel/ai#16540)', openAi('json mode cannot be combined with tool/function calling')],
  ['Gemini (symfony/ai#1777)', gemini("Function calling with a response mime type: 'application/json' is unsupported")],
  ['Gemini (google-gemini/deprecated-generative-ai-python#137)', gemini('Json mode is not enabled for models/gemini-pro')],
  [
    'Gemini (googleapis/js-genai#601)',
    gemini(
      "For controlled generation of only function calls (forced function calling), please set 'tool_config.function_calling_config.mode' field to ANY instead of populating 'response_mime_type', 'response_schema' and 'response_json_schema' fields.",
    ),
  ],
]

describe('a server without the mode', () => {
  test.each(refusals)('is told in words: %s', async (_, body) => {
    const { openai, sent } = await aNode({
      refuse: ({ response_format }) => (response_format === undefined ? undefined : { kind: 'status', status: 400, body }),
    })
    const ask = () =>
      openai.chat.completions.create({
        model: 'main',
        messages: hi,
        response_format: { type: 'json_schema', json_schema: { name: 'point', schema } },
      })
    expect((await ask()).choices[0]?.message.content).toBe('{"x":1}')
    await ask()
    const requests = sent()
    expect(requests.map((one) => one.response_format === undefined)).toEqual([false, true, true])
    expect(requests[1].messages[0]).toMatchObject({ role: 'system', content: expect.stringContaining(JSON.stringify(schema)) })
  })

  test('a schema that the provider refuses is the error of its caller, and others keep the mode', async () => {
    const message = "Invalid schema for response_format 'bad': In context=(), 'additionalProperties' is required to be supplied and to be false."
    const { openai, sent } = await aNode({
      refuse: ({ response_format: format }) =>
        format?.json_schema?.name === 'bad' ? { kind: 'status', status: 400, body: openAi(message) } : undefined,
    })
    const ask = (name: string, strict: boolean) =>
      openai.chat.completions.create({ model: 'main', messages: hi, response_format: { type: 'json_schema', json_schema: { name, schema, strict } } })
    await expect(ask('bad', true)).rejects.toThrow('additionalProperties')
    await ask('bad', false)
    await ask('good', true)
    expect(sent().map((one) => one.response_format?.json_schema?.name)).toEqual(['bad', 'bad', undefined, 'good'])
  })

  test('a server without json_object keeps its mode for schemas', async () => {
    const { openai, sent } = await aNode({
      refuse: ({ response_format: format }) => (format?.type === 'json_object' ? { kind: 'status', status: 400, body: refusals[2]![1] } : undefined),
    })
    await openai.chat.completions.create({ model: 'main', messages: hi, response_format: { type: 'json_object' } })
    await openai.chat.completions.create({
      model: 'main',
      messages: hi,
      response_format: { type: 'json_schema', json_schema: { name: 'p', schema } },
    })
    expect(sent().map((one) => one.response_format?.type)).toEqual(['json_object', undefined, 'json_schema'])
  })

  test('another refusal is not tried again', async () => {
    const { openai, sent } = await aNode({
      refuse: () => ({ kind: 'status', status: 400, error: { message: 'the picture is too large', type: 'invalid_request_error' } }),
    })
    await expect(openai.chat.completions.create({ model: 'main', messages: hi, response_format: { type: 'json_object' } })).rejects.toThrow()
    expect(sent()).toHaveLength(1)
  })
})

test('an agent of the ladder asks in the mode of its provider as well', async () => {
  const server = await startOpenAiServer({ script: json })
  afterThisTest(() => server.close())
  const model = await modelOf('openai-compatible/m', { OPENAI_BASE_URL: server.url, OPENAI_API_KEY: 'k' })
  const one = clerk({ name: 'clerk', model: 'test/a', output: z.object({ x: z.number() }) })
  await using kit = await aLadderOf({ 'test/a': model as any }, one)
  expect(await kit.clock.until(one.execute('x?'))).toMatchObject({ data: { x: 1 } })
  expect((server.requests[0]!.body as any).response_format.json_schema.schema).toMatchObject({ properties: { x: { type: 'number' } } })
})

const point = { type: 'function' as const, function: { name: 'point', description: 'shows', parameters: schema } }
const calling = () => ({ calls: [{ name: 'point', input: { x: 1 } }] })

describe('a function that must be called', () => {
  test.each<[string, any, any]>([
    ['any of them', 'required', 'required'],
    ['one by its name', { type: 'function', function: { name: 'point' } }, { type: 'function', function: { name: 'point' } }],
    [
      'some of them',
      { type: 'allowed_tools', allowed_tools: { mode: 'required', tools: [{ type: 'function', function: { name: 'point' } }] } },
      'required',
    ],
  ])('%s, by chat completions', async (_, choice, wanted) => {
    const { openai, sent } = await aNode({ script: calling })
    const other = { ...point, function: { ...point.function, name: 'other' } }
    const { choices } = await openai.chat.completions.create({ model: 'main', messages: hi, tools: [point, other], tool_choice: choice })
    expect(choices[0]?.finish_reason).toBe('tool_calls')
    expect(sent()[0].tool_choice).toEqual(wanted)
    expect(sent()[0].tools.some((one: typeof point) => one.function.name === 'other')).toBe(choice.type !== 'allowed_tools')
  })

  test.each(['required', { type: 'tool', toolName: 'point' }] as const)('toolChoice %j of the AI SDK', async (toolChoice) => {
    const { sdk, sent } = await aNode({ script: calling })
    const result = await generateText({
      model: sdk.responses('main'),
      prompt: 'hi',
      tools: { point: clientTool({ description: 'shows', inputSchema: jsonSchema(schema as any) }) },
      toolChoice: toolChoice as never,
    })
    expect(result.toolCalls).toMatchObject([{ toolName: 'point', input: { x: 1 } }])
    expect(sent()[0].tool_choice).not.toBe('auto')
  })

  test('a tool of the agent that the model calls first is not forced again', async () => {
    const { openai, sent } = await aNode({
      script: ({ messages }) =>
        messages.some(({ role }: { role: string }) => role === 'tool') ? { text: 'done' } : { calls: [{ name: 'look', input: {} }] },
    })
    await openai.chat.completions.create({ model: 'main', messages: hi, tools: [point], tool_choice: 'required' })
    expect(sent().map((one) => one.tool_choice)).toEqual(['required', 'auto'])
  })

  test('Claude is not asked to think then, which it refuses', async () => {
    const server = await startAnthropicServer({ script: [{ calls: [{ name: 'point', input: { x: 1 } }] }] })
    afterThisTest(() => server.close())
    const model = await modelOf('anthropic/claude-sonnet-4-5', { ANTHROPIC_BASE_URL: server.url, ANTHROPIC_API_KEY: 'k' })
    const { gateway } = await aGateway({}, { agents: [agent({ name: 'main', model: 'test/m', thinking: 'high' })], models: { 'test/m': model } })
    const openai = new OpenAI({ apiKey: token, baseURL: `${gateway.url}/v1`, maxRetries: 0 })
    await openai.chat.completions.create({ model: 'main', messages: hi, tools: [point], tool_choice: 'required' })
    expect(server.requests[0]?.body).toMatchObject({ tool_choice: { type: 'any' }, thinking: { type: 'disabled' } })
  })

  test.each<[string, object, string]>([
    ['without functions', { tool_choice: 'required' }, 'tool_choice'],
    ['that is not there', { tools: [point], tool_choice: { type: 'function', function: { name: 'gone' } } }, 'tool_choice'],
    ['without a name', { tools: [point], tool_choice: { type: 'function' } }, 'tool_choice'],
    ['of another type', { tools: [point], tool_choice: { type: 'web_search' } }, 'tool_choice'],
    ['in no form that is known', { tools: [point], tool_choice: 7 }, 'tool_choice'],
    ['as a list of none', { tools: [point], tool_choice: { type: 'allowed_tools', allowed_tools: { mode: 'auto', tools: [] } } }, 'tools'],
    ['a form of another type', { response_format: { type: 'grammar' } }, 'response_format'],
    [
      'a form with a bad name',
      { response_format: { type: 'json_schema', json_schema: { name: 'a b', schema } } },
      'response_format.json_schema.name',
    ],
    [
      'a schema that is a text',
      { response_format: { type: 'json_schema', json_schema: { name: 'a', schema: 'x' } } },
      'response_format.json_schema.schema',
    ],
    ['a form that is a text', { response_format: 'json' }, 'response_format'],
  ])('is refused %s', async (_, more, param) => {
    const { openai, sent } = await aNode()
    const asking = openai.chat.completions.create({ model: 'main', messages: hi, ...more })
    await expect(asking).rejects.toMatchObject({ status: 400, param, type: 'invalid_request_error' })
    expect(sent()).toEqual([])
  })
})
