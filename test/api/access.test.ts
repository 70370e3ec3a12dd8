/** Tokens with scopes and sessions, at every door of a node: what they open, and that nothing can be learned of what they do not. */
import { expect, test } from 'vitest'
import { virtualClock } from '../../src/testing/index.ts'
import { aGateway, eventsOf } from './http/harness.ts'
import { aSocket } from './ws/a-socket.ts'

const mine = 'agent:main:web:mine'
const foreign = 'agent:main:sms:foreign'

/** A node with a session of each sort, and a token for the one. */
const aNode = async (token: Record<string, unknown> = {}) => {
  const made = await aGateway()
  for (const key of [mine, foreign]) await (await made.runtime.session(key).send('hello')).result()
  const created = await made.rpc('tokens.create', { name: 'page', scopes: ['write'], sessions: ['agent:main:web:*'], ...token })
  const auth = { headers: { authorization: `Bearer ${created.json.token}` } }
  const rpc = async (command: string, input: unknown = {}) => made.call('POST', `/rpc/${command}`, { ...auth, body: JSON.stringify(input) })
  return { ...made, token: created.json.token as string, created: created.json, auth, own: rpc }
}
/** As it is answered about one session, with that session called K. */
const blind = (text: string, key: string) => text.replaceAll(JSON.stringify(key).slice(1, -1), 'K')

const aboutOne: [command: string, input: (key: string) => object][] = [
  ['chat.abort', (sessionKey) => ({ sessionKey })],
  ['chat.history', (sessionKey) => ({ sessionKey, details: true })],
  ['sessions.get', (sessionKey) => ({ sessionKey })],
  ['sessions.reset', (sessionKey) => ({ sessionKey })],
  ['sessions.compact', (sessionKey) => ({ sessionKey })],
  ['sessions.configure', (sessionKey) => ({ sessionKey, toggles: { verbose: 'on' } })],
  ['sessions.patch', (sessionKey) => ({ sessionKey, model: 'test/echo' })],
  ['sessions.clear', (sessionKey) => ({ sessionKeys: [sessionKey] })],
  ['sessions.delete', (sessionKey) => ({ sessionKey })],
  ['agent.wait', (sessionKey) => ({ sessionKey, runId: 'm1', timeoutMs: 1 })],
  ['approvals.list', (sessionKey) => ({ sessionKey })],
  ['approvals.resolve', (sessionKey) => ({ sessionKey, callId: 'c', decision: 'deny', inputHash: 'x'.repeat(64) })],
  ['events.read', (id) => ({ id })],
  ['events.read', (id) => ({ id, after: 'nonsense' })],
  ['trace.read', (id) => ({ id })],
  ['trace.frames', (id) => ({ id })],
  ['trace.replay', (id) => ({ id })],
  ['trace.moment', (id) => ({ id, seq: 1 })],
  ['trace.steps', (id) => ({ id, seq: 1 })],
  ['trace.relay', (id) => ({ id })],
  ['trace.export', (id) => ({ id })],
  ['actors.get', (id) => ({ kind: 'session', id })],
  ['actors.revive', (id) => ({ kind: 'session', id })],
  ['actors.delete', (id) => ({ kind: 'session', id })],
]

test.each(aboutOne)('[INV-19] %s says of a foreign session, to the letter, what it says of one that is not there', async (command, input) => {
  const { own, rpc } = await aNode({ scopes: ['admin'] })
  const unknown = 'agent:main:web:nobody'

  const [known, none] = [await own(command, input(foreign)), await own(command, input(unknown))]

  expect(blind(known.text, foreign)).toBe(blind(none.text, unknown))
  expect(known.status).toBe(none.status)
  expect((await rpc('sessions.get', { sessionKey: foreign })).json).toMatchObject({ messages: 2 })
  const allowed = await own(command, input(mine))
  if (!['events.read'].includes(command) || !('after' in input(''))) expect(allowed.json?.error?.code).not.toBe('forbidden')
})

