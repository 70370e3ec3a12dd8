/** The adapter with the real packages of the AI SDK, against local servers that speak the real wire formats. */
import { execFile } from 'node:child_process'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { promisify } from 'node:util'
import { afterEach, describe, expect, test } from 'vitest'
import { noFailPoints } from '../../src/contracts/environment.ts'
import { noUsage } from '../../src/contracts/message.ts'
import type { Model } from '../../src/contracts/model.ts'
import { createModels } from '../../src/models/models.ts'
import type { ScriptedResponse } from '../../src/models/script.ts'
import { systemClock } from '../../src/models/sleep.ts'
import { startAnthropicServer } from '../support/anthropic-server.ts'
import { type Fault, type OpenAiServerOptions, startOpenAiServer } from '../support/openai-server.ts'
import { aRequest, assistant, result, start, user } from './fixtures.ts'

const log = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined }
const environment = { clock: systemClock, random: { next: () => 0.5 }, failPoints: noFailPoints, log }
const key = 'sk-test-THISMUSTNOTBESHOWN1234'
const open: { close(): Promise<void> }[] = []
afterEach(async () => {
  await Promise.all(open.splice(0).map((server) => server.close()))
})

const openAi = async (options: OpenAiServerOptions, ref = 'openai-compatible/local') => {
  const server = await startOpenAiServer(options)
  open.push(server)
  const model = await createModels({ environment, env: { OPENAI_BASE_URL: server.url, OPENAI_API_KEY: key } }).get(ref)
  return { server, model }
}
const anthropic = async (script: ScriptedResponse[], faults: Fault[] = []) => {
  const server = await startAnthropicServer({ script, faults })
  open.push(server)
  const model = await createModels({ environment, env: { ANTHROPIC_BASE_URL: server.url, ANTHROPIC_API_KEY: key } }).get('anthropic/claude-test')
  return { server, model }
}

const addTool = { name: 'add', description: 'adds', inputSchema: { type: 'object', properties: { a: { type: 'number' } } } }
const fault = (kind: Omit<Extract<Fault, { kind: 'status' }>, 'kind'>): Fault => ({ kind: 'status', ...kind })

