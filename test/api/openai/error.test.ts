/** What is refused, in the shape that clients of OpenAI read. */
import { readFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { RateLimitError } from 'openai'
import { expect, test } from 'vitest'
import { ignoredFields } from '../../../src/api/openai/fields.ts'
import { repository } from '../../tidy/sources.ts'
import { token } from '../http/harness.ts'
import { all, anOpenAiGateway } from './harness.ts'

const messages = [{ role: 'user' as const, content: 'hi' }]
const post = (body: unknown) => ({ body: typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body) })

test.each([
  ['tools', { tools: [{ type: 'custom', custom: { name: 'f' } }] }, 'tools'],
  ['tools of old', { functions: [{ name: 'f' }] }, 'functions'],
  ['a tool of the agent that must be called', { tool_choice: 'required' }, 'tool_choice'],
  ['several answers', { n: 2 }, 'n'],
  ['a grammar', { response_format: { type: 'grammar' } }, 'response_format'],
  ['sound', { modalities: ['text', 'audio'] }, 'modalities'],
])('%s cannot be had from chat completions, and the error says what can', async (_, more, param) => {
  const { client, keys } = await anOpenAiGateway()

  const asking = client().chat.completions.create({ model: 'main', messages, ...(more as object) })

  await expect(asking).rejects.toMatchObject({
    status: 400,
    type: 'invalid_request_error',
    code: 'unsupported_parameter',
    param,
    message: expect.stringMatching(/\(.+\)$/),
  })
  expect(await keys()).toEqual([])
})

test.each([
  ['tools', { tools: [{ type: 'web_search' }] }, 'tools'],
  ['work in the background', { background: true }, 'background'],
  ['a conversation of theirs', { conversation: 'conv_1' }, 'conversation'],
  ['a grammar', { text: { format: { type: 'grammar' } } }, 'text.format'],
])('%s cannot be had from responses', async (_, more, param) => {
  const { client } = await anOpenAiGateway()

  const asking = client().responses.create({ model: 'main', input: 'hi', ...(more as object) })

  await expect(asking).rejects.toMatchObject({ status: 400, code: 'unsupported_parameter', param })
})

test('what asks for nothing special is no reason to refuse, nor is what only steers a model', async () => {
  const { client } = await anOpenAiGateway()
  const chat = Object.fromEntries(ignoredFields.chat.map((name) => [name, 1]))
  const responses = Object.fromEntries(ignoredFields.responses.map((name) => [name, 1]))

  const completion = await client().chat.completions.create({
    ...chat,
    model: 'main',
    messages,
    n: 1,
    tools: [],
    tool_choice: 'auto',
    response_format: { type: 'text' },
    reasoning_effort: 'low',
    stream_options: null,
  })
  const response = await client().responses.create({ ...responses, model: 'main', input: 'hi', tools: [], text: { format: { type: 'text' } } })

  expect([completion.choices[0]?.message.content, response.output_text]).toEqual(['echo hi', 'echo hi'])
})

test.each([
  [
    'a picture that is none',
    { messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url: 'x' } }] }] },
    'messages[0].content[0].image_url',
  ],
  ['no messages', { messages: [] }, 'messages'],
  ['no message of the user', { messages: [{ role: 'system', content: 'be brief' }] }, 'messages'],
  ['an empty message', { messages: [{ role: 'user', content: '' }] }, 'messages[0]'],
  ['half a character', { messages: [{ role: 'user', content: '\ud800' }] }, 'messages[0]'],
  [
    'a result of a tool that was not called',
    { messages: [...messages, { role: 'tool', tool_call_id: 'c', content: 'x' }] },
    'messages[1].tool_call_id',
  ],
  ['a role that nobody has', { messages: [{ role: 'boss', content: 'x' }] }, 'messages[0].role'],
  ['a message that is none', { messages: [7] }, 'messages[0]'],
  ['no model', { model: undefined, messages }, 'model'],
  ['a word for a switch', { messages, stream: 'yes' }, 'stream'],
  ['a field that nobody knows', { messages, temperatur: 1 }, 'temperatur'],
])('%s is refused by the name of its field', async (_, body, param) => {
  const { call, keys } = await anOpenAiGateway()

  const { status, json } = await call('POST', '/v1/chat/completions', post({ model: 'main', ...body }))

  expect(status).toBe(400)
  expect(json.error).toEqual({ message: expect.any(String), type: 'invalid_request_error', code: expect.any(String), param })
  expect(await keys()).toEqual([])
})

