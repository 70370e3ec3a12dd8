/** The gateway's WebSocket as a client of any language would use it. */
import { once } from 'node:events'
import { connect } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { agent } from '../../../src/index.ts'
import { virtualClock } from '../../../src/testing/index.ts'
import { aGateway, token } from '../http/harness.ts'
import { aSocket, rawSocket } from './a-socket.ts'

test('[CH-02] the server begins with a challenge, and answers connect with its protocol and its policy', async () => {
  const { gateway } = await aGateway()
  const { welcome, frames } = await aSocket(gateway.url, { scopes: ['read'], caps: ['chat.patch', 'unheard.of'] })

  expect(frames[0]).toMatchObject({ type: 'event', event: 'connect.challenge', payload: { nonce: expect.any(String) } })
  expect(welcome).toMatchObject({
    ok: true,
    payload: { protocol: 1, policy: { frameBytesMax: 524_288, bufferedBytesMax: 1_572_864, tickMs: 30_000 }, scopes: ['read'], caps: ['chat.patch'] },
  })
})

test.each([
  ['a wrong token', { auth: { token: 'another-token-of-thirty-two-chars' } }, 'unauthorised'],
  ['no token', { auth: {} }, 'bad_request'],
  ['a version that nobody speaks', { minProtocol: 7, maxProtocol: 9 }, 'unsupported'],
  ['a scope that does not exist', { scopes: ['root'] }, 'bad_request'],
  ['a field too many', { isAdmin: true }, 'bad_request'],
])('[CH-02] %s is refused with a typed error, and the socket is closed', async (_, params, code) => {
  const { gateway } = await aGateway()
  const { welcome, closed } = await aSocket(gateway.url, params)

  expect(welcome).toMatchObject({ ok: false, error: { code, hint: expect.any(String) } })
  expect((await closed).code).toBe(1008)
})

test('[CH-02] nothing is heard before connect', async () => {
  const { gateway } = await aGateway()
  const { send, until, closed } = rawSocket(gateway.url)
  await until(({ event }) => event === 'connect.challenge')

  send({ type: 'req', id: '1', method: 'sessions.list' })

  expect(await until(({ type }) => type === 'res')).toMatchObject({ id: '1', ok: false, error: { code: 'unauthorised' } })
  expect((await closed).code).toBe(1008)
})

test('[CH-01] whoever says something is told all of the answer: deltas that hold the whole text so far, then its end', async () => {
  const { gateway } = await aGateway()
  const { request, event, events } = await aSocket(gateway.url)

  const sent = await request('chat.send', { sessionKey: 'main', message: 'hello there', idempotencyKey: 'k1' })
  const { payload: final } = await event('chat', ({ state }) => state === 'final')

  expect(sent).toMatchObject({ ok: true, payload: { runId: 'k1', status: 'started' } })
  expect(final).toMatchObject({
    runId: 'k1',
    sessionKey: 'main',
    ids: ['k1'],
    model: 'test/echo',
    message: { role: 'assistant', content: [{ type: 'text', id: 'k1:1', text: 'echo hello there' }] },
  })
  const chat = events('chat')
  expect(chat.map(({ seq }) => seq)).toEqual(chat.map((_, index) => index + 1))
  expect(events('session.message')).toMatchObject([{ id: 'k1', status: 'started', text: 'hello there' }])
  expect(chat.at(-1)).toEqual(final)
})

test('[CH-49] a tool is told as running, with what it is given, and once as done', async () => {
  const { gateway } = await aGateway()
  const { request, event, events } = await aSocket(gateway.url)
  await request('chat.send', { sessionKey: 'main', message: 'danger', idempotencyKey: 'k1' })

  const { payload: asked } = await event('approval.requested')
  await request('approvals.resolve', { sessionKey: 'main', callId: asked.approval.callId, decision: 'approve', inputHash: asked.approval.inputHash })
  await event('chat', ({ state }) => state === 'final')

  const tools = events('session.tool')
  expect(tools.map(({ state }) => state)).toEqual(['running', 'done'])
  expect(new Set(tools.map(({ callId }) => callId)).size).toBe(1)
  expect(tools).toMatchObject([{ toolName: 'danger', input: {} }, { output: 'done' }])
  expect(events('approval.resolved')).toMatchObject([{ decision: 'approve' }])
})