describe.each(['openai-compatible/local', 'openai/gpt-test'])('%s', (ref) => {
  test('streams text, puts tool calls together from fragments, and counts tokens', async () => {
    const script = [
      {
        text: 'let me add',
        calls: [{ name: 'add', input: { a: 17, b: 23 }, callId: 'c1' }],
        usage: { inputTokens: 30, outputTokens: 9, cachedInputTokens: 8 },
      },
    ]
    const { server, model } = await openAi({ script }, ref)

    const call = start(model, aRequest({ instructions: 'be brief', messages: [user('17+23?'), user('quick')], tools: [addTool] }))

    expect(await call.response).toMatchObject({
      text: 'let me add',
      calls: [{ callId: 'c1', name: 'add', input: '{"a":17,"b":23}' }],
      usage: { inputTokens: 30, outputTokens: 9, cachedInputTokens: 8 },
      finish: 'tool-calls',
      model: `${ref}-served`,
      partial: false,
    })
    expect(call.deltas.map(({ text }) => text)).toEqual(['let ', 'me ', 'add'])
    expect(server.requests[0]).toMatchObject({
      body: { stream_options: { include_usage: true }, tools: [{ function: { name: 'add' } }] },
      headers: { authorization: `Bearer ${key}` },
    })
  })

  test('sends calls and results back as the wire wants them', async () => {
    const { server, model } = await openAi({ script: () => ({ text: '40' }) }, ref)
    const messages = [user('17+23?'), assistant('', [{ callId: 'c1', name: 'add', input: { a: 17 } }]), result('c1', 'add', { sum: 40 })]

    await start(model, aRequest({ messages })).response

    expect(server.requests[0]?.body.messages.slice(1)).toMatchObject([
      { role: 'assistant', tool_calls: [{ id: 'c1', function: { name: 'add', arguments: '{"a":17}' } }] },
      { role: 'tool', tool_call_id: 'c1', content: '{"sum":40}' },
    ])
  })

  test.each<[string, Fault, object]>([
    ['401', fault({ status: 401, error: { message: `Incorrect API key provided: ${key}.`, code: 'invalid_api_key' } }), { code: 'provider_auth' }],
    ['402', fault({ status: 402 }), { code: 'provider_billing' }],
    [
      '429 with a time',
      fault({ status: 429, headers: { 'retry-after': '7' } }),
      { code: 'provider_rate_limit', data: { status: 429, retryAfterMs: 7000 } },
    ],
    [
      '429 without money',
      fault({ status: 429, error: { message: 'You exceeded your quota', code: 'insufficient_quota' } }),
      { code: 'provider_billing' },
    ],
    ['500 with a page', fault({ status: 500, body: '<html>oops</html>' }), { code: 'provider_unavailable' }],
    ['400 too long', fault({ status: 400, error: { message: 'too long', code: 'context_length_exceeded' } }), { code: 'provider_overflow' }],
    [
      '400',
      fault({ status: 400, error: { message: 'temperature is odd' } }),
      { code: 'provider_rejected', message: expect.stringContaining('temperature is odd') },
    ],
    [
      '404 of a model',
      fault({ status: 404, error: { message: 'The model `x` does not exist', code: 'model_not_found' } }),
      { code: 'provider_unknown_model' },
    ],
    ['a reset before the answer', { kind: 'reset' }, { code: 'provider_unavailable' }],
    ['a reset in mid-answer', { kind: 'reset', midway: true }, { code: 'provider_unavailable' }],
    ['a stream cut in mid-answer', { kind: 'cut' }, { code: 'provider_malformed' }],
    ['garbage', { kind: 'garbage' }, { code: 'provider_malformed' }],
    ['an endless stream', { kind: 'endless' }, { code: 'provider_malformed' }],
    ['silence', { kind: 'hang' }, { code: 'provider_timeout' }],
    ['silence in mid-answer', { kind: 'hang', midway: true }, { code: 'provider_timeout' }],
  ])('%s is a typed error after one request, without the key in it; the next call works', async (_, kind, expected) => {
    const { server, model } = await openAi({ script: () => ({ text: 'well then' }), faults: [kind] }, ref)
    const request = aRequest({ limits: { idleTimeoutMs: 200, outputCharsMax: 50_000 } })

    const error = await start(model, request).error

    expect(error).toMatchObject(expected)
    expect(JSON.stringify([error, error.stack, String(error.cause)])).not.toContain(key)
    expect(server.requests).toHaveLength(1)
    expect((await start(model, request).response).text).toBe('well then')
  })

  test('what follows the end of the answer is no part of it, and is not waited for', async () => {
    const { model } = await openAi({ script: () => ({ text: 'well then [DONE] data: [DONE]' }), faults: [{ kind: 'after-done' }] }, ref)

    const call = start(model, aRequest({ limits: { idleTimeoutMs: 60_000 } }))

    expect(await call.response).toMatchObject({ text: 'well then [DONE] data: [DONE]', finish: 'stop' })
    expect(call.deltas.map(({ text }) => text).join('')).toBe('well then [DONE] data: [DONE]')
  })

  test.each([
    '"12"',
    '12',
    'true',
    '[]',
    '["prompt_tokens"]',
    '{"prompt_tokens":"many","completion_tokens":{},"total_tokens":[]}',
    '{"prompt_tokens":1e400,"completion_tokens":-1,"total_tokens":null}',
    '{"prompt_tokens_details":7,"completion_tokens_details":{"reasoning_tokens":"many","accepted_prediction_tokens":false}}',
  ])('a usage of %s costs no answer', async (json) => {
    const { server, model } = await openAi({ script: () => ({ text: 'fine "usage":' }), faults: [{ kind: 'usage', json }] }, ref)

    const { text, finish, usage } = await start(model).response

    expect({ text, finish, usage }).toEqual({ text: 'fine "usage":', finish: 'stop', usage: noUsage })
    expect(server.requests).toHaveLength(1)
  })

  test('what is right about a usage counts, whatever else is wrong', async () => {
    const json =
      '{"prompt_tokens":12,"completion_tokens":"3","prompt_tokens_details":{"cached_tokens":4,"audio_tokens":"none"},"cost":{"total":"0.1"}}'
    const { model } = await openAi({ script: () => ({ text: 'fine' }), faults: [{ kind: 'usage', json }] }, ref)

    expect((await start(model).response).usage).toEqual({ ...noUsage, inputTokens: 12, outputTokens: 3, cachedInputTokens: 4 })
  })

  test.each([1e308, 1e300, 2 ** 53, -1, 0.1])('a usage of %d tokens leaves totals that are numbers', async (count) => {
    const { model } = await openAi(
      { script: () => ({ text: 'fine', usage: { inputTokens: count, outputTokens: count, reasoningTokens: count } }) },
      ref,
    )

    const { usage } = await start(model).response

    expect(usage).toMatchObject({ inputTokens: 0, outputTokens: 0, reasoningTokens: 0 })
  })

  test('an abort in mid-answer resolves with what has come, although the server says no more, and closes the connection', async () => {
    const { server, model } = await openAi({ script: () => ({ text: 'one two three' }), faults: [{ kind: 'hang', midway: true }] }, ref)
    const last = Promise.withResolvers<void>()
    const call = start(model, aRequest(), ({ text }) => text === 'three' && last.resolve())
    await last.promise

    call.abort()

    expect(await call.response).toMatchObject({ text: 'one two three', partial: true })
    expect(server.requests).toHaveLength(1)
  })
})

