/** Commands over plain NATS: what any client in any language can ask, and what the NATS tools see of a node. */
import { connect, type Msg, type NatsConnection } from '@nats-io/transport-node'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { commands } from '../../../src/contracts/commands.ts'
import { agent, createRuntime, type Runtime } from '../../../src/index.ts'
import { natsForAll } from '../../support/nats.ts'

const server = natsForAll()
let runtime: Runtime
let nc: NatsConnection
beforeAll(async () => {
  runtime = await createRuntime({
    transport: server.url,
    agents: [agent({ name: 'main', model: 'test/model', limits: { modelCall: { outputCharsMax: 2_000_000 } } })],
    models: { 'test/model': ({ messages }) => ({ text: JSON.stringify(messages.at(-1)).includes('long') ? 'x'.repeat(1_200_000) : 'hello' }) },
  })
  nc = await connect({ servers: server.url })
})
afterAll(async () => {
  await nc.close()
  await runtime.close()
})

const ask = (command: string, body?: unknown): Promise<Msg> =>
  nc.request(`statecast.api.${command}`, typeof body === 'string' ? body : JSON.stringify(body ?? {}), { timeout: 60_000 })
const refusal = (message: Msg) => ({
  code: message.headers?.get('Nats-Service-Error-Code'),
  why: message.headers?.get('Nats-Service-Error'),
  ...message.json<{ error: object }>(),
})

test('a command is a request, its answer plain JSON', async () => {
  const sent = await ask('chat.send', { sessionKey: 'main', message: 'hi', idempotencyKey: 'm1' })
  const ended = await ask('agent.wait', { sessionKey: 'main', runId: 'm1' })

  expect(sent.json()).toMatchObject({ runId: 'm1', status: 'started' })
  expect(ended.json()).toMatchObject({ status: 'completed', text: 'hello' })
  expect(ended.headers?.get('Content-Type')).toBe('application/json')
  expect((await ask('health')).json()).toMatchObject({ ready: true })
})

test.each([
  ['no.such', {}, '404', 'not_found'],
  ['chat.send', { sessionKey: 'main' }, '400', 'bad_request'],
  ['chat.send', 'not json', '400', 'bad_request'],
  ['sessions.get', { sessionKey: 'nobody' }, '404', 'not_found'],
])('%s %j is refused with status %s and code %s', async (command, body, status, code) => {
  expect(refusal(await ask(command, body))).toMatchObject({
    code: status,
    why: expect.stringMatching(`^${code}: `),
    error: { code, hint: expect.any(String) },
  })
})

test('an answer that does not fit into one message is an error that says so', async () => {
  const heard: { type: string; tooLarge?: boolean }[] = []
  nc.subscribe('statecast.out.session.big.final', { callback: (_, message) => void heard.push(message.json()) })
  await ask('chat.send', { sessionKey: 'big', message: 'long please', idempotencyKey: 'a' })

  expect(refusal(await ask('agent.wait', { sessionKey: 'big', runId: 'a' }))).toMatchObject({
    code: '413',
    error: { code: 'too_large', hint: expect.stringContaining('over HTTP') },
  })
  expect(heard).toMatchObject([{ type: 'final', runId: 'a', tooLarge: true }])
  expect((await runtime.session('big').wait('a')).text).toHaveLength(1_200_000)
})

test('the tools of NATS find the service, its endpoints and its figures', async () => {
  const ping = (await nc.request('$SRV.PING', '', { timeout: 60_000 })).json<{ id: string }>()
  const info = (await nc.request('$SRV.INFO.statecast', '', { timeout: 60_000 })).json<{
    endpoints: { subject: string; metadata: Record<string, string> }[]
  }>()
  const stats = (await nc.request(`$SRV.STATS.statecast.${ping.id}`, '', { timeout: 60_000 })).json<{
    endpoints: { subject: string; num_requests: number; num_errors: number }[]
  }>()

  expect(ping).toMatchObject({ type: 'io.nats.micro.v1.ping_response', name: 'statecast', version: expect.stringMatching(/^\d+\.\d+\.\d+$/) })
  expect(info.endpoints.map(({ subject }) => subject)).toEqual(Object.keys(commands).map((name) => `statecast.api.${name}`))
  expect(info.endpoints.every(({ metadata }) => typeof metadata.description === 'string')).toBe(true)
  const send = stats.endpoints.find(({ subject }) => subject === 'statecast.api.chat.send')
  expect(send?.num_requests).toBeGreaterThanOrEqual(3)
  expect(send?.num_errors).toBeGreaterThanOrEqual(2)
})
