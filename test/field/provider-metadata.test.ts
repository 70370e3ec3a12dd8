/**
 * What a provider attaches to its own answer goes back unchanged. Each server here refuses a step that lacks it, as the real one does.
 * Sources: openai/openai-agents-js#770, #791, Kilo-Org/kilocode#5219, juspay/neurolink#1672, rowboatlabs/rowboat#694, nanbingxyz/5ire#405,
 * agentclash/agentclash#666, earendil-works/pi#3636 (FC-03 to FC-05).
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createOpenAI } from '@ai-sdk/openai'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import type { Model, ModelRequest } from '../../src/contracts/model.ts'
import { agent, createRuntime, type Extension, tool } from '../../src/index.ts'
import type { CustomModel } from '../../src/models/index.ts'
import { createModels } from '../../src/models/models.ts'
import { aRequest, assistant, result, user } from '../models/fixtures.ts'
import { afterThisTest } from '../support/cleanup.ts'
import { anEnvironment } from '../transport/harness.ts'
import { anthropic, compatible, responses, type Step, signed, type ThinkingServer, type Wire } from './thinking-servers.ts'

const add = tool({
  name: 'add',
  description: 'adds',
  input: z.object({ a: z.number(), b: z.number() }),
  execute: ({ a, b }) => ({ sum: a + b }),
})

const aCall = (id: string, a: number) => ({ id, input: { a, b: 1 } })
/** Two steps with calls, one of them with two, and an answer; a turn later the same again. */
const steps: Step[] = [
  { thought: 'first I add one', text: 'One moment.', calls: [aCall('call_1', 1)] },
  { thought: 'then two at once', calls: [aCall('call_2', 2), aCall('call_3', 3)] },
  { thought: 'now I know', text: 'Done.' },
]
const inTurn = (_: unknown, place: number): Step => {
  const step = steps[place % steps.length]!
  return { ...step, calls: step.calls?.map((call) => ({ ...call, id: `${call.id}_${Math.floor(place / steps.length)}` })) ?? [] }
}

type Kit = { models: Record<string, CustomModel>; model: string; fallbacks?: string[]; thinking?: 'high'; transport?: string }
const aRuntime = async ({ models, model, fallbacks = [], thinking = 'high', transport = 'memory:' }: Kit) => {
  const runtime = await createRuntime({ transport, agents: [agent({ name: 'main', model, fallbacks, thinking, tools: [add] })], models })
  afterThisTest(() => runtime.close())
  return runtime
}
type Told = Awaited<ReturnType<typeof aRuntime>>

const say = async ({ session }: Told, text: string, key = 'main') => (await session(key).send(text)).result()

const modelOf = async (ref: string, env: Record<string, string>): Promise<CustomModel> =>
  createModels({ environment: { ...anEnvironment(), random: { next: () => 0.5 } }, env }).get(ref)

const claude = (server: ThinkingServer, id = 'claude-sonnet-4-5') =>
  modelOf(`anthropic/${id}`, { ANTHROPIC_BASE_URL: server.url, ANTHROPIC_API_KEY: 'k' })
const served = (server: ThinkingServer, id = 'local') =>
  modelOf(`openai-compatible/${id}`, { OPENAI_BASE_URL: `${server.url}/v1`, OPENAI_API_KEY: 'k' })

const completed = { status: 'completed', text: 'Done.' }

