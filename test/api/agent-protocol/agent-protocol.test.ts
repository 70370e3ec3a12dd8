/** The Synadia Agent Protocol as its clients see it: found, prompted, asked, refused, ended. */

import { expect, test } from 'vitest'
import type { BusMessage } from '../../../src/contracts/transport.ts'
import { agent, createRuntime, isRuntimeError, type RuntimeOptions } from '../../../src/index.ts'
import { partsOf } from '../../../src/runtime/index.ts'
import type { ScriptedSource } from '../../../src/testing/index.ts'
import { type Story, story, work, worker } from '../../runtime/harness.ts'

type Chunk = { type: string; data: any } | { status: string; why: string; error: string; message: string } | 'end'

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)
const chunkOf = ({ data, headers }: BusMessage): Chunk => {
  if (data.length === 0 && headers === undefined) return 'end'
  const body = JSON.parse(new TextDecoder().decode(data))
  const status = headers?.['Nats-Service-Error-Code']
  return status === undefined ? body : { status, why: headers?.['Nats-Service-Error'], ...body }
}

/** Prompts as a client does, and reads until the stream ends. @param heard sees each chunk as it comes */
const prompt = (
  told: Story,
  request: string | Uint8Array,
  { name = 'main', headers, heard }: { name?: string; headers?: Record<string, string>; heard?: (chunk: Chunk) => void } = {},
): Promise<Chunk[]> => {
  const read = async (): Promise<Chunk[]> => {
    const { bus } = partsOf(told.runtime).transport
    const chunks: Chunk[] = []
    const data = typeof request === 'string' ? bytes(request) : request
    for await (const message of bus.requestMany(`agents.prompt.main.alice.${name}`, data, { timeoutMs: 1e9, ...(headers ? { headers } : {}) })) {
      const chunk = chunkOf(message)
      chunks.push(chunk)
      heard?.(chunk)
      if (chunk === 'end') return chunks
    }
    throw new Error(`the stream did not end: ${JSON.stringify(chunks)}`)
  }
  return told.clock.until(read())
}

const answer = (chunks: Chunk[]): string =>
  chunks.flatMap((chunk) => (typeof chunk === 'object' && 'data' in chunk && chunk.type === 'response' ? [chunk.data] : [])).join('')
const typeOf = (chunk: Chunk): string => (chunk === 'end' ? 'end' : 'type' in chunk ? chunk.type : 'error')
/** Pieces of text one after the other are one. */
const typesOf = (chunks: Chunk[]): string[] => chunks.map(typeOf).filter((type, index, all) => type !== 'response' || all[index - 1] !== 'response')

const host = (script: ScriptedSource, definition: Parameters<typeof story>[1] = {}): Promise<Story> =>
  story(script, { ...definition, runtime: { agentProtocol: { owner: 'alice' }, ...definition.runtime } })
const ask = (told: Story, subject: string) =>
  told.clock.until(partsOf(told.runtime).transport.bus.request(subject, new Uint8Array(), { timeoutMs: 1000 }))
const jsonOf = ({ data }: BusMessage): any => JSON.parse(new TextDecoder().decode(data))

test('a prompt is acknowledged, answered as the answer streams, and ended by an empty message without headers', async () => {
  await using told = await host([{ text: 'hello there', chunkSize: 6 }])

  const chunks = await prompt(told, 'hi')

  expect(chunks).toEqual([{ type: 'status', data: 'ack' }, { type: 'response', data: 'hello ' }, { type: 'response', data: 'there' }, 'end'])
})

test('each name is a conversation of its own, and text and envelope are the same prompt', async () => {
  await using told = await host(({ messages }) => ({ text: messages.map((message) => ('text' in message ? message.text : '')).join('|') }))

  await prompt(told, 'one', { name: 's1' })
  const second = await prompt(told, '\n {"prompt":"two","later":1}', { name: 's1' })
  const other = await prompt(told, 'three', { name: 's2' })

  expect(answer(second)).toBe('one|one|two')
  expect(answer(other)).toBe('three')
  expect((await told.runtime.session('agent:main:alice:s1').history()).map(({ role }) => role)).toEqual(['user', 'assistant', 'user', 'assistant'])
})

test('a prompt that is repeated under its Nats-Msg-Id is answered as the first', async () => {
  await using told = await host([{ text: 'once' }, { text: 'twice' }])

  await prompt(told, 'hi', { headers: { 'Nats-Msg-Id': 'm1' } })
  const again = await prompt(told, 'hi', { headers: { 'Nats-Msg-Id': 'm1' } })

  expect(answer(again)).toBe('once')
})

