import { describe, expect, test } from 'vitest'
import { RuntimeError } from '../../src/contracts/errors.ts'
import { codeOfStatus } from '../../src/models/provider-error.ts'
import { parseScript } from '../../src/models/script.ts'
import { scriptedModel } from '../../src/models/scripted.ts'
import { aRequest, assistant, start, user, virtualClock } from './fixtures.ts'

const fail = (message: string): never => {
  throw new Error(message)
}

describe('a scripted model', () => {
  test('streams reasoning and text, then hands out calls, usage and the way it finished', async () => {
    const model = scriptedModel([
      { reasoning: 'hm', text: 'let me see', calls: [{ name: 'add', input: { a: 1 }, callId: 'c1' }], usage: { inputTokens: 7, outputTokens: 3 } },
    ])

    const call = start(model)

    await expect(call.response).resolves.toEqual({
      text: 'let me see',
      reasoning: 'hm',
      calls: [{ callId: 'c1', name: 'add', input: '{"a":1}' }],
      usage: { inputTokens: 7, outputTokens: 3, cachedInputTokens: 0, reasoningTokens: 0, cacheWriteTokens: 0 },
      finish: 'tool-calls',
      model: 'scripted/test',
      partial: false,
    })
    expect(call.deltas.map(({ kind, text }) => `${kind}:${text}`)).toEqual(['reasoning:hm', 'text:let ', 'text:me ', 'text:see'])
  })

  test('plays the response that the conversation is at, so a new process goes on where the old one was', async () => {
    const script = [{ text: 'one' }, { text: 'two' }]
    const messages = [user('a'), assistant('one'), user('b')]

    const [first, resumed] = [start(scriptedModel(script)), start(scriptedModel(script), aRequest({ messages }))]

    expect((await first.response).text).toBe('one')
    expect((await resumed.response).text).toBe('two')
  })

  test('refuses a request after the end of the script', async () => {
    const call = start(scriptedModel([{ text: 'one' }]), aRequest({ messages: [user('a'), assistant('one'), user('b')] }))

    expect(await call.error).toMatchObject({ code: 'provider_rejected', message: 'the script has ended after 1 responses', retryable: false })
  })

  test('gives a call the same id in every attempt, and another id in another conversation', async () => {
    const script = [{ calls: [{ name: 'now' }, { name: 'now' }] }]
    const request = aRequest()

    const ids = async (asked = request) => (await start(scriptedModel(script), asked).response).calls.map(({ callId }) => callId)

    expect(await ids()).toEqual(await ids())
    expect(new Set([...(await ids()), ...(await ids(aRequest()))]).size).toBe(4)
  })

  test('fails once with each of its errors, per conversation, then answers', async () => {
    const model = scriptedModel([{ text: 'fine', errors: [{ status: 429, retryAfterMs: 1500 }, { code: 'provider_unavailable' }] }])
    const [mine, other] = [aRequest(), aRequest()]

    expect(await start(model, mine).error).toMatchObject({ code: 'provider_rate_limit', retryable: true, data: { retryAfterMs: 1500 } })
    expect(await start(model, mine).error).toMatchObject({ code: 'provider_unavailable' })
    expect((await start(model, mine).response).text).toBe('fine')
    expect(await start(model, other).error).toMatchObject({ code: 'provider_rate_limit' })
  })

  test.each([
    ['cut in mid-word', { text: 'unfinished business', cutAfter: 4 }, 'unfi', 'provider_malformed'],
    ['unreadable', { text: 'then', garbage: true }, 'then', 'provider_malformed'],
    ['broken after some text', { text: 'then', error: { status: 503 } }, 'then', 'provider_unavailable'],
  ])('an answer that is %s is an error, never half an answer', async (_, response, shown, code) => {
    const call = start(scriptedModel([response]))

    expect(await call.error).toMatchObject({ code, retryable: true })
    expect(call.deltas.map(({ text }) => text).join('')).toBe(shown)
  })

  test('an endless answer ends at the limit of characters, with or without delays', async () => {
    const clock = virtualClock()
    const limits = { outputCharsMax: 5000 }
    const [fast, slow] = [
      start(scriptedModel([{ text: 'la ', endless: true }], { clock }), aRequest({ limits })),
      start(scriptedModel([{ text: 'la ', endless: true, deltaDelayMs: 1 }], { clock }), aRequest({ limits })),
    ]

    await clock.advance(3000)

    expect(await fast.error).toMatchObject({ code: 'provider_malformed', message: 'the answer has more than 5000 characters' })
    expect(await slow.error).toMatchObject({ code: 'provider_malformed' })
    expect(clock.pending()).toBe(0)
  })

  test('a hang ends by the idle limit, a slow stream only by the total limit', async () => {
    const clock = virtualClock()
    const limits = { idleTimeoutMs: 1000, totalTimeoutMs: 5000 }
    const hanging = start(scriptedModel([{ text: 'well', hang: true }], { clock }), aRequest({ limits }))
    const slow = start(scriptedModel([{ text: 'a b c', endless: true, deltaDelayMs: 400 }], { clock }), aRequest({ limits }))

    await clock.advance(1250)
    expect(await hanging.error).toMatchObject({ code: 'provider_timeout', data: { limit: 'idle' } })
    await clock.advance(3750)

    expect(await slow.error).toMatchObject({ code: 'provider_timeout', data: { limit: 'total' } })
    expect(slow.deltas.length).toBeGreaterThan(10)
    expect(clock.pending()).toBe(0)
  })

  test('nothing is silent for less than the idle limit', async () => {
    const clock = virtualClock()
    const call = start(scriptedModel([{ text: 'a b', deltaDelayMs: 990 }], { clock }), aRequest({ limits: { idleTimeoutMs: 1000 } }))

    await clock.advance(2000)

    expect((await call.response).text).toBe('a b')
  })

  test('an abort gives what has come so far, and nothing comes after it', async () => {
    const clock = virtualClock()
    const call = start(scriptedModel([{ text: 'one two three', deltaDelayMs: 100 }], { clock }))
    await clock.advance(150)

    call.abort()
    const answer = await call.response
    await clock.advance(1000)

    expect(answer).toMatchObject({ text: 'one two ', partial: true, calls: [] })
    expect(call.deltas).toHaveLength(2)
    expect(clock.pending()).toBe(0)
  })

  test('a call whose signal has aborted before it begins answers nothing', async () => {
    const signal = AbortSignal.abort()

    const answer = await scriptedModel([{ text: 'one' }]).call(aRequest(), { signal, onDelta: () => expect.unreachable() })

    expect(answer).toMatchObject({ text: '', partial: true })
  })

  test('an abort from within a delta stops before the next one', async () => {
    const call = start(scriptedModel([{ text: 'one two three' }]), aRequest(), () => call.abort())

    expect(await call.response).toMatchObject({ text: 'one ', partial: true })
    expect(call.deltas).toHaveLength(1)
  })

  test('waits by the injected clock before the first token', async () => {
    const clock = virtualClock()
    const call = start(scriptedModel([{ text: 'late', delayMs: 3000 }], { clock }))

    await clock.advance(2999)
    expect(call.deltas).toEqual([])
    await clock.advance(1)

    expect((await call.response).text).toBe('late')
  })

  test('a function answers by the request, and chunks are streamed as they are cut', async () => {
    const model = scriptedModel(({ messages }) => ({ chunks: ['n', ' = ', String(messages.length)] }), { ref: 'scripted/count' })

    const call = start(model)

    expect(await call.response).toMatchObject({ text: 'n = 1', model: 'scripted/count' })
    expect(call.deltas.map(({ text }) => text)).toEqual(['n', ' = ', '1'])
  })

  test('what a function does to its request changes nothing in the conversation', async () => {
    const request = aRequest()
    const before = structuredClone(request)

    await start(
      scriptedModel(({ messages }) => ({ text: `${messages.splice(0).length}` })),
      request,
    ).response

    expect(request).toEqual(before)
  })

  test.each<[string, () => unknown, string]>([
    ['a text that is none', () => ({ text: 5 }), 'text'],
    ['nothing', () => undefined, 'answer'],
    ['what cannot be read', () => Object.defineProperty({}, 'text', { enumerable: true, get: () => fail('no') }), 'cannot be read: no'],
    [
      'an exception',
      () => {
        throw new Error('my mistake')
      },
      'my mistake',
    ],
    ['a rejection', () => Promise.reject(new Error('much later')), 'threw: much later'],
  ])('%s from a function is malformed, with a hint', async (_, script, message) => {
    expect(await start(scriptedModel(script as never)).error).toMatchObject({
      code: 'provider_malformed',
      message: expect.stringContaining(message),
      hint: expect.any(String),
    })
  })

  test('an error of ours from a function stays what it is', async () => {
    const script = () => Promise.reject(new RuntimeError('provider_auth', 'no key'))

    expect(await start(scriptedModel(script)).error).toMatchObject({ code: 'provider_auth' })
  })

  test('a call may carry broken JSON', async () => {
    const { response } = start(scriptedModel([{ rawCalls: [{ name: 'add', input: '{"a":' }] }]))

    expect((await response).calls).toMatchObject([{ name: 'add', input: '{"a":' }])
  })
})

