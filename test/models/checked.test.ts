/** A model of somebody's own: bounded in time like any provider, and believed no more. */
import { describe, expect, test } from 'vitest'
import { noFailPoints } from '../../src/contracts/environment.ts'
import { RuntimeError } from '../../src/contracts/errors.ts'
import { noUsage } from '../../src/contracts/message.ts'
import type { Model, ModelDelta, ModelRequest, ModelResponse } from '../../src/contracts/model.ts'
import { createModels } from '../../src/models/models.ts'
import { aRequest, start, virtualClock } from './fixtures.ts'

const log = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined }
const never = () => new Promise<never>(() => undefined)
const answer = (response: Partial<ModelResponse> = {}): ModelResponse => ({
  text: 'fine',
  reasoning: '',
  calls: [],
  usage: noUsage,
  finish: 'stop',
  model: 'my/own-1',
  partial: false,
  ...response,
})

/** The model as a runtime opens it. */
const own = (
  call: unknown,
  { clock = virtualClock(), ...rest }: { clock?: ReturnType<typeof virtualClock>; contextTokens?: unknown; info?: unknown } = {},
) => {
  const environment = { clock, random: { next: () => 0.5 }, failPoints: noFailPoints, log }
  return createModels({ environment, env: {}, custom: { 'my/own': { ref: 'my/own', call, ...rest } as never } }).get('my/own')
}
const saying =
  (...deltas: unknown[]): Model['call'] =>
  async (_, { onDelta }) => {
    for (const delta of deltas) onDelta(delta as ModelDelta)
    return answer()
  }

describe('limits', () => {
  test('one that never answers is given up after the idle limit, and told so', async () => {
    const clock = virtualClock()
    let told: AbortSignal | undefined
    const model = await own((_: unknown, { signal }: { signal: AbortSignal }) => ((told = signal), never()), { clock })
    const call = start(model, aRequest({ limits: { idleTimeoutMs: 1000 } }))

    await clock.advance(1250)

    expect(await call.error).toMatchObject({
      code: 'provider_timeout',
      retryable: true,
      hint: expect.stringContaining('limits.modelCall.idleTimeoutMs'),
      data: { limit: 'idle' },
    })
    expect(told?.aborted).toBe(true)
    expect(clock.pending()).toBe(0)
  })

  test('deltas are a sign of life, empty ones too, but do not move the total limit', async () => {
    const clock = virtualClock()
    const model = await own(
      (_: unknown, { onDelta }: { onDelta: (delta: ModelDelta) => void }) => {
        const tick = () => {
          onDelta({ kind: 'text', text: '' })
          clock.setTimeout(tick, 900)
        }
        tick()
        return never()
      },
      { clock },
    )
    const call = start(model, aRequest({ limits: { idleTimeoutMs: 1000, totalTimeoutMs: 10_000 } }))

    await clock.advance(10_000)

    expect(await call.error).toMatchObject({
      code: 'provider_timeout',
      hint: expect.stringContaining('limits.modelCall.totalTimeoutMs'),
      data: { limit: 'total' },
    })
  })

  test('an abort resolves at once with the text that came, although the model ignores its signal', async () => {
    const model = await own((_: unknown, { onDelta }: { onDelta: (delta: ModelDelta) => void }) => {
      onDelta({ kind: 'reasoning', text: 'hm' })
      onDelta({ kind: 'text', text: 'so far' })
      return never()
    })
    const call = start(model)

    call.abort()

    expect(await call.response).toMatchObject({ text: 'so far', reasoning: 'hm', partial: true })
    expect(call.deltas).toEqual([
      { kind: 'reasoning', text: 'hm' },
      { kind: 'text', text: 'so far' },
    ])
  })

  test('what it says after an abort reaches nobody', async () => {
    let say: (delta: ModelDelta) => void = () => undefined
    const model = await own((_: unknown, { onDelta }: { onDelta: (delta: ModelDelta) => void }) => ((say = onDelta), never()))
    const call = start(model)

    call.abort()
    await call.response
    say({ kind: 'text', text: 'too late' })

    expect(call.deltas).toEqual([])
  })

  test('a flood of deltas ends at the limit of characters, although the model goes on', async () => {
    let isOn = true
    const flood = async (_: unknown, { onDelta }: { onDelta: (delta: ModelDelta) => void }) => {
      while (isOn) {
        onDelta({ kind: 'text', text: 'la '.repeat(100) })
        await new Promise((resolve) => setImmediate(resolve))
      }
      return answer()
    }
    const call = start(await own(flood), aRequest({ limits: { outputCharsMax: 1000 } }))

    expect(await call.error).toMatchObject({ code: 'provider_malformed', data: { outputCharsMax: 1000 } })
    isOn = false
    expect(call.deltas).toHaveLength(3)
  })

  test.each([
    ['text', { text: 'x'.repeat(1001) }],
    ['the input of its calls', { calls: [{ callId: 'c', name: 't', input: 'x'.repeat(1001) }] }],
  ])('an answer whose %s is longer than the limit is refused, also without a delta', async (_, response) => {
    const call = start(await own(async () => answer(response)), aRequest({ limits: { outputCharsMax: 1000 } }))

    expect(await call.error).toMatchObject({ code: 'provider_malformed', hint: expect.stringContaining('limits.modelCall.outputCharsMax') })
  })

  test('the text of the deltas and of the answer is the same text: it counts once', async () => {
    const model = await own(saying({ kind: 'text', text: 'x'.repeat(900) }))

    expect(await start(model, aRequest({ limits: { outputCharsMax: 1000 } })).response).toMatchObject({ text: 'fine' })
  })
})