test('[INV-19] nothing is said in a foreign session, and no parent is taken from there', async () => {
  const { own, rpc } = await aNode()

  expect((await own('chat.send', { sessionKey: foreign, message: 'hello' })).json.error.code).toBe('not_found')
  expect((await own('chat.send', { sessionKey: 'agent:main:sms:new', message: 'hello' })).json.error.code).toBe('not_found')
  expect((await own('chat.send', { sessionKey: 'agent:main:web:fork', message: 'hello', parent: foreign })).json.error.code).toBe('not_found')
  expect((await own('chat.send', { sessionKey: 'agent:main:web:new', message: 'hello' })).status).toBe(200)
  expect((await rpc('sessions.list')).json.sessions.map(({ key }: any) => key).sort()).toEqual([foreign, mine, 'agent:main:web:new'].sort())
})

test('[INV-19] lists show what the token reaches and no more, and node-wide commands are refused', async () => {
  const { own, rpc } = await aNode({ scopes: ['admin'] })
  await rpc('chat.send', { sessionKey: foreign, message: 'danger' })
  await rpc('chat.send', { sessionKey: mine, message: 'danger' })

  for (const input of [{}, { details: true }, { limit: 1 }])
    expect((await own('sessions.list', input)).json.sessions.map(({ key }: any) => key)).toEqual([mine])
  expect((await own('actors.list', { limit: 1 })).json.actors.map(({ id }: any) => id)).toEqual([mine])
  // A fork that they were given does not say where it came from.
  await rpc('trace.fork', { id: foreign, as: 'agent:main:web:given' })
  for (const command of ['actors.list', 'sessions.list']) {
    const { text } = await own(command)
    expect(text).toContain('given')
    expect(text).not.toContain('sms')
  }
  expect((await own('approvals.list')).json.approvals.every(({ sessionKey }: any) => sessionKey.startsWith('agent:main:web:'))).toBe(true)
  for (const command of ['config.get', 'tokens.list', 'nodes.list', 'extensions.list', 'extensions.reload', 'environments.list'])
    expect((await own(command, command === 'extensions.reload' ? { name: 'chat' } : {})).json.error).toMatchObject({
      code: 'forbidden',
      hint: expect.any(String),
    })
  expect((await own('actors.get', { kind: 'config', id: 'tokens' })).json.error.code).toBe('not_found')
  expect((await own('trace.read', { kind: 'config', id: 'tokens' })).json.error.code).toBe('not_found')
})

test('[INV-19] a token of some sessions is not told how many actors a node has, neither when it asks nor on its socket', async () => {
  const clock = virtualClock()
  const { gateway, rpc } = await aGateway({ clock })
  const { token } = (await rpc('tokens.create', { name: 'page', scopes: ['read'], sessions: ['agent:main:web:*'] })).json
  const [bound, whole] = [await aSocket(gateway.url, { auth: { token } }), await aSocket(gateway.url)]

  expect((await bound.request('health')).payload).toMatchObject({ ready: true })
  expect((await bound.request('health')).payload).not.toHaveProperty('liveActors')
  expect((await whole.request('health')).payload).toHaveProperty('liveActors')
  const told = Promise.all([bound.event('health'), whole.event('health')])
  await clock.advance(60_000)
  const [forBound, forWhole] = await told
  expect([JSON.stringify(forBound).includes('liveActors'), JSON.stringify(forWhole).includes('liveActors')]).toEqual([false, true])
})

test('[INV-19] scopes are those of the token, whatever a connection asks for', async () => {
  const { gateway, token, own } = await aNode({ scopes: ['read'] })
  const { request, welcome } = await aSocket(gateway.url, { auth: { token }, scopes: ['admin', 'write'] })

  expect(welcome.payload.scopes).toEqual(['read'])
  for (const answer of [await request('chat.send', { sessionKey: mine, message: 'x' }), await request('tokens.list')])
    expect(answer).toMatchObject({ ok: false, error: { code: 'forbidden' } })
  expect((await own('chat.send', { sessionKey: mine, message: 'x' })).status).toBe(403)
  expect(await request('sessions.get', { sessionKey: mine })).toMatchObject({ ok: true })
})