test('what is said before a tool call and after it are two paragraphs', async () => {
  await using told = await host([{ text: 'let me see', calls: [work('a')] }, { text: 'done' }], { tools: (world) => [worker()(world)] })

  expect(answer(await prompt(told, 'work'))).toBe('let me see\n\ndone')
})

test('while a tool works long the caller hears that we are alive', async () => {
  await using told = await host([{ calls: [work('a', 50_000)] }, { text: 'done' }], { tools: (world) => [worker()(world)] })

  expect(typesOf(await prompt(told, 'work'))).toEqual(['status', 'status', 'status', 'response', 'end'])
})

test.each([
  ['yes', 'a done'],
  ['{"prompt":"no"}', 'tool_denied'],
])('a tool call that waits for a person is a question to the caller; %j decides', async (reply, outcome) => {
  const script: ScriptedSource = ({ messages }) => {
    const last = messages.at(-1)
    return last?.role === 'tool' ? { text: JSON.stringify(last.output) } : { calls: [work('a')] }
  }
  await using told = await host(script, { tools: (world) => [worker({ approval: true })(world)] })
  const { bus } = partsOf(told.runtime).transport
  const questions: string[] = []

  const chunks = await prompt(told, 'work', {
    heard: (chunk) => {
      if (typeof chunk !== 'object' || !('data' in chunk) || chunk.type !== 'query') return
      questions.push(chunk.data.prompt)
      bus.publish(chunk.data.reply_subject, bytes(questions.length === 1 ? 'what?' : reply))
    },
  })

  expect(questions).toEqual([
    'May this run: work {"name":"a","ms":0}? (yes/no)',
    'please answer yes or no: May this run: work {"name":"a","ms":0}? (yes/no)',
  ])
  expect(answer(chunks)).toContain(outcome)
  expect(typesOf(chunks)).toEqual(['status', 'query', 'query', 'response', 'end'])
})

test('a second prompt in the same conversation joins the turn, and is asked what the first was asked', async () => {
  await using told = await host([{ calls: [work('a')] }, { text: 'done' }], { tools: (world) => [worker({ approval: true })(world)] })
  const { bus } = partsOf(told.runtime).transport
  const asked = Promise.withResolvers<void>()
  const first = prompt(told, 'work', { heard: (chunk) => void (typeOf(chunk) === 'query' && asked.resolve()) })
  await told.clock.until(asked.promise)

  const second = prompt(told, 'and?', {
    heard: (chunk) => {
      if (typeof chunk === 'object' && 'data' in chunk && chunk.type === 'query') bus.publish(chunk.data.reply_subject, bytes('yes'))
    },
  })

  for (const chunks of [await first, await second]) {
    expect(typesOf(chunks)).toEqual(['status', 'query', 'response', 'end'])
    expect(answer(chunks)).toBe('done')
  }
})

test.each([
  ['no bytes at all', '', 'bad_request'],
  ['an empty prompt', '{"prompt":""}', 'bad_request'],
  ['white space', ' \n', 'bad_request'],
  ['no prompt', '{"text":"hi"}', 'bad_request'],
  ['half an envelope', '{"prompt":"hi"', 'bad_request'],
  ['no UTF-8', new Uint8Array([0xff, 0xfe]), 'bad_request'],
  ['attachments', '{"prompt":"hi","attachments":[{"filename":"a.png","content":"AAAA"}]}', 'unsupported'],
  ['more than is announced', 'x'.repeat(1024 * 1024 + 1), 'too_large'],
  ['more than a message may have', 'x'.repeat(200_001), 'too_large'],
])('%s: refused with status 400 and a code, and the stream ends', async (_, request, code) => {
  await using told = await host([{ text: 'hello' }])

  const chunks = await prompt(told, request)

  expect(chunks.slice(-2)).toEqual([
    expect.objectContaining({ status: '400', why: expect.stringContaining(`${code}: `), error: code, message: expect.any(String) }),
    'end',
  ])
  expect(answer(chunks)).toBe('')
})

test('an empty list of attachments is none', async () => {
  await using told = await host([{ text: 'hello' }])

  expect(answer(await prompt(told, '{"prompt":"hi","attachments":[]}'))).toBe('hello')
})