test('[CH-63] a run that is stopped ends once, as aborted, with what it had said', async () => {
  const { gateway } = await aGateway()
  const { request, event, events } = await aSocket(gateway.url)
  await request('chat.send', { sessionKey: 'main', message: 'hang', idempotencyKey: 'k1' })
  await event('chat', ({ message }) => message?.content.some((block) => block.type === 'text'))

  await request('chat.abort', { sessionKey: 'main' })
  const { payload } = await event('chat', ({ state }) => state !== 'delta')

  expect(payload).toMatchObject({ state: 'aborted', message: { content: [{ type: 'text', text: 'so far' }] } })
  expect(events('chat').filter(({ state }) => state !== 'delta')).toHaveLength(1)
})

test('two clients on one session see one truth, also one that comes in the middle of an answer', async () => {
  const { gateway } = await aGateway()
  const first = await aSocket(gateway.url)
  await first.request('chat.send', { sessionKey: 'main', message: 'hang', idempotencyKey: 'k1' })
  await first.event('chat', ({ message }) => message?.content.some((block) => block.type === 'text'))

  const second = await aSocket(gateway.url)
  const { payload } = await second.request('chat.subscribe', { sessionKey: 'main' })
  await second.request('chat.abort', { sessionKey: 'main' })

  expect(payload).toMatchObject({ run: { runId: 'k1', state: 'delta', message: { content: [{ type: 'text', text: 'so far' }] } }, tools: [] })
  const ends = await Promise.all([first, second].map(({ event }) => event('chat', ({ state }) => state === 'aborted')))
  expect(ends[1]).toEqual(ends[0])
})

test('[CH-03] ids, methods and fields are checked, each with the field at fault', async () => {
  const { gateway } = await aGateway()
  const { request, send, until } = await aSocket(gateway.url)

  expect(await request('sessions.get', { sessionKey: 'main', more: 1 })).toMatchObject({ ok: false, error: { code: 'bad_request', field: 'more' } })
  expect(await request('sessions.gets', {})).toMatchObject({ ok: false, error: { code: 'not_found', hint: expect.stringContaining('sessions.get') } })
  expect(await request('__proto__', {})).toMatchObject({ ok: false, error: { code: 'not_found' } })
  expect(await request('constructor', {})).toMatchObject({ ok: false, error: { code: 'not_found' } })
  expect(await request('sessions.get', { sessionKey: 'nobody' })).toMatchObject({ ok: false, error: { code: 'not_found' } })
  send('{"type":"req","id":"x","method":"health","params":{"__proto__":{"a":1}}}')
  expect(await until(({ id }) => id === 'x')).toMatchObject({ ok: true })
  expect(Object.prototype).not.toHaveProperty('a')
})

test('[CH-03] frames that are none are answered, and too many of them end the connection', async () => {
  const { gateway } = await aGateway()
  const { send, frames, closed, request } = await aSocket(gateway.url)

  for (const text of [
    '{',
    '[]',
    'null',
    '"hi"',
    '{"type":"req"}',
    '{"type":"res","id":"1","ok":true}',
    `${'['.repeat(50_000)}`,
    '{"type":"req","id":"","method":"health"}',
  ])
    send(text)
  expect(await request('health')).toMatchObject({ ok: true })
  expect(frames.filter(({ type, ok }) => type === 'res' && !ok)).toHaveLength(8)
  for (let count = 0; count < 2; count++) send('{')

  expect(await closed).toEqual({ code: 1008, reason: 'too many frames that cannot be understood' })
})

test.each([
  ['a frame of more than 512 KiB', Buffer.from(JSON.stringify({ type: 'req', id: '1', method: 'health', params: { x: 'x'.repeat(600_000) } })), 1009],
  ['a text that is no UTF-8', Buffer.from([0x7b, 0xff, 0xfe, 0x7d]), 1007],
])('[CH-03] %s ends the connection, and nobody else’s', async (_, data, code) => {
  const { gateway } = await aGateway()
  const [bad, good] = [await aSocket(gateway.url), await aSocket(gateway.url)]

  bad.socket.send(data, { binary: false })

  expect((await bad.closed).code).toBe(code)
  expect(await good.request('health')).toMatchObject({ ok: true })
})

test.each([
  ['a page of another site', { headers: { origin: 'http://evil.example' } }, 403],
  ['a host name that is not ours', { headers: { host: 'rebound.example' } }, 403],
  ['another address', { path: '/elsewhere' }, 404],
])('%s gets no socket', async (_, options, status) => {
  const { gateway } = await aGateway()
  expect(await rawSocket(gateway.url, options).refused).toBe(status)
})

