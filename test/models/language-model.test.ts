/** The adapter against hand-made models of all three specifications. */
import type { LanguageModelV4, LanguageModelV4CallOptions } from '@ai-sdk/provider'
import { describe, expect, test } from 'vitest'
import { languageModel } from '../../src/models/language-model.ts'
import type { LanguageModel } from '../../src/models/sdk-model.ts'
import { aRequest, assistant, result, start, user, virtualClock } from './fixtures.ts'

type Part = { type: string; [key: string]: unknown }

const finish = (unified: string, raw: string | undefined = unified): Part => ({
  type: 'finish',
  finishReason: { unified, raw },
  usage: { inputTokens: { total: 11, cacheRead: 4, cacheWrite: 3 }, outputTokens: { total: 5, reasoning: 2 } },
})
const text = (delta: string, id = '1'): Part => ({ type: 'text-delta', id, delta })

const streamOf = (parts: readonly Part[]) =>
  new ReadableStream<Part>({
    start(controller) {
      for (const part of parts) controller.enqueue(part)
      controller.close()
    },
  })

/** A model that streams `parts`, or whatever stream is given, and keeps the options of each call. */
const fake = (stream: readonly Part[] | (() => ReadableStream<Part>), specificationVersion = 'v4') => {
  const calls: LanguageModelV4CallOptions[] = []
  const model = {
    specificationVersion,
    provider: 'fake',
    modelId: 'f-1',
    supportedUrls: {},
    doGenerate: () => Promise.reject(new Error('not used')),
    doStream: (options: LanguageModelV4CallOptions) => {
      calls.push(options)
      return Promise.resolve({ stream: typeof stream === 'function' ? stream() : streamOf(stream) })
    },
  }
  return { calls, model: model as unknown as LanguageModel }
}

const adapted = (stream: Parameters<typeof fake>[0], { version = 'v4', clock = virtualClock() } = {}) =>
  languageModel(fake(stream, version).model, { ref: 'fake/f-1', clock })

describe('an answer', () => {
  test('is put together from overlapping blocks; unknown parts are passed over', async () => {
    const parts: Part[] = [
      { type: 'stream-start', warnings: [] },
      { type: 'response-metadata', id: 'r', modelId: 'f-1-20260101' },
      { type: 'ping' },
      { type: 'reasoning-start', id: 'r' },
      { type: 'tool-input-start', id: 'c1', toolName: 'add' },
      { type: 'reasoning-delta', id: 'r', delta: 'hm' },
      text('a', '1'),
      { type: 'tool-input-delta', id: 'c1', delta: '{"a":' },
      text('b', '2'),
      { type: 'tool-input-delta', id: 'c1', delta: '1}' },
      { type: 'hologram', data: 'from the future' },
      { type: 'tool-call', toolCallId: 'c1', toolName: 'add', input: '{"a":1}' },
      { type: 'tool-call', toolCallId: 'w1', toolName: 'web_search', input: '{}', providerExecuted: true },
      { type: 'tool-call', toolCallId: 'c1', toolName: 'add', input: '{"a":2}' },
      finish('tool-calls'),
    ]

    const call = start(adapted(parts))

    expect(await call.response).toEqual({
      text: 'ab',
      reasoning: 'hm',
      calls: [
        { callId: 'c1', name: 'add', input: '{"a":1}' },
        { callId: 'c1-2', name: 'add', input: '{"a":2}' },
      ],
      usage: { inputTokens: 11, outputTokens: 5, cachedInputTokens: 4, reasoningTokens: 2, cacheWriteTokens: 3 },
      finish: 'tool-calls',
      model: 'fake/f-1-20260101',
      partial: false,
      providerMetadata: {
        source: 'fake f',
        parts: [{ type: 'reasoning' }, { type: 'text', length: 2 }, { type: 'call', callId: 'c1' }, { type: 'call', callId: 'c1-2' }],
      },
    })
    expect(call.deltas).toEqual([
      { kind: 'reasoning', text: 'hm' },
      { kind: 'text', text: 'a' },
      { kind: 'text', text: 'b' },
    ])
  })

  test.each([
    ['that just ends', [text('half an ans')], 'provider_malformed'],
    ['that was interrupted', [text('half'), finish('interrupted', undefined)], 'provider_malformed'],
    [
      'that ends for no reason (as V3 providers report a cut)',
      [text('half'), { ...finish('other'), finishReason: { unified: 'other' } }],
      'provider_malformed',
    ],
    ['that ends in an error', [text('half'), finish('error')], 'provider_unavailable'],
    [
      'with an error in mid-stream',
      [text('half'), { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } }, finish('stop')],
      'provider_rate_limit',
    ],
    [
      'with an error and nothing else',
      [
        { type: 'error', error: 'boom' },
        { type: 'error', error: 'again' },
      ],
      'provider_unavailable',
    ],
  ])('%s is an error, never half an answer', async (_, parts, code) => {
    expect(await start(adapted(parts)).error).toMatchObject({ code, retryable: true })
  })

  test('keeps how it finished; `stop` with calls means calls', async () => {
    const call = { type: 'tool-call', toolCallId: 'c', toolName: 't', input: '{}' }
    const finishes = [[finish('length')], [finish('content-filter')], [finish('other', 'refusal')], [call, finish('stop')]]

    const answers = await Promise.all(finishes.map((parts) => start(adapted(parts)).response))

    expect(answers.map((answer) => answer.finish)).toEqual(['length', 'content-filter', 'other', 'tool-calls'])
  })

  test('that grows past its limit ends, also when only a tool input grows', async () => {
    const endless = (part: Part) => () => new ReadableStream<Part>({ pull: (controller) => controller.enqueue(part) })
    const request = aRequest({ limits: { outputCharsMax: 1000 } })

    for (const part of [text('la la'), { type: 'reasoning-delta', id: '1', delta: 'hm' }, { type: 'tool-input-delta', id: 'c', delta: '[[[[' }])
      expect(await start(adapted(endless(part)), request).error).toMatchObject({ code: 'provider_malformed', data: { outputCharsMax: 1000 } })
  })
})

