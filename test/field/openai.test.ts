/**
 * What clients of OpenAI's API send: null for what they leave out, and references to items of stored responses.
 * Sources: huggingface/huggingface_hub#3170, CherryHQ/cherry-studio#13206 (FC-09); anomalyco/opencode#10142, teunlao/swift-ai-sdk#8 (FC-10).
 */
import { createOpenAI } from '@ai-sdk/openai'
import { generateText, jsonSchema, stepCountIs, tool } from 'ai'
import { describe, expect, test } from 'vitest'
import { token } from '../api/http/harness.ts'
import { aToolGateway } from '../api/ws/a-tool-gateway.ts'

/** What the model was told last, and all that it was shown. */
const served = async (script: Parameters<typeof aToolGateway>[0]['script'] = [{ text: 'one' }, { text: 'two' }, { text: 'three' }]) => {
  const node = await aToolGateway({ script })
  const post = (path: string, body: object) => node.call('POST', path, { body: JSON.stringify(body) })
  const openai = createOpenAI({ apiKey: token, baseURL: `${node.gateway.url}/v1` })
  return { ...node, post, model: openai.responses('main') }
}

test('an assistant message with calls may leave out its content', async () => {
  const { post } = await served()
  const messages = [
    { role: 'user', content: 'a' },
    { role: 'assistant', tool_calls: [{ id: 'c1', type: 'function', function: { name: 'f', arguments: '{}' } }] },
    { role: 'tool', content: 'x', tool_call_id: 'c1' },
  ]
  expect((await post('/v1/chat/completions', { model: 'main', messages })).status).toBe(200)
})

describe('null stands for what is left out', () => {
  test.each([
    { role: 'user', content: 'hi', name: null },
    { role: 'user', content: 'hi', tool_call_id: null, tool_calls: null, refusal: null, function_call: null, audio: null, annotations: null },
    { role: 'user', content: [{ type: 'text', text: 'hi', annotations: null }], name: null },
  ])('in a message: %j', async (message) => {
    const { post } = await served()
    expect((await post('/v1/chat/completions', { model: 'main', messages: [message] })).status).toBe(200)
  })

  test.each([
    { tools: null, tool_choice: null, stream_options: null, n: null, response_format: null },
    { stream_options: { include_usage: null } },
    { tools: [{ type: 'function', function: { name: 'f', description: null, parameters: null, strict: null } }] },
    {
      messages: [
        { role: 'user', content: 'a', name: null },
        {
          role: 'assistant',
          content: null,
          refusal: null,
          tool_calls: [{ id: 'c1', type: 'function', index: null, function: { name: 'f', arguments: '{}' } }],
        },
        { role: 'tool', content: 'x', tool_call_id: 'c1', name: null },
      ],
    },
  ])('in a request: %j', async (more) => {
    const { post } = await served()
    expect((await post('/v1/chat/completions', { model: 'main', messages: [{ role: 'user', content: 'hi' }], ...more })).status).toBe(200)
  })

  test.each([
    { input: [{ type: 'message', role: 'user', content: 'hi', id: null, status: null }] },
    { input: 'hi', reasoning: { effort: null, summary: null }, previous_response_id: null, instructions: null, text: null, tools: null },
  ])('in a response: %j', async (more) => {
    const { post } = await served()
    expect((await post('/v1/responses', { model: 'main', ...more })).status).toBe(200)
  })

  test('and stays what it is in a schema', async () => {
    const { post, offered } = await served()
    const parameters = { type: 'object', properties: { a: { enum: ['x', null], default: null } } }
    const tools = [{ type: 'function', function: { name: 'f', parameters } }]

    expect((await post('/v1/chat/completions', { model: 'main', messages: [{ role: 'user', content: 'hi' }], tools })).status).toBe(200)
    expect(offered[0]).toContain('f')
  })
})

describe('a reference stands for an item of a stored response', () => {
  test('the AI SDK goes on with a conversation, turn by turn', async () => {
    const { model, shown } = await served()
    const messages: Parameters<typeof generateText>[0]['messages'] & object[] = []
    for (const content of ['first', 'second', 'third']) {
      messages.push({ role: 'user', content })
      const { response } = await generateText({ model, messages })
      messages.push(...(response.messages as never[]))
    }

    expect(shown.at(-1)?.map((one) => ('text' in one ? one.text : ''))).toEqual(['first', 'one', 'second', 'two', 'third'])
  })

  test('also behind calls of its functions', async () => {
    const { model, shown } = await served([{ calls: [{ name: 'locate', input: { city: 'here' } }] }, { text: 'Bern' }, { text: 'yes' }])
    const locate = tool({
      description: 'locates',
      inputSchema: jsonSchema<{ city: string }>({ type: 'object', properties: { city: { type: 'string' } } }),
      execute: () => 'Bern',
    })
    const first = await generateText({ model, prompt: 'where?', tools: { locate }, stopWhen: stepCountIs(3) })
    const { text } = await generateText({
      model,
      messages: [{ role: 'user', content: 'where?' }, ...first.response.messages, { role: 'user', content: 'sure?' }],
      tools: { locate },
    })

    expect([first.text, text]).toEqual(['Bern', 'yes'])
    expect(shown.at(-1)?.filter(({ role }) => role === 'user')).toHaveLength(2)
  })

  test('one that was not stored here is refused by its field', async () => {
    const { post } = await served()
    const input = [
      { type: 'item_reference', id: 'msg_123' },
      { type: 'message', role: 'user', content: 'hi' },
    ]
    const refused = await post('/v1/responses', { model: 'main', input })

    expect([refused.status, refused.json.error]).toMatchObject([404, { param: 'input[0].id' }])
  })

  test('an id that is not text is quoted in the error', async () => {
    const { post } = await served()
    const refused = await post('/v1/responses', { model: 'main', input: [{ type: 'item_reference', id: { a: 1 } }] })

    expect([refused.status, refused.json.error.message]).toEqual([404, expect.stringContaining('the item {"a":1} was not found')])
  })
})