test('[CH-05] what a connection has no scope for is neither done nor told', async () => {
  const { gateway } = await aGateway()
  const reader = await aSocket(gateway.url, { scopes: ['read'] })
  const writer = await aSocket(gateway.url, { scopes: ['write'] })
  const nobody = await aSocket(gateway.url, { scopes: [] })

  expect(await reader.request('chat.send', { sessionKey: 'main', message: 'hi' })).toMatchObject({
    ok: false,
    error: {
      code: 'forbidden',
      message: "chat.send needs the scope 'write'; this connection has read",
      hint: expect.stringMatching(/token create .*--scopes write/),
    },
  })
  expect(await nobody.request('chat.subscribe', { sessionKey: 'main' })).toMatchObject({ ok: false, error: { code: 'forbidden' } })
  expect(await writer.request('approvals.list')).toMatchObject({ ok: false, error: { code: 'forbidden' } })
  expect(await writer.request('nodes.drain', { node: 'x' })).toMatchObject({ ok: false, error: { code: 'forbidden' } })
  await reader.request('chat.subscribe', { sessionKey: 'main' })
  await writer.request('chat.send', { sessionKey: 'main', message: 'danger', idempotencyKey: 'k1' })
  await reader.event('session.tool')
  await Promise.all([reader, writer].map(({ event }) => event('session.state', ({ state }) => state === 'running.awaiting-input')))

  expect([reader, writer].flatMap(({ events }) => events('approval.requested'))).toEqual([])
})

test('a token shown in the address opens nothing', async () => {
  const { gateway } = await aGateway()
  const { until, send, closed } = rawSocket(gateway.url, { path: `/ws?token=${token}` })
  await until(({ event }) => event === 'connect.challenge')
  send({ type: 'req', id: '1', method: 'connect', params: { minProtocol: 1, maxProtocol: 1, client: { name: 'test' }, auth: {} } })

  expect((await closed).code).toBe(1008)
})

test('[CH-02, CH-04] who says nothing for 10 s is sent away; who is connected is told every 30 s that the node is there', async () => {
  const clock = virtualClock()
  const { gateway } = await aGateway({ clock })
  const silent = rawSocket(gateway.url)
  await silent.until(({ event }) => event === 'connect.challenge')
  const { event, events } = await aSocket(gateway.url)

  await clock.advance(10_000)
  expect(await silent.closed).toEqual({ code: 1008, reason: 'no connect came within 10 s' })
  await clock.advance(51_000)
  await event('health')

  expect(events('tick')).toHaveLength(2)
})

test('[CH-03] what is for everybody is numbered without a gap', async () => {
  const clock = virtualClock()
  const { gateway } = await aGateway({ clock })
  const { frames, event } = await aSocket(gateway.url)
  for (let count = 0; count < 50; count++) await clock.advance(60_000)
  await event('health')
  await expect.poll(() => frames.filter(({ seq }) => seq !== undefined).length).toBeGreaterThan(140)

  const seqs = frames.flatMap(({ seq }) => seq ?? [])
  expect(seqs).toEqual(seqs.map((_, index) => index + 1))
})

test('[CH-06] for a client that stops reading deltas are left out, then an end closes its connection; the others and the history miss nothing', async () => {
  const { gateway, rpc } = await aGateway()
  const [slow, quick] = [await aSocket(gateway.url), await aSocket(gateway.url, { caps: ['chat.patch'] })]
  await slow.request('chat.subscribe', { sessionKey: 'main' })
  slow.socket.pause()

  let turns = 0
  while (gateway.sockets() > 1) {
    const runId = `k${++turns}`
    await quick.request('chat.send', { sessionKey: 'main', message: 'megabyte', idempotencyKey: runId })
    const { payload } = await quick.event('chat', (chat) => chat.runId === runId && chat.state !== 'delta')
    expect(payload.state).toBe('final')
  }
  slow.socket.resume()

  await slow.closed
  expect(slow.events('chat').filter(({ state }) => state === 'final').length).toBeLessThan(turns)
  const { messages } = (await rpc('chat.history', { sessionKey: 'main' })).json
  expect(messages).toHaveLength(2 * turns)
  let text = ''
  for (let offset: number | null = 0; offset !== null; ) {
    const { json } = await rpc('chat.message', { sessionKey: 'main', messageId: messages.at(-1).id, offset, limit: 500_000 })
    text += json.text
    offset = json.next
  }
  expect(text).toBe('x'.repeat(1_000_000))
})

test('[CH-64] a burst of more pieces than are kept for a reader is shown whole all the same', async () => {
  const { gateway } = await aGateway()
  const { request, event } = await aSocket(gateway.url)
  await request('chat.send', { sessionKey: 'main', message: 'burst', idempotencyKey: 'k1' })

  const { payload } = await event('chat', ({ state }) => state === 'final')

  expect(payload.message?.content).toEqual([{ type: 'text', id: 'k1:1', text: 'so many words '.repeat(8_000) }])
})