test('[INV-19] a socket and a stream hear nothing of a foreign session, as of one that is not there', async () => {
  const { gateway, token, runtime, created } = await aNode()
  const socket = await aSocket(gateway.url, { auth: { token } })
  const stream = await eventsOf(gateway.url, foreign, { authorization: `Bearer ${token}` })
  const ours = await eventsOf(gateway.url, mine, { authorization: `Bearer ${token}` })

  expect(await socket.request('chat.subscribe', { sessionKey: foreign })).toMatchObject({
    ok: true,
    payload: { sessionKey: foreign, run: null, tools: [] },
  })
  expect(await socket.request('chat.subscribe', { sessionKey: 'agent:main:web:none' })).toMatchObject({ ok: true, payload: { run: null, tools: [] } })
  await socket.request('chat.subscribe', { sessionKey: mine })
  await (await runtime.session(foreign).send('a secret')).result()
  await (await runtime.session(mine).send('for me')).result()
  await socket.event('chat', ({ state }) => state === 'final')

  expect(JSON.stringify(socket.frames)).not.toContain('a secret')
  expect(stream.status).toBe(200)
  const first = stream.events.next()
  expect((await ours.events.next()).value).toMatchObject({ event: 'accepted' })
  expect(await Promise.race([first, socket.request('sessions.get', { sessionKey: mine }).then(() => 'nothing')])).toBe('nothing')
  stream.stop()
  ours.stop()
  await first.catch(() => undefined)
  expect(created.id).toMatch(/^[0-9a-f]{12}$/)
})

test('[INV-19] the doors of other protocols know the token too', async () => {
  const { call, auth, rpc } = await aNode()
  const post = (path: string, body: object, headers: Record<string, string> = {}) =>
    call('POST', path, { headers: { ...auth.headers, ...headers }, body: JSON.stringify(body) })
  const chat = { model: 'main', messages: [{ role: 'user', content: 'hello' }] }
  const page = (id: string) => ({ id, trigger: 'submit-message', messages: [{ id: 'u1', role: 'user', parts: [{ type: 'text', text: 'hello' }] }] })

  const [known, none] = [
    await post('/v1/chat/completions', chat, { 'x-statecast-session': foreign }),
    await post('/v1/chat/completions', chat, { 'x-statecast-session': 'agent:main:sms:none' }),
  ]
  expect([known.status, blind(known.text, foreign)]).toEqual([404, blind(none.text, 'agent:main:sms:none')])
  expect((await post('/v1/chat/completions', chat, { 'x-statecast-session': mine })).status).toBe(200)
  const alone = await post('/v1/responses', { model: 'main', input: 'hello' })
  expect(alone.status).toBe(200)
  expect((await post('/v1/responses', { model: 'main', input: 'and?', previous_response_id: alone.json.id })).status).toBe(200)
  const theirs = await rpc('chat.send', { sessionKey: foreign, message: 'x', idempotencyKey: 'm9' })
  const id = (key: string) => `resp_${Buffer.from(JSON.stringify([key, theirs.json.id])).toString('base64url')}`
  expect(
    (await post('/v1/responses', { model: 'main', input: 'and?', previous_response_id: id(foreign) })).json.error.message.replace(
      id(foreign).slice(0, 80),
      '',
    ),
  ).toBe(
    (await post('/v1/responses', { model: 'main', input: 'and?', previous_response_id: id('v1:none') })).json.error.message.replace(
      id('v1:none').slice(0, 80),
      '',
    ),
  )
  expect((await post('/api/chat', page(foreign))).status).toBe(404)
  expect((await post('/api/chat', page('agent:main:web:page'))).status).toBe(200)
  expect((await call('GET', `/api/chat/${foreign}/stream`, auth)).status).toBe(204)
  expect((await call('GET', '/metrics', auth)).status).toBe(403)
})