describe('an answer without text or calls', () => {
  const begun: Part[] = [
    { type: 'tool-input-start', id: 'c1', toolName: 'add' },
    { type: 'tool-input-delta', id: 'c1', delta: '{"a' },
  ]

  test.each<[string, Part[], string]>([
    ['that is said to end with calls', [finish('tool-calls')], 'there are none'],
    ['whose call broke off', [...begun, finish('stop')], 'broke off'],
    ['whose call broke off, for an older provider', [...begun, finish('tool-calls')], 'broke off'],
    ['whose call was cut by the limit of tokens', [...begun, finish('length')], 'limit of output tokens'],
  ])('%s is malformed, and may be tried again', async (_, parts, message) => {
    expect(await start(adapted(parts)).error).toMatchObject({
      code: 'provider_malformed',
      retryable: true,
      message: expect.stringContaining(message),
      hint: expect.any(String),
    })
  })

  test('that has text besides a call that broke off is an answer', async () => {
    expect(await start(adapted([text('hm'), ...begun, finish('length')])).response).toMatchObject({ text: 'hm', finish: 'length' })
  })
})

describe('limits', () => {
  const silent = () => new ReadableStream<Part>({ start: (controller) => controller.enqueue(text('so far ')) })

  test('a silent provider is given up after the idle limit, although it ignores its signal', async () => {
    const clock = virtualClock()
    const call = start(adapted(silent, { clock }), aRequest({ limits: { idleTimeoutMs: 1000 } }))

    await clock.advance(1250)

    expect(await call.error).toMatchObject({ code: 'provider_timeout', retryable: true, data: { limit: 'idle' } })
    expect(clock.pending()).toBe(0)
  })

  test('pings are a sign of life, but do not move the total limit', async () => {
    const clock = virtualClock()
    const pinging = () =>
      new ReadableStream<Part>({
        start: (controller) => {
          const ping = () => {
            controller.enqueue({ type: 'ping' })
            clock.setTimeout(ping, 900)
          }
          ping()
        },
      })
    const call = start(adapted(pinging, { clock }), aRequest({ limits: { idleTimeoutMs: 1000, totalTimeoutMs: 10_000 } }))

    await clock.advance(10_000)

    expect(await call.error).toMatchObject({ code: 'provider_timeout', data: { limit: 'total' } })
  })

  test('an abort resolves at once with what has come, although the provider ignores its signal', async () => {
    const call = start(adapted(silent))
    await new Promise((resolve) => setImmediate(resolve))

    call.abort()

    expect(await call.response).toMatchObject({ text: 'so far ', partial: true })
  })

  test('an abort resolves at once while the provider has not even answered', async () => {
    const model = { specificationVersion: 'v4', doStream: () => new Promise(() => undefined) } as unknown as LanguageModelV4
    const call = start(languageModel(model, { ref: 'fake/f-1', clock: virtualClock() }))

    call.abort()

    expect(await call.response).toMatchObject({ text: '', partial: true })
  })

  test('the provider is told to stop on an abort and on a limit', async () => {
    const clock = virtualClock()
    const { model, calls } = fake(silent)
    const [aborted, late] = [1, 2].map(() => start(languageModel(model, { ref: 'fake/f-1', clock })))

    aborted?.abort()
    await clock.advance(60_000)

    await expect(aborted?.response).resolves.toMatchObject({ partial: true })
    await expect(late?.error).resolves.toMatchObject({ code: 'provider_timeout' })
    expect(calls.map(({ abortSignal }) => abortSignal?.aborted)).toEqual([true, true])
  })

  test('a stream that stays open after its end is cancelled', async () => {
    let isCancelled = false
    const open = () =>
      new ReadableStream<Part>({
        start: (controller) => {
          controller.enqueue(text('all'))
          controller.enqueue(finish('stop'))
        },
        cancel: () => void (isCancelled = true),
      })

    await start(adapted(open)).response

    expect(isCancelled).toBe(true)
  })
})