describe('a script', () => {
  test('is refused with the field and the line of each mistake', () => {
    const yaml = '- text: fine\n- text: 7\n- calls:\n    - nmae: add\n'

    expect(() => parseScript(yaml, 'demo.yaml')).toThrow(
      expect.objectContaining({
        code: 'bad_request',
        message: expect.stringMatching(/demo\.yaml.*line 2, \[1\]\.text.*line 4, \[2\]\.calls\[0\]\.name/s),
      }),
    )
    expect(() => parseScript('[{"texxt": "a"}]', 'demo.json')).toThrow(/line 1, \[0\]: Unrecognized key: "texxt"/)
    expect(() => parseScript('- text: "never closed\n', 'demo.yaml')).toThrow(/demo\.yaml", line/)
    expect(() => scriptedModel([{ text: 'a', chunks: ['a'] }])).toThrow(/give text or chunks, not both/)
    expect(() => scriptedModel([{ error: { message: 'neither' } }])).toThrow(/\[0\]\.error: give a code or a status/)
  })

  test('is JSON or YAML, a list or an object with responses', () => {
    const expected = [{ text: 'hi', delayMs: 5 }]

    expect(parseScript('[{"text":"hi","delayMs":5}]', 'a.json')).toEqual(expected)
    expect(parseScript('- text: hi\n  delayMs: 5\n', 'a.yaml')).toEqual(expected)
    expect(parseScript('responses:\n  - { text: hi, delayMs: 5 }\n', 'a.yaml')).toEqual(expected)
  })

  test('that unfolds without end is refused', () => {
    const bomb = `a: &a [x,x,x,x,x,x,x,x,x]\n${'bcdefghi'
      .split('')
      .map((name, index) => `${name}: &${name} [${`*${'abcdefghi'[index]},`.repeat(9)}]`)
      .join('\n')}\nresponses: *i\n`

    expect(() => parseScript(bomb, 'bomb.yaml')).toThrow(expect.objectContaining({ code: 'bad_request' }))
  })
})

test('statuses have the meaning that providers give them', () => {
  expect([401, 402, 403, 408, 413, 422, 429, 500, 503, 504, 529].map(codeOfStatus)).toEqual(
    ['auth', 'billing', 'auth', 'timeout', 'overflow', 'rejected', 'rate_limit', 'unavailable', 'unavailable', 'timeout', 'rate_limit'].map(
      (name) => `provider_${name}`,
    ),
  )
})
