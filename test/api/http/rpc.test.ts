/** Commands over HTTP: the same schemas and errors as everywhere. */

import { expect, test } from 'vitest'
import { gatewayApp } from '../../../src/api/http/app.ts'
import { gatewayLimits } from '../../../src/api/http/limits.ts'
import { Throttle } from '../../../src/api/http/throttle.ts'
import { commands } from '../../../src/contracts/commands.ts'
import { partsOf, systemClock } from '../../../src/runtime/index.ts'
import { aGateway, eventsOf, token } from './harness.ts'

test.each([
  ['[BAD-JSON] malformed JSON', 'chat.send', '{"sessionKey":', 400, { code: 'bad_request' }],
  ['[BAD-FIELDS] an unknown field', 'chat.send', '{"sessionKey":"a","message":"b","colour":"red"}', 400, { code: 'bad_request', field: 'colour' }],
  ['a missing field', 'chat.send', '{"sessionKey":"a"}', 400, { code: 'bad_request', field: 'message' }],
  ['JSON that is no object', 'chat.send', '[]', 400, { code: 'bad_request' }],
  ['an unknown command', 'chat.sent', '{}', 404, { code: 'not_found', hint: expect.stringContaining('chat.send') }],
  ['a command named like a property of all objects', 'constructor', '{}', 404, { code: 'not_found' }],
  ['a session that is not there', 'sessions.get', '{"sessionKey":"nobody"}', 404, { code: 'not_found' }],
  ['a run that is not there', 'agent.wait', '{"sessionKey":"nobody","runId":"r"}', 404, { code: 'not_found' }],
  [
    '[BAD-ID-LONG] a key that is too long',
    'chat.send',
    `{"sessionKey":"${'x'.repeat(5000)}","message":"b"}`,
    413,
    { code: 'too_large', field: 'sessionKey' },
  ],
  ['a message that is too long', 'chat.send', `{"sessionKey":"a","message":"${'x'.repeat(200_001)}"}`, 413, { code: 'too_large', field: 'message' }],
  ['half a character', 'chat.send', '{"sessionKey":"a","message":"so \\ud83d"}', 400, { code: 'bad_request', field: 'message' }],
  [
    'half a character in an event',
    'actors.send',
    '{"kind":"session","id":"a","event":{"type":"reset","reason":"\\udc00"}}',
    400,
    { code: 'bad_request', field: 'reason' },
  ],
  [
    '[BAD-RESERVED] a reserved event',
    'actors.send',
    '{"kind":"session","id":"a","event":{"type":"xstate.done.actor.turn"}}',
    400,
    { code: 'bad_request' },
  ],
  ['an unheard-of kind', 'actors.send', '{"kind":"ordre","id":"a","event":{"type":"pay"}}', 404, { code: 'not_found', field: 'kind' }],
])('%s is answered by its typed error', async (_, command, body, status, error) => {
  const { call } = await aGateway()

  expect(await call('POST', `/rpc/${command}`, { body })).toMatchObject({ status, json: { error: { hint: expect.any(String), ...error } } })
})

test('a body of more than 1 MiB is refused, whether it says so or not', async () => {
  const { call } = await aGateway()
  const body = `"${'x'.repeat(1024 * 1024)}"`

  expect(await call('POST', '/rpc/health', { body })).toMatchObject({ status: 413, json: { error: { code: 'too_large' } } })
  expect(await call('POST', '/rpc/health', { body, headers: { 'transfer-encoding': 'chunked' } })).toMatchObject({ status: 413 })
})

test('[BAD-ID-NUL] a key with NUL is one like any other', async () => {
  const { rpc } = await aGateway()

  expect((await rpc('chat.send', { sessionKey: 'a\u0000b', message: 'hi', idempotencyKey: 'k' })).json).toMatchObject({
    runId: 'k',
    status: 'started',
  })
  expect((await rpc('agent.wait', { sessionKey: 'a\u0000b', runId: 'k' })).json).toMatchObject({ text: 'echo hi' })
})