describe('anthropic', () => {
  test('streams text and calls, and gets results and instructions back in its own shape', async () => {
    const script = [
      { text: 'let me add', calls: [{ name: 'add', input: { a: 17 }, callId: 'toolu_1' }], usage: { inputTokens: 30, outputTokens: 9 } },
      { text: '40' },
    ]
    const { server, model } = await anthropic(script)
    const question = user('17+23?')

    const first = await start(model, aRequest({ instructions: 'be brief', messages: [question], tools: [addTool] })).response
    const messages = [
      question,
      assistant(first.text, [{ callId: 'toolu_1', name: 'add', input: { a: 17 } }]),
      result('toolu_1', 'add', { sum: 40 }),
      user('and?'),
    ]
    const second = await start(model, aRequest({ messages, tools: [addTool] })).response

    expect(first).toMatchObject({
      text: 'let me add',
      calls: [{ callId: 'toolu_1', name: 'add', input: '{"a":17}' }],
      finish: 'tool-calls',
      usage: { inputTokens: 30, outputTokens: 9 },
    })
    expect(second).toMatchObject({ text: '40', finish: 'stop', model: 'anthropic/claude-test' })
    expect(server.requests[1]?.body.messages.map(({ role, content }) => [role, content.map(({ type }) => type)])).toEqual([
      ['user', ['text']],
      ['assistant', ['text', 'tool_use']],
      ['user', ['tool_result', 'text']],
    ])
    expect(server.requests[0]?.headers['x-api-key']).toBe(key)
  })

  test.each<[string, Fault, object]>([
    ['529', fault({ status: 529, error: { type: 'overloaded_error', message: 'Overloaded' } }), { code: 'provider_rate_limit' }],
    [
      '400 too long',
      fault({ status: 400, error: { type: 'invalid_request_error', message: 'prompt is too long: 300000 tokens > 200000 maximum' } }),
      { code: 'provider_overflow' },
    ],
    [
      '400 without money',
      fault({ status: 400, error: { type: 'invalid_request_error', message: 'Your credit balance is too low' } }),
      { code: 'provider_billing' },
    ],
    ['401', fault({ status: 401, error: { type: 'authentication_error', message: 'invalid x-api-key' } }), { code: 'provider_auth' }],
    [
      '429',
      fault({ status: 429, headers: { 'retry-after': '2' }, error: { type: 'rate_limit_error', message: 'slow down' } }),
      { data: { retryAfterMs: 2000 } },
    ],
    ['a stream cut in mid-answer', { kind: 'cut' }, { code: 'provider_malformed' }],
    ['a reset in mid-answer', { kind: 'reset' }, { code: 'provider_unavailable' }],
    ['an error event in mid-answer', { kind: 'garbage' }, { code: 'provider_rate_limit' }],
  ])('%s is a typed error', async (_, kind, expected) => {
    const { server, model } = await anthropic([{ text: 'well then' }], [kind])

    expect(await start(model).error).toMatchObject(expected)
    expect(server.requests).toHaveLength(1)
  })
})