test('[INV-19] a foreign session is foreign by each of its spellings, also where only an id of ours names it', async () => {
  const { call, auth, rpc } = await aNode()
  await rpc('chat.send', { sessionKey: 'main', message: 'a secret', idempotencyKey: 'm1' })
  await rpc('agent.wait', { sessionKey: 'main', runId: 'm1' })
  const before = (await rpc('sessions.get', { sessionKey: 'main' })).json.messages
  const id = (key: string) => `resp_${Buffer.from(JSON.stringify([key, 'm1'])).toString('base64url')}`

  for (const key of ['main', 'main:web:main', 'agent:main:main', 'agent:main:web:main', 'agent:main:web:default', 'agent:MAIN:web:main', 'agent::'])
    for (const more of [{}, { 'idempotency-key': 'm1' }]) {
      const body = JSON.stringify({ model: 'main', input: 'and?', previous_response_id: id(key) })
      const answer = await call('POST', '/v1/responses', { headers: { ...auth.headers, ...more }, body })
      expect([key, answer.status, answer.text]).toEqual([key, 404, expect.not.stringContaining('secret')])
    }

  expect((await rpc('sessions.get', { sessionKey: 'main' })).json.messages).toBe(before)
})

test('[INV-19] a token is kept as a hash, shown once, and over when it is revoked or its time has come: its sockets are closed', async () => {
  const { rpc, call, gateway, created, token, auth } = await aNode()
  const socket = await aSocket(gateway.url, { auth: { token } })
  expect(JSON.stringify([(await rpc('tokens.list')).json, (await rpc('trace.read', { kind: 'config', id: 'tokens' })).json])).not.toContain(token)
  expect((await rpc('tokens.list')).json.tokens).toMatchObject([
    { id: created.id, name: 'page', scopes: ['read', 'write'], sessions: ['agent:main:web:*'] },
  ])

  await rpc('tokens.revoke', { id: 'page' })

  expect((await call('POST', '/rpc/sessions.list', { ...auth, body: '{}' })).status).toBe(401)
  expect(await socket.request('sessions.list')).toMatchObject({ ok: false, error: { code: 'unauthorised' } })
  expect((await socket.closed).code).toBe(1008)
  expect((await rpc('tokens.revoke', { id: 'page' })).json.error.code).toBe('not_found')
})

test('[INV-19] a token whose time has come opens nothing', async () => {
  const clock = virtualClock()
  const { rpc, call } = await aGateway({}, { environment: { clock } })
  const { token } = (await rpc('tokens.create', { name: 'short', scopes: ['read'], expiresInMs: 60_000 })).json
  const list = async () => (await call('POST', '/rpc/sessions.list', { headers: { authorization: `Bearer ${token}` }, body: '{}' })).status

  expect(await list()).toBe(200)
  await clock.advance(60_001)
  expect(await list()).toBe(401)
})

test('a token that is bound to no sessions reaches all, within its scopes; two cannot have one name', async () => {
  const { rpc, call } = await aGateway()
  const { token } = (await rpc('tokens.create', { name: 'reader', scopes: ['read'] })).json
  const own = (command: string) => call('POST', `/rpc/${command}`, { headers: { authorization: `Bearer ${token}` }, body: '{}' })
  await rpc('chat.send', { sessionKey: 'anything', message: 'hello' })

  expect((await own('sessions.list')).json.sessions).toHaveLength(1)
  expect((await own('config.get')).status).toBe(200)
  expect((await own('tokens.list')).status).toBe(403)
  expect((await rpc('tokens.create', { name: 'reader', scopes: ['read'] })).json.error).toMatchObject({ code: 'conflict', field: 'name' })
})