test('[CH-08, CH-09] what is sent is checked and composed before anything is made of it', async () => {
  const { gateway } = await aGateway()
  const { request } = await aSocket(gateway.url)

  for (const params of [
    { message: 'hi' },
    { sessionKey: 'main' },
    { sessionKey: 'main', message: 'a\0b' },
    { sessionKey: 'main', message: '\u0007' },
  ])
    expect(await request('chat.send', params)).toMatchObject({ ok: false, error: { code: 'bad_request', field: expect.any(String) } })
  expect(await request('sessions.list')).toMatchObject({ payload: { sessions: [] } })
  await request('chat.send', { sessionKey: 'main', message: 'cafe\u0301 \u0007now', idempotencyKey: 'k1' })
  await request('agent.wait', { sessionKey: 'main', runId: 'k1' })
  expect((await request('chat.history', { sessionKey: 'main' })).payload.messages[0]).toMatchObject({ text: 'caf\u00e9 now' })
})

test('[CH-78, CH-79] a session is stopped with all that waits in it; what was said stays, once, and marked', async () => {
  const { gateway } = await aGateway()
  const { request, event } = await aSocket(gateway.url)
  await request('chat.send', { sessionKey: 'main', message: 'hang', idempotencyKey: 'k1' })
  await event('chat', ({ message }) => message?.content.some((block) => block.type === 'text'))
  await request('chat.send', { sessionKey: 'main', message: 'and then?', idempotencyKey: 'k2', queueMode: 'followup' })

  expect(await request('chat.abort', { sessionKey: 'main', runId: 'nobody' })).toMatchObject({ ok: true, payload: { aborted: false, runIds: [] } })
  expect(await request('chat.abort', { sessionKey: 'nobody' })).toMatchObject({ ok: false, error: { code: 'not_found' } })
  expect(await request('chat.abort', { sessionKey: 'main' })).toMatchObject({ payload: { aborted: true, runIds: ['k1', 'k2'] } })
  await event('chat', ({ state }) => state === 'aborted')

  const { messages, waiting } = (await request('chat.history', { sessionKey: 'main' })).payload
  expect(messages.filter(({ role }: { role: string }) => role === 'assistant')).toMatchObject([{ text: 'so far', partial: true }])
  expect(waiting).toEqual([])
  expect(await request('chat.abort', { sessionKey: 'main' })).toMatchObject({ payload: { aborted: false } })
})

test('[CH-06] a client that asks and reads no answer is not heard any more, and sent away when it has not caught up', async () => {
  const clock = virtualClock()
  const { gateway } = await aGateway({ clock })
  const [greedy, other] = [await aSocket(gateway.url), await aSocket(gateway.url)]
  await other.request('chat.send', { sessionKey: 'main', message: 'megabyte', idempotencyKey: 'k1' })
  await other.event('chat', ({ state }) => state === 'final')
  greedy.socket.pause()
  const all = { sessionKey: 'main', messageId: 'k1:1', limit: 500_000 }
  for (let asked = 0; asked < 60; asked++) greedy.send({ type: 'req', id: `h${asked}`, method: 'chat.message', params: all })

  while (gateway.sockets() > 1) {
    await other.request('health')
    await clock.advance(10_000)
  }
  await clock.advance(1_000)
  greedy.socket.resume()

  await greedy.closed
  expect(await other.request('health')).toMatchObject({ ok: true })
})

test('[CH-06] a client that reads gets all that it asks for, however large', async () => {
  const { gateway } = await aGateway()
  const { request, event } = await aSocket(gateway.url)
  for (const id of ['k1', 'k2', 'k3']) {
    await request('chat.send', { sessionKey: 'main', message: 'megabyte', idempotencyKey: id })
    await event('chat', ({ runId, state }) => runId === id && state === 'final')
  }

  const answers = await Promise.all(Array.from({ length: 20 }, () => request('chat.history', { sessionKey: 'main' })))

  expect(answers.map(({ ok }) => ok)).toEqual(Array(20).fill(true))
  expect(await request('health')).toMatchObject({ ok: true })
})

test('clients on the socket are counted among the figures of the node', async () => {
  const { gateway, call } = await aGateway()
  await aSocket(gateway.url)
  expect((await call('GET', '/metrics')).text).toMatch(/^statecast_sockets 1$/m)
})