test.each([
  ['nothing', { input: '' }, 'input'],
  ['a list of nothing', { input: [] }, 'input'],
  ['a number', { input: 7 }, 'input'],
  [
    'a call of a tool that nobody answered',
    { input: [{ role: 'user', content: 'x' }, { type: 'reasoning' }, { type: 'function_call', call_id: 'c', name: 'f', arguments: '{}' }] },
    'input[2]',
  ],
  ['a call of a tool without a name', { input: [{ type: 'function_call', call_id: 'c', arguments: '{}' }] }, 'input[0].name'],
  ['a picture that is none', { input: [{ role: 'user', content: [{ type: 'input_image', image_url: 'x' }] }] }, 'input[0].content[0].image_url'],
  ['an item of somewhere else', { input: [{ type: 'computer_call', id: 'x' }] }, 'input[0].type'],
])('%s as the input of a response is refused by the name of its field', async (_, body, param) => {
  const { call } = await anOpenAiGateway()

  const { status, json } = await call('POST', '/v1/responses', post({ model: 'main', ...body }))

  expect([status, json.error.param]).toEqual([400, param])
})

test('a body that is no JSON, no object, no UTF-8 or too large is refused as it comes', async () => {
  const { call } = await anOpenAiGateway()
  const chat = async (body: string | Buffer) => {
    const { status, json } = await call('POST', '/v1/chat/completions', post(body))
    return [status, json.error.type, json.error.code]
  }

  expect(await chat('{"model":')).toEqual([400, 'invalid_request_error', 'bad_request'])
  expect(await chat('')).toEqual([400, 'invalid_request_error', 'bad_request'])
  expect(await chat('[]')).toEqual([400, 'invalid_request_error', 'bad_request'])
  expect(await chat(Buffer.from([0x7b, 0xff, 0x7d]))).toEqual([400, 'invalid_request_error', 'bad_request'])
  expect(await chat('x'.repeat(8 * 1024 * 1024 + 1))).toEqual([413, 'invalid_request_error', 'too_large'])
})

test('more than a message may hold is refused, with the way out', async () => {
  const { client } = await anOpenAiGateway()

  const asking = client().chat.completions.create({ model: 'main', messages: [{ role: 'system', content: 'x'.repeat(200_001) }, ...messages] })

  await expect(asking).rejects.toMatchObject({
    status: 413,
    code: 'context_length_exceeded',
    param: 'messages',
    message: expect.stringContaining('x-statecast-session'),
  })
})

test('a prototype in a body changes nothing, and nesting without end neither', async () => {
  const { call } = await anOpenAiGateway()
  const deep = `${'['.repeat(200_000)}${']'.repeat(200_000)}`
  const chat = (body: string) => call('POST', '/v1/chat/completions', post(body))

  const own = await chat('{"model":"main","messages":[{"role":"user","content":"hi"}],"__proto__":{"stream":true}}')
  const within = await chat('{"model":"main","messages":[{"role":"user","content":"hi","__proto__":{"name":{}}}]}')
  const constructed = await chat('{"model":"main","messages":[{"role":"user","content":"hi"}],"constructor":1}')
  const unread = await chat(`{"model":"main","messages":[{"role":"user","content":"hi"}],"metadata":${deep}}`)
  const used = await chat(`{"model":"main","messages":[{"role":"user","content":${deep}}]}`)
  const item = await call('POST', '/v1/responses', post(`{"model":"main","input":[{"type":"__proto__","role":${deep}}]}`))

  expect([own.status, own.json.error.param]).toEqual([400, '__proto__'])
  expect([within.status, within.json.choices[0].message.content]).toEqual([200, 'echo hi'])
  expect([constructed.status, constructed.json.error.param]).toEqual([400, 'constructor'])
  for (const nested of [unread, used, item])
    expect([nested.status, nested.json.error]).toEqual([400, expect.objectContaining({ message: expect.stringContaining('nested') })])
})

