import { expect, test, vi } from 'vitest'
import { all, anOpenAiGateway } from './harness.ts'

test('a response has its items, its usage, and stays', async () => {
  const { client, keys } = await anOpenAiGateway()

  const response = await client().responses.create({ model: 'main', input: 'think' })

  expect(response).toMatchObject({
    object: 'response',
    status: 'completed',
    model: 'main',
    output: [
      { type: 'reasoning', summary: [{ type: 'summary_text', text: 'let me see' }] },
      { type: 'message', role: 'assistant', status: 'completed', content: [{ type: 'output_text', text: 'forty-two' }] },
    ],
    usage: {
      input_tokens: 100,
      output_tokens: 20,
      total_tokens: 120,
      input_tokens_details: { cached_tokens: 40 },
      output_tokens_details: { reasoning_tokens: 5 },
    },
  })
  expect(response.output_text).toBe('forty-two')
  expect(await keys()).toHaveLength(1)
})

test('a stream has every event in its order, numbered, and ends with the same response', async () => {
  const { client } = await anOpenAiGateway()

  const events = await all(await client().responses.create({ model: 'main', input: 'think', stream: true }))

  const types = events.map(({ type }) => type)
  expect(types.filter((type, index) => !type.endsWith('.delta') || types[index - 1] !== type)).toEqual([
    'response.created',
    'response.in_progress',
    'response.output_item.added',
    'response.reasoning_summary_part.added',
    'response.reasoning_summary_text.delta',
    'response.reasoning_summary_text.done',
    'response.reasoning_summary_part.done',
    'response.output_item.done',
    'response.output_item.added',
    'response.content_part.added',
    'response.output_text.delta',
    'response.output_text.done',
    'response.content_part.done',
    'response.output_item.done',
    'response.completed',
  ])
  expect(events.map(({ sequence_number }) => sequence_number)).toEqual(events.map((_, index) => index))
  const deltas = events.filter((event) => event.type === 'response.output_text.delta')
  expect(deltas.map(({ delta }) => delta).join('')).toBe('forty-two')
  expect(deltas[0]).toMatchObject({ output_index: 1, content_index: 0, item_id: expect.stringMatching(/^msg_/) })
  const last = events.at(-1)
  expect(last?.type === 'response.completed' && last.response).toMatchObject({
    status: 'completed',
    output: [{ type: 'reasoning' }, { type: 'message', content: [{ text: 'forty-two' }] }],
    usage: { input_tokens: 100 },
  })
})

test("the package's own accumulator of a stream comes to the same response", async () => {
  const { client } = await anOpenAiGateway()

  const streamed = await client().responses.stream({ model: 'main', input: 'weather' }).finalResponse()
  const whole = await client().responses.create({ model: 'main', input: 'weather' })

  expect(streamed.output_text).toBe('I look it up.\n\nit is sunny')
  expect(whole.output_text).toBe('I look it up.\n\nit is sunny')
})

test('the next response continues the conversation of the one before', async () => {
  const { client, prompts, keys } = await anOpenAiGateway()

  const first = await client().responses.create({ model: 'main', input: 'one', instructions: 'be brief' })
  const second = await client().responses.create({ model: 'main', input: 'two', previous_response_id: first.id, store: false })
  const third = await client().responses.create({ model: 'main', input: [{ role: 'user', content: 'three' }], previous_response_id: second.id })

  expect(third).toMatchObject({ previous_response_id: second.id, output: [{ content: [{ text: 'echo three' }] }] })
  expect(prompts.at(-1)).toHaveLength(5)
  expect(await keys()).toHaveLength(1)
})

test('a response that is not the newest one cannot be continued, and the error says what can', async () => {
  const { client } = await anOpenAiGateway()
  const first = await client().responses.create({ model: 'main', input: 'one' })
  await client().responses.create({ model: 'main', input: 'two', previous_response_id: first.id })

  const again = client({ maxRetries: 3 }).responses.create({ model: 'main', input: 'other two', previous_response_id: first.id })

  await expect(again).rejects.toMatchObject({
    status: 409,
    code: 'previous_response_not_newest',
    param: 'previous_response_id',
    message: expect.stringContaining('x-statecast-session: v1:'),
  })
})

test('of two that continue the same response at once, one is taken', async () => {
  const { client } = await anOpenAiGateway()
  const { id } = await client().responses.create({ model: 'main', input: 'one' })

  const both = await Promise.allSettled(
    ['two', 'other two'].map((input) => client().responses.create({ model: 'main', input, previous_response_id: id })),
  )

  expect(both.map(({ status }) => status)).toEqual(['fulfilled', 'rejected'])
})

test('a continuation that is repeated with its key gets its own answer, though it is what made the conversation go on', async () => {
  const { client, prompts } = await anOpenAiGateway()
  const { id } = await client().responses.create({ model: 'main', input: 'one' })
  const next = () =>
    client().responses.create({ model: 'main', input: 'two', previous_response_id: id }, { headers: { 'Idempotency-Key': 'second' } })

  const [once, again] = [await next(), await next()]

  expect(again).toMatchObject({ id: once.id, output: once.output })
  expect(prompts).toHaveLength(2)
})

test('what nobody stored, or somebody made up, cannot be continued', async () => {
  const { client, keys } = await anOpenAiGateway()
  const { id } = await client().responses.create({ model: 'main', input: 'one', store: false })
  await vi.waitFor(async () => expect(await keys()).toEqual([]))

  const madeUp = ['["__proto__","x"]', '["caf\u00e9","x"]', '["home\\r\\nx: y","x"]', '{}', '[1,2]'].map(
    (text) => `resp_${Buffer.from(text).toString('base64url')}`,
  )
  for (const previous_response_id of [id, 'resp_nonsense', 'resp_', ...madeUp])
    await expect(client().responses.create({ model: 'main', input: 'two', previous_response_id })).rejects.toMatchObject({
      status: 404,
      code: 'previous_response_not_found',
    })
})

test('an answer that was cut is incomplete, and one that failed has failed', async () => {
  const { client } = await anOpenAiGateway()

  const cut = await client().responses.create({ model: 'main', input: 'long' })
  const failed = await all(await client().responses.create({ model: 'main', input: 'break', stream: true }))

  expect(cut).toMatchObject({ status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } })
  expect(failed.at(-1)).toMatchObject({ type: 'response.failed', response: { status: 'failed', error: { code: 'provider_rejected' } } })
  await expect(client().responses.create({ model: 'main', input: 'break' })).rejects.toMatchObject({ status: 502, code: 'provider_rejected' })
})

test('items that a client got are told to the model with their roles, and what a model thought is not', async () => {
  const { client, prompts } = await anOpenAiGateway()

  await client().responses.create({
    model: 'main',
    instructions: 'be brief',
    input: [
      { role: 'user', content: [{ type: 'input_text', text: 'one' }] },
      { type: 'reasoning', id: 'rs_1', summary: [] },
      { type: 'function_call', call_id: 'c1', name: 'look', arguments: '{}' },
      { type: 'function_call_output', call_id: 'c1', output: 'seen' },
      { role: 'user', content: 'two' },
    ],
  })

  const [shown] = prompts[0] ?? []
  const lines = shown?.role === 'user' ? shown.text.split('\n') : []
  expect(lines.slice(1, -3).map((line) => JSON.parse(line))).toEqual([
    { role: 'system', content: 'be brief' },
    { role: 'user', content: 'one' },
    { role: 'assistant', tool_calls: [{ id: 'c1', name: 'look', arguments: '{}' }] },
    { role: 'tool', tool_call_id: 'c1', content: 'seen' },
  ])
})