test('[CH-17] a command is answered by a final of its own, without a run of a model, also where it is the first that is said', async () => {
  const { gateway } = await aGateway()
  const { request, event, events } = await aSocket(gateway.url)

  const { payload } = await request('chat.send', { sessionKey: 'main', message: '/status', idempotencyKey: 'k1' })
  const { payload: final } = await event('chat', ({ state }) => state === 'final')

  expect(payload).toMatchObject({ runId: 'k1', status: 'answered' })
  expect(final.message?.content).toEqual([{ type: 'text', id: 'k1:reply', text: expect.stringContaining('Model') }])
  expect(events('chat')).toHaveLength(1)
  expect(events('session.message').map(({ status }) => status)).toEqual(['answered'])
})

test('[CH-17] what commands answered stands in the history where it was said, with no usage, and no model reads it', async () => {
  const asked: string[] = []
  const models = { 'test/ear': (request: { messages: unknown }) => (asked.push(JSON.stringify(request.messages)), { text: 'heard' }) }
  const { gateway } = await aGateway({}, { agents: [agent({ name: 'main', model: 'test/ear' })], models })
  const { request, event } = await aSocket(gateway.url)
  const say = async (message: string, idempotencyKey: string) => {
    await request('chat.send', { sessionKey: 'main', message, idempotencyKey })
    await event('chat', ({ runId, state }) => runId === idempotencyKey && state === 'final')
  }
  const history = async (more: object = {}) => (await request('chat.history', { sessionKey: 'main', ...more })).payload
  const ids = (messages: { id: string }[]) => messages.map(({ id }) => id)

  await say('/status', 'k1')
  expect((await history()).messages).toMatchObject([
    { role: 'assistant', id: 'k1:reply', text: expect.stringContaining('Model'), injected: true, usage: { inputTokens: 0, outputTokens: 0 } },
  ])
  for (const [message, key] of [
    ['one', 'k2'],
    ['/help', 'k3'],
    ['two', 'k4'],
    ['/status', 'k5'],
  ] as const)
    await say(message, key)

  const all = await history()
  expect(ids(all.messages)).toEqual(['k1:reply', 'k2', 'k2:1', 'k3:reply', 'k4', 'k4:1', 'k5:reply'])
  const newest = await history({ limit: 2 })
  expect([ids(newest.messages), newest.more]).toEqual([['k4', 'k4:1', 'k5:reply'], true])
  const older = await history({ limit: 2, before: 'k4' })
  expect([ids(older.messages), older.more]).toEqual([['k1:reply', 'k2', 'k2:1', 'k3:reply'], false])
  expect(asked.join()).not.toMatch(/status|help|Model/)
  await say('/new', 'k6')
  expect((await history()).messages.filter(({ id }: { id: string }) => id.startsWith('k1'))).toEqual([])
})

test('a session that is deleted and begun anew says so to those who watch it', async () => {
  const { gateway } = await aGateway()
  const { request, event } = await aSocket(gateway.url)
  await request('chat.send', { sessionKey: 'main', message: 'old', idempotencyKey: 'k1' })
  await event('chat', ({ state }) => state === 'final')

  await request('sessions.delete', { sessionKey: 'main' })
  await request('chat.send', { sessionKey: 'main', message: 'new', idempotencyKey: 'k2' })

  await event('session.restart')
  await event('chat', ({ runId, state }) => runId === 'k2' && state === 'final')
})

test('a key may be as long as a key may be, and more sessions can be spoken to than watched', async () => {
  const { gateway } = await aGateway()
  const { request } = await aSocket(gateway.url)
  expect(await request('chat.send', { sessionKey: 'k'.repeat(400), message: 'hi' })).toMatchObject({ ok: true })
  for (let key = 0; key < 260; key++)
    expect(await request('chat.send', { sessionKey: `many-${key}`, message: '/status' })).toMatchObject({ ok: true })
})

test('a stranger who hangs up while being refused is no error of the node', async () => {
  const { gateway } = await aGateway()
  const thrown: unknown[] = []
  const hear = (error: unknown) => thrown.push(error)
  process.on('uncaughtException', hear)
  onTestFinished(() => void process.off('uncaughtException', hear))
  const { port } = new URL(gateway.url)

  for (let count = 0; count < 100; count++) {
    const socket = connect(Number(port), '127.0.0.1')
    socket.on('error', () => undefined)
    await once(socket, 'connect')
    socket.write(
      'GET /ws HTTP/1.1\r\nHost: evil.example\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n',
    )
    socket.resetAndDestroy()
  }

  expect(await (await aSocket(gateway.url)).request('health')).toMatchObject({ ok: true })
  expect(thrown).toEqual([])
})