test('headers that name nothing are refused, and a line break in one names nothing else', async () => {
  const { call, gateway, keys } = await anOpenAiGateway()
  const chat = (headers: Record<string, string>) => call('POST', '/v1/chat/completions', { ...post({ model: 'main', messages }), headers })

  expect((await chat({ 'x-statecast-session': 'caf\u00e9' })).json.error).toMatchObject({ code: 'bad_request', param: 'x-statecast-session' })
  expect((await chat({ 'x-statecast-session': '' })).status).toBe(400)
  expect((await chat({ 'x-statecast-session': 'x'.repeat(1025) })).status).toBe(400)
  expect((await chat({ 'idempotency-key': 'x'.repeat(201) })).json.error).toMatchObject({ code: 'bad_request', param: 'Idempotency-Key' })

  const body = JSON.stringify({ model: 'main', messages })
  const lines = [
    'POST /v1/chat/completions HTTP/1.1',
    `host: ${new URL(gateway.url).host}`,
    `authorization: Bearer ${token}`,
    'x-statecast-session: home\nx-other: 1\r\tmore',
    `content-length: ${body.length}`,
    'connection: close',
  ]
  const { hostname, port } = new URL(gateway.url)
  const socket = connect(Number(port), hostname)
  socket.end(`${lines.join('\r\n')}\r\n\r\n${body}`)
  expect(Buffer.concat(await all(socket)).toString()).toMatch(/^HTTP\/1\.1 400 /)
  expect(await keys()).toEqual([])
})

test('who has no token, and who tries too many, is told so in their shape', async () => {
  const { client, call } = await anOpenAiGateway({ limits: { wrongTokensMax: 2 } })

  await expect(client({ apiKey: 'wrong' }).models.list()).rejects.toMatchObject({
    status: 401,
    code: 'invalid_api_key',
    type: 'authentication_error',
  })
  await expect(client({ apiKey: 'wrong' }).models.list()).rejects.toMatchObject({ status: 401 })
  const limited: unknown = await client({ apiKey: 'wrong' })
    .models.list()
    .catch((error: unknown) => error)

  expect(limited).toBeInstanceOf(RateLimitError)
  expect(limited).toMatchObject({ code: 'rate_limit_exceeded', type: 'rate_limit_error' })
  // The other doors keep theirs.
  expect((await call('GET', '/nothing')).json.error).toMatchObject({ code: 'not_found', retryable: false })
  expect((await call('GET', '/v1/nothing')).json.error).toMatchObject({ code: 'not_found', param: null })
})

test('an answer takes up a place until it is over', async () => {
  const { client } = await anOpenAiGateway({ limits: { streamsPerTokenMax: 1 } })
  const ask = (content: string) => client().chat.completions.create({ model: 'main', messages: [{ role: 'user', content }], stream: true })

  const first = await ask('hang')
  await expect(ask('hi')).rejects.toMatchObject({ status: 429, code: 'rate_limit_exceeded' })

  for await (const { choices } of first) if (choices[0]?.delta.content) first.controller.abort()
  await expect.poll(async () => (await ask('hi').catch(() => undefined)) !== undefined).toBe(true)
})

test('a model that fails is an error with its status, and an event in a stream that has begun', async () => {
  const { client } = await anOpenAiGateway()
  const broken = [{ role: 'user' as const, content: 'break' }]

  await expect(client().chat.completions.create({ model: 'main', messages: broken })).rejects.toMatchObject({
    status: 502,
    type: 'server_error',
    code: 'provider_rejected',
  })
  await expect(client().chat.completions.create({ model: 'main', messages: [{ role: 'user', content: 'busy' }] })).rejects.toMatchObject({
    status: 400,
    code: 'context_length_exceeded',
  })
  const heard: string[] = []
  const stream = await client().chat.completions.create({ model: 'main', messages: broken, stream: true })
  const reading = (async () => {
    for await (const { choices } of stream) heard.push(choices[0]?.delta.content ?? '')
  })()

  await expect(reading).rejects.toMatchObject({ code: 'provider_rejected', message: expect.stringContaining('no more') })
  expect(heard.join('')).toBe('so far')
})

test('a node that shuts down takes no more, and says that it is worth another try', async () => {
  const { client, gateway } = await anOpenAiGateway()

  gateway.drain()
  const asking = client().chat.completions.create({ model: 'main', messages })

  await expect(asking).rejects.toMatchObject({ status: 503, code: 'closed', headers: expect.any(Headers) })
  expect((await client().models.list()).data).toHaveLength(2)
})

test('the page names every field that does nothing here', () => {
  const page = readFileSync(join(repository, 'docs/reference/openai.md'), 'utf8')
  const [, listed = ''] = /These are taken and do nothing(.*?)\n\n/s.exec(page) ?? []
  const names = [...listed.matchAll(/`(\w+)`/g)].map(([, name]) => name)

  expect(new Set(names)).toEqual(new Set([...ignoredFields.chat, ...ignoredFields.responses]))
})