test('[INV-12] an approval is listed, decided once, and the second decision is told so', async () => {
  const { rpc } = await aGateway()
  await rpc('chat.send', { sessionKey: 'main', message: 'danger', idempotencyKey: 'k' })
  await expect.poll(async () => (await rpc('approvals.list')).json.approvals).toHaveLength(1)
  const [{ sessionKey, callId, inputHash }] = (await rpc('approvals.list', { sessionKey: 'main' })).json.approvals

  const first = await rpc('approvals.resolve', { sessionKey, callId, inputHash, decision: 'approve' })
  const second = await rpc('approvals.resolve', { sessionKey, callId, inputHash, decision: 'deny' })

  expect(first.status).toBe(200)
  expect(second).toMatchObject({ status: 409, json: { error: { code: 'already_decided' } } })
  expect((await rpc('agent.wait', { sessionKey, runId: 'k' })).json).toMatchObject({ status: 'completed', text: 'done' })
})

test('what waits at the end of a long turn is listed too, with the time of the question, by every list', async () => {
  const { rpc } = await aGateway()
  const before = Date.now()
  await rpc('chat.send', { sessionKey: 'main', message: 'long' })

  await expect.poll(async () => (await rpc('approvals.list')).json.approvals).toMatchObject([{ sessionKey: 'main', name: 'danger' }])
  const [{ at }] = (await rpc('approvals.list')).json.approvals
  const [session] = (await rpc('sessions.list')).json.sessions
  const [actor] = (await rpc('actors.list', { kind: 'session', limit: 1 })).json.actors

  expect(at).toBeGreaterThanOrEqual(before)
  expect(session).toMatchObject({ key: 'main', waiting: 1 })
  expect(session.seq).toBeGreaterThan(25)
  expect(actor).toMatchObject({ id: 'main', waiting: 1, states: { '/': { running: 'answering' } } })
})

test('actors are listed in pages, and a place that is none is refused', async () => {
  const { rpc } = await aGateway()
  for (const sessionKey of ['a', 'b.c', 'd']) await rpc('chat.send', { sessionKey, message: 'hang' })

  const first = (await rpc('actors.list', { limit: 2 })).json
  const second = (await rpc('actors.list', { limit: 2, after: first.next })).json

  expect([first, second].map(({ actors }) => actors.map(({ id }: { id: string }) => id))).toEqual([['a', 'b.c'], ['d']])
  expect(second.next).toBeNull()
  expect(await rpc('actors.list', { after: 'nonsense' })).toMatchObject({ status: 400, json: { error: { code: 'bad_request' } } })
})

test('a session is listed, read, traced and replayed; deleted it is gone, and its key can be used anew', async () => {
  const { rpc } = await aGateway()
  await rpc('chat.send', { sessionKey: 'main', message: 'one', idempotencyKey: 'k' })
  await rpc('agent.wait', { sessionKey: 'main', runId: 'k' })

  expect((await rpc('sessions.list')).json.sessions).toMatchObject([{ key: 'main', state: 'awaiting-input', busy: false }])
  expect((await rpc('chat.history', { sessionKey: 'main', limit: 1 })).json.messages).toMatchObject([{ role: 'assistant', text: 'echo one' }])
  expect((await rpc('trace.read', { id: 'main', limit: 1 })).json).toMatchObject({ entries: [{ event: 'created' }, { event: 'message' }], next: 2 })
  expect((await rpc('trace.replay', { id: 'main' })).json).toMatchObject({ verdict: 'identical' })

  expect((await rpc('sessions.delete', { sessionKey: 'main' })).json).toEqual({ deleted: 'main' })
  expect((await rpc('sessions.get', { sessionKey: 'main' })).status).toBe(404)
  expect((await rpc('sessions.list')).json.sessions).toEqual([])
  expect((await rpc('chat.send', { sessionKey: 'main', message: 'two', idempotencyKey: 'k' })).json).toMatchObject({ status: 'started', seq: 1 })
})

test('a session whose turn is running is not deleted', async () => {
  const { rpc } = await aGateway()
  await rpc('chat.send', { sessionKey: 'main', message: 'hang' })

  expect(await rpc('sessions.delete', { sessionKey: 'main' })).toMatchObject({
    status: 409,
    json: { error: { code: 'session_busy', hint: expect.any(String) } },
  })
  expect((await rpc('sessions.get', { sessionKey: 'main' })).json).toMatchObject({ state: { running: 'answering' } })
})