test('what it does to its request changes nothing in the conversation', async () => {
  const model = await own(async (request: ModelRequest) => {
    request.messages.length = 0
    request.settings.temperature = 2
    request.limits.outputCharsMax = 0
    for (const description of request.tools) description.inputSchema.type = 'changed'
    return answer()
  })
  const request = aRequest({ tools: [{ name: 'add', description: '', inputSchema: { type: 'object' } }] })
  const before = structuredClone(request)

  await start(model, request).response

  expect(request).toEqual(before)
})

describe('nonsense', () => {
  test.each<[string, unknown, string]>([
    ['nothing', undefined, 'kind: undefined'],
    ['a bare text', 'hello', 'kind: undefined'],
    ['an unknown kind', { kind: 'smell', text: 'x' }, 'kind: "smell"'],
    ['a text that is none', { kind: 'text', text: 7 }, 'text: 7'],
    ['a symbol', { kind: 'text', text: Symbol('x') }, 'text: Symbol(x)'],
  ])('as a delta (%s) fails the call, with the field, and reaches nobody', async (_, delta, problem) => {
    const call = start(await own(saying({ kind: 'text', text: 'a' }, delta, { kind: 'text', text: 'b' })))

    expect(await call.error).toMatchObject({
      code: 'provider_malformed',
      message: expect.stringContaining(problem),
      hint: expect.stringContaining('onDelta({'),
    })
    expect(call.deltas).toEqual([{ kind: 'text', text: 'a' }])
  })

  test('in a delta does not throw where the model calls, which may be a timer', async () => {
    let isCalm = false
    const model = await own(async (_: unknown, { onDelta }: { onDelta: (delta: unknown) => void }) => {
      onDelta(null)
      isCalm = true
      return answer()
    })

    expect(await start(model).error).toMatchObject({ code: 'provider_malformed' })
    expect(isCalm).toBe(true)
  })

  test.each<[string, unknown]>([
    ['nothing', undefined],
    ['a field of another type', answer({ text: 12 as never })],
    [
      'a getter that throws',
      {
        ...answer(),
        get text() {
          throw new Error('trap')
        },
      },
    ],
  ])('as an answer (%s) is refused', async (_, response) => {
    expect(await start(await own(async () => response)).error).toMatchObject({ code: 'provider_malformed', hint: expect.any(String) })
  })

  test('an answer that says it is partial, without an abort, is no answer', async () => {
    expect(await start(await own(async () => answer({ partial: true }))).error).toMatchObject({
      code: 'provider_malformed',
      retryable: true,
      hint: expect.stringContaining('partial'),
    })
  })

  test('calls that share an id are told apart', async () => {
    const call = { callId: 'c', name: 't', input: '{}' }

    const { calls } = await start(await own(async () => answer({ calls: [call, call, { ...call, callId: '' }] }))).response

    expect(calls.map(({ callId }) => callId)).toEqual(['c', 'c-2', 'call'])
  })

  test.each<[unknown]>([[Number.NaN], [-1], [0], [1.5], [Number.POSITIVE_INFINITY], ['128000'], [null], [{}]])(
    'contextTokens %s are refused when the model is opened',
    async (contextTokens) => {
      await expect(own(saying(), { contextTokens })).rejects.toMatchObject({
        code: 'bad_request',
        field: 'contextTokens',
        hint: expect.any(String),
      })
    },
  )

  test('contextTokens that make sense are kept', async () => {
    expect(await own(saying(), { contextTokens: 128_000 })).toMatchObject({ contextTokens: 128_000 })
  })

  test.each<[string, unknown]>([
    ['null', null],
    ['a text', 'gpt'],
    ['an object without call', {}],
  ])('what is no model (%s) is refused when it is opened', async (_, custom) => {
    const environment = { clock: virtualClock(), random: { next: () => 0.5 }, failPoints: noFailPoints, log }

    await expect(createModels({ environment, env: {}, custom: { 'my/own': custom as never } }).get('my/own')).rejects.toMatchObject({
      code: 'bad_request',
      field: 'models',
      hint: expect.stringContaining('call('),
    })
  })
})