describe('older specifications', () => {
  test('V3 streams as V4 does, and is not asked for reasoning', async () => {
    const { model, calls } = fake([text('old'), finish('stop')], 'v3')

    const answer = await start(
      languageModel(model, { ref: 'fake/f-1', clock: virtualClock() }),
      aRequest({ settings: { reasoning: 'high', temperature: 0 } }),
    ).response

    expect(answer).toMatchObject({ text: 'old', usage: { inputTokens: 11, cachedInputTokens: 4 }, finish: 'stop' })
    expect(calls[0]).toMatchObject({ temperature: 0 })
    expect(calls[0]).not.toHaveProperty('reasoning')
  })

  test('V2 counts flat and ends with a word', async () => {
    const usage = { inputTokens: 9, outputTokens: 8, totalTokens: 17, reasoningTokens: 3, cachedInputTokens: 2 }
    const parts = [
      { type: 'tool-call', toolCallId: 'c', toolName: 't', input: '{}' },
      { type: 'finish', finishReason: 'tool-calls', usage },
    ]

    const answer = await start(adapted(parts, { version: 'v2' })).response

    expect(answer).toMatchObject({ finish: 'tool-calls', usage: { inputTokens: 9, outputTokens: 8, cachedInputTokens: 2, reasoningTokens: 3 } })
  })

  test('V2 says `unknown` when the stream was cut', async () => {
    expect(await start(adapted([text('half'), { type: 'finish', finishReason: 'unknown' }], { version: 'v2' })).error).toMatchObject({
      code: 'provider_malformed',
    })
  })

  test('another specification is refused', () => {
    expect(() => adapted([], { version: 'v9' })).toThrow(expect.objectContaining({ code: 'unsupported' }))
  })
})

describe('the prompt', () => {
  const promptFor = async (messages: ReturnType<typeof user>[], instructions = 'be brief') => {
    const { model, calls } = fake([finish('stop')])
    await start(languageModel(model, { ref: 'fake/f-1', clock: virtualClock() }), aRequest({ instructions, messages })).response
    return calls[0]?.prompt
  }

  test('holds instructions, summary and users merged, calls with their results right behind', async () => {
    const prompt = await promptFor([
      { role: 'summary', id: 's1', text: 'they met' },
      user('add'),
      user('and read'),
      assistant('sure', [
        { callId: 'c1', name: 'add', input: { a: 1 } },
        { callId: 'c2', name: 'read', input: 'not json' },
        { callId: 'c3', name: 'now', input: {} },
      ]),
      result('c2', 'read', { code: 'tool_failed', message: 'gone' }, true),
      user('hurry'),
      result('c1', 'add', 2),
    ])

    expect(prompt).toEqual([
      { role: 'system', content: 'be brief' },
      {
        role: 'user',
        content: [
          { type: 'text', text: expect.stringMatching(/^Summary of the conversation.*they met$/s) },
          { type: 'text', text: 'add' },
          { type: 'text', text: 'and read' },
        ],
      },
      {
        role: 'assistant',
        content: [
          { type: 'text', text: 'sure' },
          { type: 'tool-call', toolCallId: 'c1', toolName: 'add', input: { a: 1 } },
          { type: 'tool-call', toolCallId: 'c2', toolName: 'read', input: { invalid: 'not json' } },
          { type: 'tool-call', toolCallId: 'c3', toolName: 'now', input: {} },
        ],
      },
      {
        role: 'tool',
        content: [
          { type: 'tool-result', toolCallId: 'c1', toolName: 'add', output: { type: 'json', value: 2 } },
          {
            type: 'tool-result',
            toolCallId: 'c2',
            toolName: 'read',
            output: { type: 'error-json', value: { code: 'tool_failed', message: 'gone' } },
          },
          { type: 'tool-result', toolCallId: 'c3', toolName: 'now', output: { type: 'error-text', value: 'no result: the call was stopped' } },
        ],
      },
      { role: 'user', content: [{ type: 'text', text: 'hurry' }] },
    ])
  })

  test('leaves out answers without content and results without a call', async () => {
    const prompt = await promptFor([user('a'), assistant(''), user('b'), result('lost', 'add', 1)], '')

    expect(prompt).toEqual([
      {
        role: 'user',
        content: [
          { type: 'text', text: 'a' },
          { type: 'text', text: 'b' },
        ],
      },
    ])
  })
})