describe('Anthropic', () => {
  test('a tool loop sends signed thinking back in the order of the answer', async () => {
    const server = await anthropic(inTurn)
    const runtime = await aRuntime({ models: { 'test/claude': await claude(server) }, model: 'test/claude' })

    expect(await say(runtime, 'add')).toMatchObject(completed)
    expect(await say(runtime, 'again')).toMatchObject(completed)

    expect(server.requests).toHaveLength(6)
    expect(server.requests[1].messages[1].content).toMatchObject([
      { type: 'thinking', thinking: 'first I add one', signature: signed('first I add one') },
      { type: 'text', text: 'One moment.' },
      { type: 'tool_use', id: 'call_1_0', input: { a: 1, b: 1 } },
    ])
    expect(server.requests[2].messages[3].content.map(({ type }: { type: string }) => type)).toEqual(['thinking', 'tool_use', 'tool_use'])
  })

  test('redacted thinking goes back as well', async () => {
    const server = await anthropic((body, place) => ({ ...inTurn(body, place), thought: place === 0 ? '#hidden' : 'seen' }))
    const runtime = await aRuntime({ models: { 'test/claude': await claude(server) }, model: 'test/claude' })
    expect(await say(runtime, 'add')).toMatchObject(completed)
    expect(server.requests[1].messages[1].content[0]).toEqual({ type: 'redacted_thinking', data: signed('#hidden') })
  })

  test('a loop that another model began goes on without thinking, and the next turn thinks again', async () => {
    const other = await compatible({}, (_, place) => (place === 0 ? steps[0]! : { thought: '', text: 'never' }))
    const server = await anthropic((_, place) => steps[place + 1] ?? steps[2]!)
    const down = await served(other)
    let asked = 0
    const failing: CustomModel = {
      ref: 'test/first',
      call: (request: ModelRequest, options: Parameters<Model['call']>[1]) => {
        if (asked++ === 0) return (down as Model).call(request, options)
        throw Object.assign(new Error('down'), { statusCode: 503 })
      },
    }
    const runtime = await aRuntime({
      models: { 'test/first': failing, 'test/claude': await claude(server) },
      model: 'test/first',
      fallbacks: ['test/claude'],
    })

    expect(await say(runtime, 'add')).toMatchObject(completed)
    expect(server.requests.map(({ thinking }) => thinking?.type)).toEqual(['disabled', 'disabled'])
    expect(await say(runtime, 'again')).toMatchObject(completed)
    expect(server.requests.at(-1).thinking.type).toBe('enabled')
  })

  test('where a signature is no longer taken, the conversation goes on without it', async () => {
    let isRotated = false
    const server = await anthropic(inTurn, ({ messages }) =>
      isRotated && messages.some(({ content }) => content.some(({ type }) => type === 'thinking'))
        ? 'Invalid `signature` in `thinking` block'
        : undefined,
    )
    const runtime = await aRuntime({ models: { 'test/claude': await claude(server) }, model: 'test/claude' })
    expect(await say(runtime, 'add')).toMatchObject(completed)
    isRotated = true
    expect(await say(runtime, 'again')).toMatchObject({ status: 'completed' })
  })

  test('another error about a request is not tried again without it', async () => {
    const server = await anthropic(inTurn, ({ messages }) => (messages.length > 3 ? 'tools.0: input_schema is not valid' : undefined))
    const runtime = await aRuntime({ models: { 'test/claude': await claude(server) }, model: 'test/claude' })
    await expect(say(runtime, 'add')).rejects.toMatchObject({ code: 'provider_rejected' })
    expect(server.requests).toHaveLength(3)
  })
})

const concatenated = (name: string): Wire => ({
  deltas: (thought) => [{ [name]: '' }, ...(thought.match(/.{1,5}/gs) ?? []).map((text) => ({ [name]: text }))],
  problem: (message) =>
    typeof message[name] === 'string' && message[name] !== '' ? undefined : `Missing \`${name}\` field in the assistant message`,
})