describe('what it reports', () => {
  const reporting = async (usage: unknown) => start(await own(async () => answer({ usage: usage as never })))

  test('is read however the provider behind it spells tokens', async () => {
    const { usage } = await (await reporting({ input_tokens: 10, output_tokens: 5, cache_read_input_tokens: 30, cache_creation_input_tokens: 2 }))
      .response

    expect(usage).toEqual({ inputTokens: 42, outputTokens: 5, cachedInputTokens: 30, reasoningTokens: 0, cacheWriteTokens: 2 })
  })

  test('as an earlier version had it still fits', async () => {
    const { usage } = await (await reporting({ inputTokens: 1, outputTokens: 2, cachedInputTokens: 0, reasoningTokens: 0 })).response

    expect(usage).toEqual({ ...noUsage, inputTokens: 1, outputTokens: 2 })
  })

  test.each([[undefined], ['many'], [{}], [{ cost: 3 }]])('and is no usage at all (%j) is refused', async (usage) => {
    expect(await (await reporting(usage)).error).toMatchObject({ code: 'provider_malformed', message: expect.stringContaining('usage') })
  })

  test('what is known of the model is kept', async () => {
    const info = { contextTokens: 128_000, reasoning: true, price: { input: 3, output: 15, cacheRead: 0.3 } }

    expect(await own(saying(), { info })).toMatchObject({ info })
    expect(await own(saying())).not.toHaveProperty('info')
  })

  test.each<[unknown, string]>([
    [{ price: { input: -1, output: 1 } }, 'info.price.input'],
    [{ price: { input: 1 } }, 'info.price.output'],
    [{ contextTokens: 0.5 }, 'info.contextTokens'],
    ['cheap', 'info'],
  ])('nonsense about it (%j) is refused when the model is opened', async (info, field) => {
    await expect(own(saying(), { info })).rejects.toMatchObject({ code: 'bad_request', field, hint: expect.any(String) })
  })
})

describe('what it throws', () => {
  const throwing = async (thrown: unknown) =>
    start(
      await own(() => {
        throw thrown
      }),
    ).error
  const trap = (): never => {
    throw new Error('trap')
  }

  test('stays as it is when it is one of our errors', async () => {
    const thrown = new RuntimeError('provider_billing', 'no money', { hint: 'pay' })

    expect(await throwing(thrown)).toBe(thrown)
  })

  test.each<[string, unknown, object]>([
    ['a network error', Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' }), { code: 'provider_unavailable' }],
    ['an HTTP status', Object.assign(new Error('no'), { status: 401 }), { code: 'provider_auth' }],
    ['a defect', new TypeError('x is not a function'), { message: 'the model my/own failed: x is not a function' }],
    [
      'an error that has our name and code',
      Object.assign(new Error('forged'), { name: 'RuntimeError', code: 'fenced' }),
      { code: 'provider_unavailable', message: 'the model my/own failed: forged' },
    ],
    ['getters that throw', Object.defineProperty(new Error(), 'message', { get: trap }), { message: 'the model my/own failed' }],
    ['a proxy that throws', new Proxy({}, { get: trap, has: trap, getPrototypeOf: trap }), { message: 'the model my/own failed' }],
    ['nothing', undefined, { message: 'the model my/own failed' }],
  ])('becomes an error with a code, a cure and the name of the model: %s', async (_, thrown, expected) => {
    expect(await throwing(thrown)).toMatchObject({
      code: expect.stringMatching(/^provider_/),
      message: expect.stringMatching(/^the model my\/own failed/),
      hint: expect.any(String),
      ...expected,
    })
  })
})
