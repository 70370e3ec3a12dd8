/** Functions that the client runs, as the client of OpenAI asks for them and answers their calls. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import OpenAI from 'openai'
import { expect, onTestFinished, test } from 'vitest'
import type { Message } from '../../../src/contracts/message.ts'
import type { ScriptedResponse } from '../../../src/models/script.ts'
import { token } from '../http/harness.ts'
import { aTool, aToolGateway } from '../ws/a-tool-gateway.ts'
import { all } from './harness.ts'

const parameters = { type: 'object', properties: { city: { type: 'string' } } }
const tools = ['locate', 'forecast'].map((name) => ({ type: 'function' as const, function: { name, description: `does ${name}`, parameters } }))
const functions = tools.map(({ function: one }) => ({ type: 'function' as const, ...one, strict: false }))
const locate = { name: 'locate', input: { city: 'here' } }
const forecast = { name: 'forecast', input: { city: 'Bern' } }
const user = { role: 'user' as const, content: 'what will the weather be?' }

const rounds = [{ text: 'I look.', calls: [locate] }, { calls: [forecast, { ...forecast, input: { city: 'Basel' } }] }, { text: 'rain' }]
const aClient = async (script: ScriptedResponse[] = rounds, more = {}) => {
  const served = await aToolGateway({ script, ...more })
  const client = new OpenAI({ apiKey: token, baseURL: `${served.gateway.url}/v1`, maxRetries: 0 })
  const chat = (messages: object[], more: object = {}, headers = {}) =>
    client.chat.completions.create({ model: 'main', messages: messages as [], tools, ...more, stream: false }, { headers })
  const respond = (input: object[] | string, more: object = {}) =>
    client.responses.create({ model: 'main', input: input as [], tools: functions, ...more, stream: false })
  return { ...served, client, chat, respond }
}
type Called = { id: string; function: { name: string; arguments: string } }
const resultsOf = (calls: readonly unknown[] = []) =>
  (calls as Called[]).map(({ id, function: { name, arguments: given } }) => ({
    role: 'tool' as const,
    tool_call_id: id,
    content: `${name} ${given}`,
  }))
const outputsOf = (output: readonly OpenAI.Responses.ResponseOutputItem[]) =>
  output.flatMap((item) =>
    item.type === 'function_call' ? [{ type: 'function_call_output' as const, call_id: item.call_id, output: `${item.name} ${item.arguments}` }] : [],
  )
const said = (message: Message | undefined): string => (message?.role === 'user' ? message.text : '')

test('[CH-53] chat completions: two rounds of functions, the second of two calls, with all that was said in each request', async () => {
  const { chat, offered, shown } = await aClient()

  const first = (await chat([user])).choices[0]
  expect(first).toMatchObject({
    finish_reason: 'tool_calls',
    message: {
      content: 'I look.',
      tool_calls: [{ id: expect.stringMatching(/^call_[\w-]{32}$/), type: 'function', function: { name: 'locate', arguments: '{"city":"here"}' } }],
    },
  })
  const one = [user, first?.message as object, ...resultsOf(first?.message.tool_calls)]
  const second = (await chat(one)).choices[0]
  expect(second?.message).toMatchObject({ content: null, tool_calls: [{ function: { name: 'forecast' } }, { function: { name: 'forecast' } }] })
  const third = (await chat([...one, second?.message as object, ...resultsOf(second?.message.tool_calls)])).choices[0]

  expect(third).toMatchObject({ finish_reason: 'stop', message: { content: 'rain' } })
  expect(third?.message.tool_calls).toBeUndefined()
  expect(offered).toEqual(Array(3).fill(['locate', 'forecast']))
  const lines = said(shown[2]?.[0]).split('\n')
  expect(lines.slice(1, 7).map((line) => JSON.parse(line).content)).toEqual([
    'what will the weather be?',
    'I look.',
    'locate {"city":"here"}',
    '',
    'forecast {"city":"Bern"}',
    'forecast {"city":"Basel"}',
  ])
  expect(lines.at(-1)).toContain('go on from there')
})

test('[CH-53] a stream of chat completions has each call with its index, id and name, and its arguments', async () => {
  const { client } = await aClient([{ text: 'I look.', calls: [locate, forecast] }])

  const chunks = await all(await client.chat.completions.create({ model: 'main', messages: [user], tools, stream: true }))
  const deltas = chunks.flatMap(({ choices }) => choices[0]?.delta.tool_calls ?? [])
  expect(deltas).toEqual([
    { index: 0, id: expect.stringMatching(/^call_/), type: 'function', function: { name: 'locate', arguments: '' } },
    { index: 0, function: { arguments: '{"city":"here"}' } },
    { index: 1, id: expect.stringMatching(/^call_/), type: 'function', function: { name: 'forecast', arguments: '' } },
    { index: 1, function: { arguments: '{"city":"Bern"}' } },
  ])
  expect(chunks.at(-1)?.choices[0]?.finish_reason).toBe('tool_calls')
})

test('[CH-53] the helpers of the package run functions in a stream until there is an answer', async () => {
  const { client } = await aClient()
  const run = (name: string) => (given: { city: string }) => `${name} of ${given.city}`
  const runner = client.chat.completions.runTools({
    model: 'main',
    stream: true,
    messages: [user],
    tools: tools.map(({ function: one }) => ({
      type: 'function' as const,
      function: { ...one, function: run(one.name), parse: JSON.parse as (text: string) => { city: string } },
    })),
  })

  expect(await runner.finalContent()).toBe('rain')
  expect(runner.messages.flatMap((one) => (one.role === 'tool' ? [one.content] : []))).toEqual([
    'locate of here',
    'forecast of Bern',
    'forecast of Basel',
  ])
})

test('[CH-53] in a named session results resume the run: what the tools of the agent gave is still known', async () => {
  const { chat, results } = await aClient([{ calls: [{ name: 'look' }, locate] }, { text: 'in Bern' }], { tools: [aTool('look', () => 'a river')] })
  const named = { 'x-statecast-session': 'home' }

  const first = (await chat([user], {}, named)).choices[0]?.message
  expect(first?.tool_calls?.map((call) => (call as Called).function.name)).toEqual(['locate'])
  const wrong = chat([user, first as object, { role: 'tool', tool_call_id: 'call_x', content: 'x' }], {}, named)
  await expect(wrong).rejects.toMatchObject({ status: 400, param: 'messages[2].tool_call_id' })
  const second = await chat([user, first as object, ...resultsOf(first?.tool_calls)], {}, named)

  expect(second.choices[0]?.message.content).toBe('in Bern')
  expect(results(1).map(({ output }) => output)).toEqual(['a river', 'locate {"city":"here"}'])
})

test('[CH-53] responses: functions are called with the whole input in each request', async () => {
  const { respond } = await aClient()
  const begin = { role: 'user', content: 'weather?' }

  const first = await respond([begin], { store: false })
  expect(first).toMatchObject({
    status: 'completed',
    tools: functions,
    output: [{ type: 'message' }, { type: 'function_call', name: 'locate', status: 'completed' }],
  })
  const one = [begin, ...first.output, ...outputsOf(first.output)]
  const second = await respond(one, { store: false })
  expect(second.output.map(({ type }) => type)).toEqual(['function_call', 'function_call'])
  const third = await respond([...one, ...second.output, ...outputsOf(second.output)], { store: false })

  expect(third.output_text).toBe('rain')
})

test('[CH-53] responses: previous_response_id resumes the run with the results alone, also in a stream, and goes on after it', async () => {
  const { client, respond, shown } = await aClient()

  const first = await respond('weather?')
  const stream = await client.responses.create({
    model: 'main',
    tools: functions,
    previous_response_id: first.id,
    input: outputsOf(first.output),
    stream: true,
  })
  const events = await all(stream)
  expect(events.map(({ type }) => type)).toEqual([
    'response.created',
    'response.in_progress',
    ...Array(2)
      .fill([
        'response.output_item.added',
        'response.function_call_arguments.delta',
        'response.function_call_arguments.done',
        'response.output_item.done',
      ])
      .flat(),
    'response.completed',
  ])
  const last = events.at(-1)
  const second = last?.type === 'response.completed' ? last.response : first
  const [half] = outputsOf(second.output)
  await expect(respond([half as object], { previous_response_id: second.id })).rejects.toMatchObject({ status: 400, param: 'input' })
  const third = await respond(outputsOf(second.output), { previous_response_id: second.id })
  expect(third.output_text).toBe('rain')
  await expect(respond('and?', { previous_response_id: first.id })).rejects.toMatchObject({ status: 409, code: 'previous_response_not_newest' })
  expect((await respond('and?', { previous_response_id: third.id })).output_text).toBe('rain')

  expect(shown[2]?.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool', 'assistant', 'tool', 'tool'])
})

test('[CH-53] a result of no call, and a call without a result, are refused before anything runs', async () => {
  const { chat, respond, shown } = await aClient()
  const asked = (id: string) => ({
    role: 'assistant',
    content: null,
    tool_calls: [{ id, type: 'function', function: { name: 'locate', arguments: '{}' } }],
  })
  const result = { role: 'tool', tool_call_id: 'a', content: 'x' }
  const shape = { status: 400, type: 'invalid_request_error', code: 'bad_request' }

  await expect(chat([user, asked('b'), result])).rejects.toMatchObject({ ...shape, param: 'messages[2].tool_call_id' })
  await expect(chat([user, asked('a'), result, result])).rejects.toMatchObject({ ...shape, param: 'messages[3].tool_call_id' })
  const output = { type: 'function_call_output', call_id: 'a', output: 'x' }
  await expect(respond([{ role: 'user', content: 'x' }, output])).rejects.toMatchObject({ ...shape, param: 'input[1].call_id' })
  await expect(chat([user], { tools: [], tool_choice: 'required' })).rejects.toMatchObject({
    status: 400,
    code: 'unsupported_parameter',
    param: 'tool_choice',
  })
  await expect(chat([user], { tools: [...tools, ...tools] })).rejects.toMatchObject({ ...shape, param: 'tools[2]' })
  expect(shown).toEqual([])
})

test('[CH-53] with tool_choice none the model is not told of the functions', async () => {
  const { chat, offered } = await aClient([{ text: 'no idea' }])

  expect((await chat([user], { tool_choice: 'none' })).choices[0]?.finish_reason).toBe('stop')
  expect(offered).toEqual([[]])
})

test('[CH-53] a repetition of results under the same key gets the same answer, and takes nothing twice', async () => {
  const { chat, shown } = await aClient([{ calls: [locate] }, { text: 'in Bern' }])
  const home = { 'x-statecast-session': 'home' }
  const first = (await chat([user], {}, home)).choices[0]?.message
  const give = () => chat([user, first as object, ...resultsOf(first?.tool_calls)], {}, { ...home, 'idempotency-key': 'k' })

  const answers = [await give(), await give()]

  expect(answers.map(({ choices }) => choices[0]?.message.content)).toEqual(['in Bern', 'in Bern'])
  expect(new Set(answers.map(({ id }) => id)).size).toBe(1)
  expect(shown).toHaveLength(2)
})

test('[CH-53] calls that wait in a session are listed, with ids of the runtime, until they have their results', async () => {
  const { chat, rpc } = await aClient([{ calls: [locate] }, { text: 'in Bern' }])
  const home = { 'x-statecast-session': 'home' }
  const waiting = async () => (await rpc('sessions.get', { sessionKey: 'home' })).json.pendingCalls

  const first = (await chat([user], {}, home)).choices[0]?.message
  expect(await waiting()).toMatchObject([{ name: 'locate', input: { city: 'here' } }])
  await chat([user, first as object, ...resultsOf(first?.tool_calls)], {}, home)
  expect(await waiting()).toBeUndefined()
})

test('[CH-53] calls that wait, and results in a request that holds all that was said, get on after a restart', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'statecast-functions-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const app = { transport: `embedded:${folder}` }
  const home = { 'x-statecast-session': 'home' }
  const before = await aClient([{ calls: [locate] }], { app })
  const named = (await before.chat([user], {}, home)).choices[0]?.message
  const alone = (await before.chat([user])).choices[0]?.message
  const stored = await before.respond('weather?')
  await before.gateway.close()
  await before.runtime.close()

  const after = await aClient([{ text: 'in Bern' }], { app })
  const answers = [
    (await after.chat([user, named as object, ...resultsOf(named?.tool_calls)], {}, home)).choices[0]?.message.content,
    (await after.chat([user, alone as object, ...resultsOf(alone?.tool_calls)])).choices[0]?.message.content,
    (await after.respond(outputsOf(stored.output), { previous_response_id: stored.id })).output_text,
  ]

  expect(answers).toEqual(['in Bern', 'in Bern', 'in Bern'])
  expect(after.shown.map((messages) => messages.map(({ role }) => role))).toEqual([
    ['user', 'assistant', 'tool'],
    ['user'],
    ['user', 'assistant', 'tool'],
  ])
})