test.each([
  '"12"',
  'null',
  '[]',
  '{}',
  '{"input_tokens":"many","output_tokens":null}',
  '{"input_tokens":1e400,"output_tokens":-1,"service_tier":7}',
  '{"cache_read_input_tokens":"four","output_tokens_details":"none","iterations":[{"type":"message","input_tokens":"5","output_tokens":1}]}',
])('a usage of %s costs no answer of Anthropic', async (json) => {
  const { server, model } = await anthropic([{ text: 'fine "message_start"' }], [{ kind: 'usage', json }])

  const { text, finish, usage } = await start(model).response

  expect({ text, finish, usage }).toEqual({ text: 'fine "message_start"', finish: 'stop', usage: noUsage })
  expect(server.requests).toHaveLength(1)
})

describe.each(['anthropic/claude-test', 'openai/gpt-test', 'openai-compatible/local'])('a redirect by the server of %s', (ref) => {
  const variable = ref.startsWith('anthropic/') ? 'ANTHROPIC_BASE_URL' : 'OPENAI_BASE_URL'
  const keyVariable = variable.replace('BASE_URL', 'API_KEY')

  /** A server that redirects what is asked of it, and says what it was asked. */
  const redirecting = async (to: (path: string) => { status: number; location: string }) => {
    const asked: string[] = []
    const server = createServer((incoming, outgoing) => {
      asked.push(incoming.url ?? '')
      const { status, location } = to(incoming.url ?? '')
      incoming.resume().once('end', () => outgoing.writeHead(status, { location }).end())
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    open.push({ close: () => new Promise((resolve) => server.close(() => resolve()).closeAllConnections()) })
    const { port } = server.address() as AddressInfo
    const env = { [variable]: `http://127.0.0.1:${port}/v1`, [keyVariable]: key }
    return { asked, model: await createModels({ environment, env }).get(ref) }
  }

  test.each([301, 302, 303, 307, 308])('to another port is refused, and neither key nor conversation go there (%d)', async (status) => {
    const other = await (ref.startsWith('anthropic/') ? anthropic([{ text: 'mine now' }]) : openAi({ script: () => ({ text: 'mine now' }) }, ref))
    const { origin } = new URL(other.server.url)
    const { model } = await redirecting((path) => ({ status, location: `${origin}${path}?token=secret` }))

    const error = await start(model).error

    expect(error).toMatchObject({ code: 'provider_rejected', message: expect.stringContaining(origin), hint: expect.stringContaining(variable) })
    expect(error.retryable).toBe(false)
    expect(JSON.stringify(error)).not.toMatch(/secret|THISMUSTNOT/)
    expect(other.server.requests).toEqual([])
  })

  test('that has no end is given up', async () => {
    const { model, asked } = await redirecting((path) => ({ status: 307, location: path }))

    expect(await start(model).error).toMatchObject({ code: 'provider_rejected' })
    expect(asked).toHaveLength(4)
  })
})

describe.each(['anthropic/claude-test', 'openai/gpt-test', 'openai-compatible/local'])('of a server of %s that never ends', (ref) => {
  const variable = ref.startsWith('anthropic/') ? 'ANTHROPIC' : 'OPENAI'
  const bytesMax = 128 * 1024 * 1024

  test.each([
    ['its error', 400, 'application/json', 'provider_rejected'],
    ['a line of its stream', 200, 'text/event-stream', 'provider_malformed'],
  ])('%s is read so far and no further', async (_, status, type, code) => {
    const part = 'x'.repeat(1024 * 1024)
    let sentBytes = 0
    const server = createServer((incoming, outgoing) => {
      const send = () => {
        if (outgoing.destroyed || sentBytes > bytesMax) return void outgoing.destroy()
        sentBytes += part.length
        outgoing.write(part, () => setImmediate(send))
      }
      incoming.resume().once('end', () => {
        outgoing.writeHead(status, { 'content-type': type }).write('data: ')
        send()
      })
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    open.push({ close: () => new Promise((resolve) => server.close(() => resolve()).closeAllConnections()) })
    const env = { [`${variable}_BASE_URL`]: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`, [`${variable}_API_KEY`]: key }

    expect(await start(await createModels({ environment, env }).get(ref)).error).toMatchObject({ code })
    expect(sentBytes).toBeLessThan(bytesMax / 2)
  })
})

describe.each(['anthropic/claude-test', 'openai/gpt-test', 'openai-compatible/local'])('%s takes a conversation with', (ref) => {
  const script = Array.from({ length: 3 }, () => ({ text: 'fine' }))
  const opened = () => (ref.startsWith('anthropic/') ? anthropic(script) : openAi({ script }, ref))
  const called = (text: string, output: unknown = 4, isError = false) => [
    user('2+2?'),
    assistant(text, [{ callId: 'c1', name: 'add', input: {} }]),
    result('c1', 'add', output, isError),
  ]

  test.each<[string, Partial<Parameters<typeof aRequest>[0]>]>([
    ['a user who wrote white space', { messages: [user('   '), assistant('yes?'), user('hello')] }],
    ['nothing but white space', { messages: [user(' \n\t')] }],
    ['a user who wrote characters that nobody sees', { messages: [user('\u200b\u2028\ufeff')] }],
    ['a note of white space before a message', { messages: [{ role: 'user', id: 'u', text: 'hello', before: ' \n' }] }],
    ['a model that wrote line ends before a call', { messages: called('\n\n') }],
    ['a model that answered with white space', { messages: [user('hello'), assistant(' \n'), user('well?')] }],
    ['an answer at its end that ends in white space', { messages: [user('hello'), assistant('so \n')] }],
    ['a tool that returned nothing', { messages: called('', '') }],
    ['a tool that returned white space', { messages: called('', ' \n') }],
    ['a tool whose error says nothing', { messages: called('', '', true) }],
    ['instructions of white space', { instructions: ' \n' }],
  ])('%s', async (_, request) => {
    const { model } = await opened()

    expect(await start(model, aRequest(request)).response).toMatchObject({ text: 'fine' })
  })

  test.each(['', 'read the file', 'a'.repeat(65), 'größe'])('a call of a tool named "%s", which no tool can be', async (name) => {
    const { model } = await opened()
    const messages = [user('go'), assistant('', [{ callId: 'c1', name, input: {} }]), result('c1', name, { code: 'tool_unknown' }, true)]

    expect(await start(model, aRequest({ messages })).response).toMatchObject({ text: 'fine' })
  })

  test('calls whose ids another server made: with other characters, and the same again', async () => {
    const { model } = await opened()
    const call = [assistant('', [{ callId: 'functions.add:0', name: 'add', input: {} }]), result('functions.add:0', 'add', 1)]

    expect(await start(model, aRequest({ messages: [user('go'), ...call, user('again'), ...call] })).response).toMatchObject({ text: 'fine' })
  })
})

test('a server that is not there is unavailable', async () => {
  const { server, model } = await openAi({})
  await server.close()

  expect(await start(model).error).toMatchObject({ code: 'provider_unavailable', retryable: true })
})

describe.each(['openai-compatible/local', 'openai/gpt-test'])('what is wrong with OPENAI_BASE_URL is said in a hint (%s)', (ref) => {
  const failing = async (OPENAI_BASE_URL: string, OPENAI_API_KEY = key) => {
    const model = await createModels({ environment, env: { OPENAI_BASE_URL, OPENAI_API_KEY } }).get(ref)
    return start(model).error
  }
  const serve = async (options: OpenAiServerOptions = {}) => {
    const server = await startOpenAiServer(options)
    open.push(server)
    return { url: server.url, bare: server.url.replace(/\/v1$/, '') }
  }

  test('no /v1: the hint has the address with it', async () => {
    const { bare } = await serve()

    const hint = expect.stringContaining(`OPENAI_BASE_URL=${bare}/v1`)
    expect(await failing(bare)).toMatchObject({ code: 'provider_rejected', hint, data: { status: 404 } })
    expect(await failing(`${bare}/`)).toMatchObject({ hint })
  })

  test('the whole endpoint: the hint says what to leave out', async () => {
    const { url } = await serve()

    expect(await failing(`${url}/chat/completions`)).toMatchObject({ hint: 'leave /chat/completions out of OPENAI_BASE_URL: it is added' })
  })

  test('slashes and spaces around it do no harm, nor around the key', async () => {
    const server = await startOpenAiServer({ script: () => ({ text: 'fine' }) })
    open.push(server)
    const model = await createModels({ environment, env: { OPENAI_BASE_URL: `  ${server.url}// \n`, OPENAI_API_KEY: ` ${key}\n` } }).get(ref)

    expect(await start(model).response).toMatchObject({ text: 'fine' })
    expect(server.requests[0]?.headers.authorization).toBe(`Bearer ${key}`)
  })

  test('nobody there: the hint names the variable and the address', async () => {
    const { url } = await serve()
    await open.pop()?.close()

    expect(await failing(url)).toMatchObject({ code: 'provider_unavailable', hint: expect.stringContaining(`OPENAI_BASE_URL (${url})`) })
  })

  test('a key that is refused: the hint names its variable, never the key', async () => {
    const { url } = await serve({ faults: [fault({ status: 401, error: { message: `Incorrect API key provided: ${key}` } })] })

    const error = await failing(url)

    expect(error).toMatchObject({ code: 'provider_auth', hint: `check OPENAI_API_KEY: ${url} refuses it` })
    expect(JSON.stringify(error)).not.toContain(key)
  })

  test('a web page instead of an answer: the hint says to check the address', async () => {
    const { url } = await serve({ faults: [fault({ status: 200, body: '<!doctype html><html><title>Sign in</title></html>' })] })

    expect(await failing(url)).toMatchObject({ code: 'provider_malformed', hint: expect.stringContaining(`OPENAI_BASE_URL (${url})`) })
  })

  test('an answer that breaks off in the middle does not put the blame on the address', async () => {
    const { url } = await serve({ script: () => ({ text: 'well then' }), faults: [{ kind: 'cut' }] })

    const error = await failing(url)

    expect(error).toMatchObject({ code: 'provider_malformed', hint: expect.stringMatching(/^try again/) })
    expect(error.hint).not.toContain('OPENAI_BASE_URL')
  })
})

test('a server that wants a key and gets none: the hint says to set it', async () => {
  const server = await startOpenAiServer({ faults: [fault({ status: 401 })] })
  open.push(server)
  const model = await createModels({ environment, env: { OPENAI_BASE_URL: server.url } }).get('openai-compatible/local')

  expect(await start(model).error).toMatchObject({ code: 'provider_auth', hint: `set OPENAI_API_KEY: ${server.url} wants one` })
})

test('the standalone server answers as the offline stand-in does, tool calls included', async () => {
  const { model } = await openAi({})
  const tools = [{ ...addTool, name: 'calculate' }]
  const question = user('what is 17*23?')
  const step = (asked: Model, messages: (typeof question)[]) => start(asked, aRequest({ messages, tools })).response

  const { calls } = await step(model, [question])
  const callId = calls[0]?.callId ?? ''
  const asked = assistant('', [{ callId, name: 'calculate', input: { expression: '17*23' } }])
  const answer = await step(model, [question, asked, result(callId, 'calculate', { expression: '17*23', value: 391 })])

  expect(calls).toMatchObject([{ name: 'calculate', input: '{"expression":"17*23"}' }])
  expect(answer.text).toBe('17*23 = 391')
})

test.each([
  ['openai/gpt-test', 'OPENAI_BASE_URL', ''],
  ['anthropic/claude-test', 'ANTHROPIC_BASE_URL', ' '],
])('%s opens where %s is set to "%s": that is as good as not set', async (ref, name, value) => {
  // The packages of the AI SDK look at the variable when they are loaded, which is once in a process.
  const code = `
    import { createModels } from ${JSON.stringify(new URL('../../src/models/models.ts', import.meta.url).href)}
    console.log((await createModels({ environment: {} }).get('${ref}')).ref)`
  const env = { ...process.env, OPENAI_API_KEY: 'k', ANTHROPIC_API_KEY: 'k', [name]: value }

  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', code], { env })

  expect(stdout).toBe(`${ref}\n`)
})