test('a turn that fails is an error after what was said, then the end', async () => {
  const said = 'x'.repeat(250_000)
  await using told = await host([{ text: said, chunkSize: 1e6, error: { code: 'provider_auth', message: 'no such key' } }])

  const chunks = await prompt(told, 'hi')

  expect(typesOf(chunks)).toEqual(['status', 'response', 'error', 'end'])
  expect(answer(chunks)).toBe(said)
  const failed = chunks.at(-2)
  expect(failed).toMatchObject({ status: '500', error: 'provider_auth', message: expect.stringContaining('no such key'), retryable: false })
  expect(JSON.stringify(failed).length).toBeLessThan(1000)
})

test('a runtime that closes ends the streams that are open, and is found no more', async () => {
  await using told = await host([{ calls: [work('a', 1e6)] }, { text: 'done' }], { tools: (world) => [worker()(world)] })
  const { bus } = partsOf(told.runtime).transport
  const chunks: Chunk[] = []
  bus.subscribe('_INBOX.>', (message) => void chunks.push(chunkOf(message)))
  const open = prompt(told, 'work').catch(() => undefined)
  await told.clock.until(() => chunks.length > 0)

  await told.clock.until(told.runtime.close())

  expect(chunks.slice(-2)).toEqual([expect.objectContaining({ error: 'closed', retryable: true }), 'end'])
  expect(bus.wanted('$SRV.INFO.agents')).toBe(false)
  await open
})

test('clients find every agent, what its endpoint takes, and how often it was asked', async () => {
  await using told = await host([{ text: 'hello' }])
  await prompt(told, 'hi')
  await prompt(told, '')

  const info = jsonOf(await ask(told, '$SRV.INFO.agents'))
  const stats = jsonOf(await ask(told, `$SRV.STATS.agents.${info.id}`))

  expect(info).toMatchObject({
    type: 'io.nats.micro.v1.info_response',
    name: 'agents',
    metadata: { agent: 'main', owner: 'alice', session: 'agent:main:alice:main', protocol_version: '0.3' },
    endpoints: [
      { name: 'prompt', subject: 'agents.prompt.main.alice.main', queue_group: 'agents', metadata: { max_payload: '1MB', attachments_ok: 'false' } },
      { name: 'status', subject: 'agents.status.main.alice.main', queue_group: 'agents' },
    ],
  })
  expect(stats.endpoints[0]).toMatchObject({ num_requests: 2, num_errors: 1, last_error: expect.stringContaining('bad_request') })
})

test('heartbeats come every thirty seconds; the status is the same', async () => {
  await using told = await host([{ text: 'hello' }], { runtime: { agentProtocol: { owner: 'alice', names: ['s1'] } } })
  const beats: any[] = []
  partsOf(told.runtime).transport.bus.subscribe('agents.hb.main.alice.s1', (message) => void beats.push(jsonOf(message)))

  await told.clock.advance(60_000)
  const status = jsonOf(await ask(told, 'agents.status.main.alice.s1'))

  expect(beats).toHaveLength(2)
  expect(Date.parse(beats[1].ts) - Date.parse(beats[0].ts)).toBe(30_000)
  expect(status).toEqual({ ...beats[1], ts: status.ts })
  expect(status).toMatchObject({ agent: 'main', owner: 'alice', session: 'agent:main:alice:s1', instance_id: expect.any(String), interval_s: 30 })
})

test('with names there are those conversations and no others; without the option there is nothing', async () => {
  await using named = await host([{ text: 'hello' }], { runtime: { agentProtocol: { owner: 'alice', names: ['a', 'b'] } } })
  const { bus } = partsOf(named.runtime).transport
  expect(['a', 'b', 'main'].map((name) => bus.wanted(`agents.prompt.main.alice.${name}`))).toEqual([true, true, false])

  await using silent = await story([{ text: 'hello' }])
  expect(partsOf(silent.runtime).transport.bus.wanted('$SRV.INFO.agents')).toBe(false)
})

test.each([
  [{ owner: 'al.ice' }, 'owner'],
  [{ owner: '' }, 'owner'],
  [{ owner: 'alice', names: ['*'] }, 'names'],
  [{ owner: 'alice', names: [] }, 'names'],
])('%j is refused', async (agentProtocol, field) => {
  const options: RuntimeOptions = { transport: 'memory:', agents: [agent({ name: 'main' })], agentProtocol }

  const error = await createRuntime(options).catch((thrown: unknown) => thrown)

  expect(isRuntimeError(error) && { code: error.code, field: error.field }).toEqual({ code: 'bad_request', field: `agentProtocol.${field}` })
})