test('every command of the list answers, none with a defect of ours', async () => {
  const { rpc } = await aGateway()

  for (const name of Object.keys(commands)) {
    const { status, json } = await rpc(name)
    expect([name, status, json.error?.code]).toEqual([name, ...(json.error ? [400, 'bad_request'] : [200, undefined])])
  }
})

test('the output of a session streams as it comes, durable events with their place, and the response begins before anything can be missed', async () => {
  const { rpc, gateway } = await aGateway()
  const { events, stop } = await eventsOf(gateway.url, 'a/b.c')

  await rpc('chat.send', { sessionKey: 'a/b.c', message: 'hi', idempotencyKey: 'k' })
  const heard: { event: string; id?: string; data: { text?: string } }[] = []
  for await (const event of events) {
    heard.push(event)
    if (event.event === 'final') break
  }
  stop()

  expect(heard.map(({ event }) => event)).toEqual(['accepted', 'started', 'delta', 'delta', 'final'])
  expect(heard.map(({ id }) => id)).toEqual([
    expect.stringMatching(/^1\.0\.\w+$/),
    expect.stringMatching(/^1\.\d\.\w+$/),
    undefined,
    undefined,
    expect.stringMatching(/^2\.\d\.\w+$/),
  ])
  expect(heard.at(-1)?.data).toMatchObject({ runId: 'k', text: 'echo hi', seq: 2 })
})

test('a place that cannot be one is refused with what to send', async () => {
  const { call } = await aGateway()

  expect(await call('GET', '/sessions/main/events', { headers: { 'last-event-id': 'yesterday' } })).toMatchObject({
    status: 400,
    json: { error: { code: 'bad_request', field: 'Last-Event-ID', hint: expect.stringContaining('12.3') } },
  })
})

test('[INV-15] a reader that goes away leaves no listener behind', async () => {
  const { runtime, gateway } = await aGateway()
  const listen = partsOf(runtime).outputs.listen.bind(partsOf(runtime).outputs)
  let listening = 0
  partsOf(runtime).outputs.listen = (name, listener) => {
    listening++
    const stop = listen(name, listener)
    return () => {
      listening--
      stop()
    }
  }
  const { stop } = await eventsOf(gateway.url, 'main')
  expect(listening).toBe(1)

  stop()

  await expect.poll(() => listening).toBe(0)
})

test('who still asks a node that has shut down is told to come back, and not to open something', async () => {
  const { runtime } = await aGateway()
  await runtime.close()
  const drained = AbortSignal.abort()
  const { log } = partsOf(runtime).environment
  const throttle = new Throttle(gatewayLimits, systemClock, () => undefined)
  const app = gatewayApp({ runtime: () => runtime, log, tokens: [token], host: '127.0.0.1', draining: drained, closing: drained, throttle })

  const headers = { host: '127.0.0.1', authorization: `Bearer ${token}` }
  const answer = await app.request('/rpc/sessions.get', { method: 'POST', headers, body: '{"sessionKey":"main"}' }, {})

  expect(answer.status).toBe(503)
  expect(await answer.json()).toMatchObject({ error: { code: 'closed', retryable: true, message: 'this node is shutting down' } })
})

test('an address that is not there is answered with those that are', async () => {
  const { call } = await aGateway()

  expect(await call('GET', '/nothing')).toMatchObject({ status: 404, json: { error: { code: 'not_found', hint: expect.stringContaining('/rpc/') } } })
})

test('what is nested deeper than anybody can read is refused as such, at each door', async () => {
  const { call } = await aGateway()
  const deep = (levels: number) => `${'['.repeat(levels)}${']'.repeat(levels)}`
  const tools = `[{"type":"function","function":{"name":"f","parameters":{"x":${deep(2000)}}}}]`

  for (const [path, body] of [
    ['/rpc/chat.send', `{"sessionKey":"main","message":"x","toolResults":${deep(100_000)}}`],
    ['/rpc/tools.result', `{"sessionKey":"main","output":${deep(2000)}}`],
    ['/v1/chat/completions', `{"model":"main","messages":[{"role":"user","content":"x"}],"tools":${tools}}`],
  ] as const) {
    const answer = await call('POST', path, { body })
    expect([path, answer.status, answer.text]).toEqual([path, 400, expect.stringContaining('nested more than 200 levels')])
  }
})