/** How servers carry it, each with the rule that they keep. */
const wires: [name: string, model: string, wire: Wire, sent: (thought: string) => object][] = [
  ['reasoning_content (DeepSeek)', 'deepseek-v4-pro', concatenated('reasoning_content'), (thought) => ({ reasoning_content: thought })],
  ['reasoning_content (Kimi)', 'kimi-k2.5', concatenated('reasoning_content'), (thought) => ({ reasoning_content: thought })],
  ['reasoning_content (Qwen)', 'qwen3-max', concatenated('reasoning_content'), (thought) => ({ reasoning_content: thought })],
  ['reasoning_content (GLM)', 'glm-5', concatenated('reasoning_content'), (thought) => ({ reasoning_content: thought })],
  ['reasoning (vLLM, Ollama, Cerebras)', 'gpt-oss-120b', concatenated('reasoning'), (thought) => ({ reasoning: thought })],
  [
    'reasoning_details (OpenRouter)',
    'anthropic/claude-sonnet-4.5',
    {
      deltas: (thought) => [
        ...(thought.match(/.{1,5}/gs) ?? []).map((text) => ({
          reasoning: text,
          reasoning_details: [{ type: 'reasoning.text', text, format: 'anthropic-claude-v1', index: 0 }],
        })),
        { reasoning_details: [{ type: 'reasoning.text', signature: signed(thought), format: 'anthropic-claude-v1', index: 0 }] },
      ],
      problem: ({ reasoning_details: details = [] }) =>
        details[0]?.signature === signed(details[0]?.text ?? '') ? undefined : 'Invalid signature in thinking block',
    },
    (thought) => ({
      reasoning_details: [{ type: 'reasoning.text', text: thought, signature: signed(thought), format: 'anthropic-claude-v1', index: 0 }],
    }),
  ],
  [
    'encrypted reasoning_details (OpenRouter, of OpenAI)',
    'openai/gpt-5.1',
    {
      deltas: (thought) => [
        { reasoning: thought, reasoning_details: [{ type: 'reasoning.summary', summary: thought, index: 0 }] },
        { reasoning_details: [{ type: 'reasoning.encrypted', data: signed(thought), id: 'rs_1', index: 1 }] },
      ],
      problem: ({ reasoning_details: details = [] }) =>
        details[1]?.data === signed(details[0]?.summary ?? '') ? undefined : 'The encrypted content could not be verified',
    },
    (thought) => ({
      reasoning_details: [
        { type: 'reasoning.summary', summary: thought, index: 0 },
        { type: 'reasoning.encrypted', data: signed(thought), id: 'rs_1', index: 1 },
      ],
    }),
  ],
  [
    'thinking_blocks (LiteLLM)',
    'claude-sonnet-4-5',
    {
      deltas: (thought) => [
        { reasoning_content: thought, thinking_blocks: [{ type: 'thinking', thinking: thought }] },
        { reasoning_content: '', thinking_blocks: [{ type: 'thinking', thinking: '', signature: signed(thought) }] },
      ],
      problem: ({ thinking_blocks: blocks = [] }) =>
        blocks[0]?.signature === signed(blocks[0]?.thinking ?? '') ? undefined : 'Expected `thinking`, but found `tool_use`',
    },
    (thought) => ({ thinking_blocks: [{ type: 'thinking', thinking: thought, signature: signed(thought) }] }),
  ],
  [
    'reasoning_opaque (GitHub Copilot)',
    'gemini-3-pro',
    {
      deltas: (thought) => [{ reasoning_text: thought }, { reasoning_opaque: signed(thought) }],
      problem: ({ reasoning_text: text = '', reasoning_opaque: opaque }) => (opaque === signed(text) ? undefined : 'Invalid reasoning_opaque'),
    },
    (thought) => ({ reasoning_opaque: signed(thought) }),
  ],
  [
    'extra_content of a call (Gemini)',
    'gemini-3-pro',
    {
      onCall: (thought, place) => (place === 0 ? { extra_content: { google: { thought_signature: signed(thought) } } } : {}),
      problem: ({ tool_calls: calls = [] }) =>
        calls[0]?.extra_content?.google?.thought_signature ? undefined : 'Function call is missing a thought_signature in functionCall parts',
    },
    () => ({}),
  ],
  [
    'provider_specific_fields of a call (LiteLLM)',
    'gemini-3-pro',
    {
      onCall: (thought) => ({ provider_specific_fields: { thought_signature: signed(thought) } }),
      problem: ({ tool_calls: calls = [] }) =>
        calls.every((call) => call.provider_specific_fields?.thought_signature) ? undefined : 'Function call is missing a thought_signature',
    },
    () => ({}),
  ],
]

describe('OpenAI-compatible servers', () => {
  test.each(wires)('a tool loop sends %s back', async (_, id, wire, sent) => {
    const server = await compatible(wire, inTurn)
    const runtime = await aRuntime({ models: { 'test/m': await served(server, id) }, model: 'test/m' })

    expect(await say(runtime, 'add')).toMatchObject(completed)
    expect(await say(runtime, 'again')).toMatchObject(completed)

    expect(server.requests).toHaveLength(6)
    const [first, second] = server.requests[2].messages.filter(({ role }: { role: string }) => role === 'assistant')
    expect(first).toMatchObject({ content: 'One moment.', ...sent(steps[0]!.thought) })
    expect(second).toMatchObject({
      tool_calls: [{ id: 'call_2_0', ...wire.onCall?.(steps[1]!.thought, 0) }, { id: 'call_3_0' }],
      ...sent(steps[1]!.thought),
    })
  })

  test('reasoning in plain text does not go back from a turn without tools', async () => {
    const server = await compatible(concatenated('reasoning_content'), () => ({ thought: 'easy', text: 'Done.' }))
    const runtime = await aRuntime({ models: { 'test/m': await served(server, 'deepseek-r1') }, model: 'test/m' })
    await say(runtime, 'hi')
    await say(runtime, 'hi again')
    expect(server.requests[1].messages.map((message: object) => Object.keys(message))).toEqual([
      ['role', 'content'],
      ['role', 'content'],
      ['role', 'content'],
    ])
  })
})

describe('whatever happens to the conversation', () => {
  const decoded = (frames: { bytes?: string }[]): string => frames.map(({ bytes = '' }) => Buffer.from(bytes, 'base64').toString('latin1')).join('\n')
  /** A tool that a person allows: the loop rests between its steps. */
  const asked = tool({
    name: 'add',
    description: 'adds',
    input: z.object({ a: z.number(), b: z.number() }),
    approval: true,
    execute: ({ a, b }) => ({ sum: a + b }),
  })
  const aFolder = (): string => {
    const folder = mkdtempSync(join(tmpdir(), 'statecast-signed-'))
    afterThisTest(() => rmSync(folder, { recursive: true, force: true }))
    return folder
  }
  const resting = async (runtime: Told, key = 'main') => {
    await expect.poll(async () => (await runtime.session(key).view()).approvals.length).toBeGreaterThan(0)
    return (await runtime.session(key).view()).approvals
  }
  const allow = async (runtime: Told, key = 'main'): Promise<void> => {
    for (const approval of await resting(runtime, key)) await runtime.session(key).decide(approval, 'approve', 'ann')
  }
  const oneCall = (_: unknown, place: number): Step => (place % 2 === 0 ? steps[0]! : { thought: 'so it is', text: 'Done.' })

  test('a restart inside a tool loop keeps what was signed', async () => {
    const server = await anthropic(oneCall)
    const models = { 'test/claude': await claude(server) }
    const kit = {
      transport: `embedded:${aFolder()}`,
      agents: [agent({ name: 'main', model: 'test/claude', thinking: 'high', tools: [asked] })],
      models,
    }
    const before = await createRuntime(kit)
    await before.session('main').send('add', { idempotencyKey: 'a' })
    await resting(before)
    await before.close()

    const after = await createRuntime(kit)
    afterThisTest(() => after.close())
    await allow(after)

    expect(await after.session('main').wait('a')).toMatchObject(completed)
    expect(server.requests[1].messages[1].content[0]).toEqual({ type: 'thinking', thinking: steps[0]!.thought, signature: signed(steps[0]!.thought) })
    expect(await after.replay(after.session('main').address)).toMatchObject({ verdict: 'identical' })
  })

  test('a fork inside a tool loop keeps it', async () => {
    const server = await anthropic((body) => (body.messages.length === 1 ? steps[0]! : { thought: 'so it is', text: 'Done.' }))
    const models = { 'test/claude': await claude(server) }
    const runtime = await createRuntime({
      transport: 'memory:',
      agents: [agent({ name: 'main', model: 'test/claude', thinking: 'high', tools: [asked] })],
      models,
    })
    afterThisTest(() => runtime.close())
    await runtime.session('main').send('add', { idempotencyKey: 'a' })
    await resting(runtime)
    await runtime.command('trace.fork', { id: 'main', as: 'fork' })
    await allow(runtime, 'fork')
    expect(await runtime.session('fork').wait('a')).toMatchObject(completed)
    expect(server.requests[1].messages[1].content[0]).toMatchObject({ signature: signed(steps[0]!.thought) })
  })

  test('another provider gets nothing of it', async () => {
    const server = await anthropic(oneCall)
    const other = await compatible({}, () => ({ thought: '', text: 'Hello.' }))
    const runtime = await aRuntime({ models: { 'test/claude': await claude(server), 'test/m': await served(other) }, model: 'test/claude' })
    expect(await say(runtime, 'add')).toMatchObject(completed)
    await runtime.session('main').configure({ model: 'test/m' })
    expect(await say(runtime, 'hello')).toMatchObject({ text: 'Hello.' })
    expect(JSON.stringify(other.requests)).not.toMatch(/signature|thinking|first I add/)
  })

  test('a redacted export has nothing of it', async () => {
    const server = await anthropic(oneCall)
    const runtime = await aRuntime({ models: { 'test/claude': await claude(server) }, model: 'test/claude' })
    await say(runtime, 'add')
    const { file } = await runtime.command<{ file: string }>('trace.export', { id: 'main' })
    const lines = file
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { bytes?: string })
    const { frames } = await runtime.command<{ frames: { bytes: string }[] }>('trace.frames', { id: 'main' })
    expect(decoded(frames)).toContain(signed(steps[0]!.thought))
    expect(decoded(lines)).not.toContain(signed(steps[0]!.thought))
    expect(decoded(lines)).not.toContain('providerMetadata')
  })

  test('history for clients has nothing of it', async () => {
    const server = await anthropic(oneCall)
    const runtime = await aRuntime({ models: { 'test/claude': await claude(server) }, model: 'test/claude' })
    await say(runtime, 'add')
    expect(JSON.stringify(await runtime.command('chat.history', { sessionKey: 'main' }))).not.toMatch(/signature|providerMetadata/)
  })

  test('a tool loop ends with a typed error where more was attached than a journal should hold', async () => {
    const server = await compatible(
      { deltas: () => [{ reasoning_details: [{ type: 'reasoning.encrypted', data: 'x'.repeat(600_000), index: 0 }] }] },
      oneCall,
    )
    const runtime = await aRuntime({ models: { 'test/m': await served(server) }, model: 'test/m' })
    await expect(say(runtime, 'add')).rejects.toMatchObject({
      code: 'provider_rejected',
      data: { charsMax: 524_288 },
      hint: expect.stringContaining('thinking'),
    })
    expect(server.requests).toHaveLength(1)
  })

  test('an answer that carries as much stays', async () => {
    const server = await compatible(
      { deltas: () => [{ reasoning_details: [{ type: 'reasoning.encrypted', data: 'x'.repeat(600_000), index: 0 }] }] },
      () => ({ thought: '', text: 'Done.' }),
    )
    const runtime = await aRuntime({ models: { 'test/m': await served(server) }, model: 'test/m' })
    expect(await say(runtime, 'hi')).toMatchObject(completed)
  })

  test('an extension that changes what people see of the reasoning leaves that of the provider', async () => {
    const quiet: Extension = { name: 'quiet', hooks: { outgoing: ({ text }) => ({ text, reasoning: '' }) } }
    const server = await anthropic(inTurn)
    const runtime = await createRuntime({
      transport: 'memory:',
      agents: [agent({ name: 'main', model: 'test/claude', thinking: 'high', tools: [add] })],
      models: { 'test/claude': await claude(server) },
      extensions: [quiet],
    })
    afterThisTest(() => runtime.close())
    expect(await say(runtime, 'add')).toMatchObject(completed)
    expect(server.requests[1].messages[1].content[0]).toMatchObject({ thinking: steps[0]!.thought })
  })

  test('a loop that an earlier version began goes on without thinking', async () => {
    const server = await anthropic((_, place) => steps[place + 1]!)
    const model = (await claude(server)) as Model
    const messages = [user('add'), assistant('One moment.', [{ callId: 'c', name: 'add', input: {} }]), result('c', 'add', { sum: 2 })]
    await model.call(aRequest({ messages, settings: { reasoning: 'high' } }), { signal: AbortSignal.timeout(5_000), onDelta: () => undefined })
    expect(server.requests[0].thinking).toEqual({ type: 'disabled' })
  })
})

describe('OpenAI responses', () => {
  test('a tool loop sends encrypted reasoning back, and nothing is stored at the provider', async () => {
    const server = await responses(inTurn)
    const model = createOpenAI({ apiKey: 'k', baseURL: `${server.url}/v1` }).responses('gpt-5.1')
    const runtime = await aRuntime({ models: { 'openai/gpt-5.1': model }, model: 'openai/gpt-5.1' })

    expect(await say(runtime, 'add')).toMatchObject(completed)
    expect(await say(runtime, 'again')).toMatchObject(completed)

    expect(server.requests).toHaveLength(6)
    expect(server.requests[1].include).toContain('reasoning.encrypted_content')
  })
})
