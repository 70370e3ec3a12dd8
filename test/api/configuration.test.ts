/** The configuration as clients of a node read and write it: over a socket, over HTTP, and by messages that are sent afterwards. */
import { expect, test } from 'vitest'
import { agent, createRuntime, type RuntimeOptions } from '../../src/index.ts'
import { aGateway } from './http/harness.ts'
import { aSocket } from './ws/a-socket.ts'

const saying = (name: string) => () => ({ text: `I am ${name}` })
/** Five models that say who they are, and an agent of its own. */
const five: RuntimeOptions = {
  agents: [agent({ name: 'main', model: 'test/agent' }), agent({ name: 'plain' })],
  models: Object.fromEntries(['agent', 'channel', 'session', 'default', 'heart', 'parent'].map((name) => [`test/${name}`, saying(name)])),
}

const set = async (request: Awaited<ReturnType<typeof aSocket>>['request'], key: string, value: unknown) => {
  const { payload } = await request('config.get')
  return request('config.set', { key, value, baseHash: payload.hash })
}

test('[CH-27] of two who write on one hash the second is told to reload and retry, and so is one who names none', async () => {
  const { gateway } = await aGateway({}, five)
  const one = await aSocket(gateway.url)
  const other = await aSocket(gateway.url)
  const { payload: read } = await one.request('config.get')

  const first = await one.request('config.set', { key: 'agents.defaults.model', value: 'test/default', baseHash: read.hash })
  const second = await other.request('config.set', { key: 'agents.defaults.model', value: 'test/heart', baseHash: read.hash })
  const blind = await other.request('config.set', { key: 'agents.defaults.model', value: 'test/heart' })

  expect(first).toMatchObject({
    ok: true,
    payload: { key: 'agents.defaults.model', value: 'test/default', hash: expect.not.stringMatching(read.hash) },
  })
  for (const refused of [second, blind])
    expect(refused).toMatchObject({ ok: false, error: { code: 'conflict', field: 'baseHash', message: expect.stringContaining('reload and retry') } })
  const { payload: now } = await other.request('config.get', { key: 'agents.defaults.model' })
  expect(now).toEqual({ key: 'agents.defaults.model', value: 'test/default', source: 'config', hash: first.payload.hash })
})

test('[CH-27] two who write at the same moment on one hash: one of them is refused', async () => {
  const { gateway } = await aGateway({}, five)
  const { request } = await aSocket(gateway.url)
  const { payload: read } = await request('config.get')

  const both = await Promise.all(
    ['test/agent', 'test/heart'].map((value) => request('config.set', { key: 'agents.defaults.model', value, baseHash: read.hash })),
  )

  expect(both.map(({ ok }) => ok).toSorted((a, b) => Number(a) - Number(b))).toEqual([false, true])
})

test.each([
  ['agents.defaults.model', 'no-slash'],
  ['agents.defaults.thinkingDefault', 'hardest'],
  ['agents.defaults.sandbox.mode', 'glass'],
  ['agents.defaults.sandbox.limits.processes', 0],
  ['agents.defaults.sandbox.limits.memoryBytes', '1 GiB'],
  ['agents.defaults.sandbox.limits.colour', 1],
  ['agents.defaults.heartbeat.model', 7],
  ['agents.defaults.timeoutMs', 0],
  ['agents.list[main].model', 'nothing'],
  ['agents.list[main].skills', 'all'],
  ['agents.list[ghost].model', 'test/agent'],
  ['channels.web.modelOverride', 'nothing'],
  ['channels.web.skillFilter', 'all'],
  ['models.allowed', 'test/agent'],
  ['session.scope', 'per-planet'],
  ['session.historyMax', 1001],
  ['session.store', ''],
  ['typing.intervalMs', -1],
  ['gateway.bufferedBytesMax', 'a lot'],
  ['gateway.dropIfSlow.tick', 'no'],
  ['gateway.dropIfSlow.final', true],
  ['agents.defaults.colour', 'red'],
])('[CH-97] %s with a value that does not fit: the start fails, and so does config.set, and both name it', async (key, value) => {
  const steps = [...key.matchAll(/[^.[\]]+/g)].map(([step]) => step)
  const isList = key.startsWith('agents.list')
  const config = isList
    ? { agents: { list: [{ id: steps[2], [steps[3] as string]: value }] } }
    : steps.reduceRight<unknown>((inner, step) => ({ [step]: inner }), value)
  const last = isList && steps[2] === 'ghost' ? 'ghost' : (steps.at(-1) as string)

  await expect(createRuntime({ ...five, transport: 'memory:', config: config as any })).rejects.toMatchObject({
    code: 'bad_request',
    field: expect.stringContaining(last),
    message: expect.stringContaining(last),
    hint: expect.any(String),
  })
  const { gateway } = await aGateway({}, five)
  const { request } = await aSocket(gateway.url)
  const answer = await set(request, key, value)
  expect(answer).toMatchObject({ ok: false, error: { code: 'bad_request', field: expect.stringContaining(last) } })
})

test('[CH-27] names that reach the prototype of an object are refused, and what is asked for by key is its own', async () => {
  const { gateway, call } = await aGateway({}, five)
  const { request } = await aSocket(gateway.url)
  const { payload: read } = await request('config.get')

  for (const key of ['__proto__.polluted', 'channels.__proto__.modelOverride', 'constructor.prototype.x', 'channels[constructor].modelOverride'])
    expect(await request('config.set', { key, value: 'test/agent', baseHash: read.hash })).toMatchObject({
      ok: false,
      error: { code: 'bad_request' },
    })
  const raw = await call('POST', '/rpc/config.set', {
    body: `{"raw":{"channels":{"__proto__":{"modelOverride":"test/agent"}}},"baseHash":"${read.hash}"}`,
  })
  expect(raw.json.error).toMatchObject({ code: 'bad_request' })
  expect(({} as any).polluted).toBeUndefined()
  expect(await request('config.get', { key: 'channels.toString' })).toMatchObject({ ok: true, payload: { value: null, source: null } })
})

test('[CH-27] the app gives what is set over, each value says where it comes from, and null brings the app back', async () => {
  const { gateway } = await aGateway(
    {},
    { ...five, config: { session: { historyMax: 50 }, agents: { list: [{ id: 'main', model: 'test/channel' }] } } },
  )
  const { request } = await aSocket(gateway.url)

  await set(request, 'agents.list[main].model', 'test/session')
  const { payload: changed } = await request('config.get', { schema: true })
  await set(request, 'agents.list[main].model', null)
  const { payload: back } = await request('config.get')

  expect(changed.sources).toMatchObject({ 'agents.list[main].model': 'config', 'session.historyMax': 'app', 'typing.intervalMs': 'default' })
  expect(changed.config).toMatchObject({ session: { historyMax: 50, scope: 'main' }, typing: { intervalMs: 6000 } })
  expect(changed.schema.properties).toHaveProperty('agents')
  expect(back.sources).toMatchObject({ 'agents.list[main].model': 'app' })
  expect(back.config.agents.list).toEqual([{ id: 'main', model: 'test/channel' }])
})

test('[CH-27] who may only read cannot set; the journal says who set what', async () => {
  const { gateway } = await aGateway({}, five)
  const reader = await aSocket(gateway.url, { scopes: ['read'] })
  const { request } = await aSocket(gateway.url)
  const { payload: read } = await reader.request('config.get')

  expect(await reader.request('config.set', { key: 'session.historyMax', value: 1, baseHash: read.hash })).toMatchObject({
    error: { code: 'forbidden' },
  })
  await request('config.set', { key: 'session.historyMax', value: 10, baseHash: read.hash, by: 'alice' })

  const { payload: trace } = await request('trace.read', { kind: 'config', id: 'main' })
  expect(trace.entries.at(-1)).toMatchObject({ event: 'write', detail: { by: 'alice', value: { session: { historyMax: 10 } } } })
  expect(await request('trace.replay', { kind: 'config', id: 'main' })).toMatchObject({ ok: true })
})

test('[CH-24] heartbeat, message, session, channel, agent, default: the first that names a model has it, and the trace says which', async () => {
  const { gateway, runtime } = await aGateway({}, five)
  const { request, event } = await aSocket(gateway.url)
  let count = 0
  /** Says something, and returns who answered and by whose choice, as the trace has it. */
  const asked = async (more: Record<string, unknown> = {}) => {
    const id = `m${++count}`
    await request('chat.send', { sessionKey: 's', message: 'who?', idempotencyKey: id, origin: { channel: 'web', to: 'room-1' }, ...more })
    const { payload } = await event('chat', ({ runId, state }) => runId === id && state === 'final')
    const { payload: trace } = await request('trace.read', { id: 's' })
    const { chosen } = trace.entries.findLast(({ detail }: any) => detail?.data?.chosen).detail.data
    return [payload.message?.content.map((one: any) => one.text).join(''), chosen.source]
  }
  await set(request, 'agents.defaults.model', 'test/default')
  await set(request, 'agents.defaults.heartbeat.model', 'test/heart')
  await set(request, 'channels.web.modelOverride', { 'room-1': 'test/channel', '*': 'test/heart' })
  await asked()
  await request('sessions.patch', { sessionKey: 's', model: 'test/session' })

  expect(await asked({ model: 'test/parent' })).toEqual(['I am parent', 'message'])
  expect(await asked()).toEqual(['I am session', 'session'])
  await request('sessions.patch', { sessionKey: 's', model: null })
  expect(await asked()).toEqual(['I am channel', 'channel'])
  await set(request, 'channels.web.modelOverride', { '*': 'test/heart' })
  expect(await asked()).toEqual(['I am heart', 'channel'])
  await set(request, 'channels.web', null)
  expect(await asked()).toEqual(['I am agent', 'agent'])
  expect(await asked({ agent: 'plain' })).toEqual(['I am default', 'default'])
  const run = await runtime.session('s').send('anything?', { heartbeat: true, model: 'test/heart' })
  await run.result()
  const { payload: trace } = await request('trace.read', { id: 's' })
  expect(trace.entries.findLast(({ detail }: any) => detail?.data?.chosen).detail.data.chosen).toMatchObject({
    model: 'test/heart',
    source: 'heartbeat',
  })
})

test('[CH-24] a thread has the model that its parent was given', async () => {
  const { gateway } = await aGateway({}, five)
  const { request, event } = await aSocket(gateway.url)
  await request('chat.send', { sessionKey: 'agent:main:web:team', message: 'hello', idempotencyKey: 'p1' })
  await event('chat', ({ runId, state }) => runId === 'p1' && state === 'final')
  await request('sessions.patch', { sessionKey: 'agent:main:web:team', model: 'test/parent' })

  await request('chat.send', { sessionKey: 'agent:main:web:team:thread:7', message: 'who?', idempotencyKey: 't1' })

  const { payload } = await event('chat', ({ runId, state }) => runId === 't1' && state === 'final')
  expect(payload.message?.content).toMatchObject([{ text: 'I am parent' }])
})

test('[CH-29] a session that is patched uses the model from the next run on, no other one does, and null clears it', async () => {
  const { gateway } = await aGateway({}, five)
  const { request, event } = await aSocket(gateway.url)
  const said = async (sessionKey: string, id: string) => {
    await request('chat.send', { sessionKey, message: 'who?', idempotencyKey: id })
    return (await event('chat', ({ runId, state }) => runId === id && state === 'final')).payload.message?.content
  }
  await said('a', 'a1')
  await said('b', 'b1')

  expect(await request('sessions.patch', { sessionKey: 'a', model: 'test/session', thinking: 'low' })).toMatchObject({
    ok: true,
    payload: { model: 'test/session' },
  })

  expect(await said('a', 'a2')).toMatchObject([{ text: 'I am session' }])
  expect(await said('b', 'b2')).toMatchObject([{ text: 'I am agent' }])
  expect((await request('sessions.get', { sessionKey: 'a' })).payload.record.toggles).toEqual({ model: 'test/session', thinking: 'low' })
  await request('sessions.patch', { sessionKey: 'a', model: null, thinking: null })
  expect((await request('sessions.get', { sessionKey: 'a' })).payload.record.toggles).toEqual({})
  expect(await said('a', 'a3')).toMatchObject([{ text: 'I am agent' }])
  expect((await request('models.list')).payload.models.map(({ ref }: any) => ref)).toContain('test/session')
})

test('[CH-25] a reference is split at its first slash, aliases and bare names resolve, and only what is allowed can be chosen', async () => {
  const models = { ...five.models, 'openrouter/anthropic/x': saying('three parts'), 'test/secret': saying('secret') }
  const config = {
    models: { aliases: { quick: 'openrouter/anthropic/x' }, defaultProvider: 'test', allowed: ['openrouter/anthropic/x', 'test/session'] },
  }
  const { gateway } = await aGateway({}, { ...five, models, config })
  const { request, event } = await aSocket(gateway.url)
  await request('chat.send', { sessionKey: 's', message: 'hello', idempotencyKey: 'm1' })

  expect(await request('sessions.patch', { sessionKey: 's', model: 'OpenRouter/anthropic/x' })).toMatchObject({
    payload: { model: 'openrouter/anthropic/x' },
  })
  expect(await request('sessions.patch', { sessionKey: 's', model: 'Quick' })).toMatchObject({ payload: { model: 'openrouter/anthropic/x' } })
  expect(await request('sessions.patch', { sessionKey: 's', model: 'session' })).toMatchObject({
    payload: { model: 'test/session', warnings: [expect.stringContaining('test/session')] },
  })
  for (const refused of [
    await request('sessions.patch', { sessionKey: 's', model: 'test/secret' }),
    await request('chat.send', { sessionKey: 's', message: 'who?', model: 'test/secret' }),
  ])
    expect(refused).toMatchObject({ ok: false, error: { code: 'forbidden', hint: expect.stringContaining('openrouter/anthropic/x') } })
  await request('chat.send', { sessionKey: 's', message: 'who?', model: 'QUICK', idempotencyKey: 'm2' })
  expect((await event('chat', ({ runId, state }) => runId === 'm2' && state === 'final')).payload.message?.content).toMatchObject([
    { text: 'I am three parts' },
  ])
})

test('[CH-26] a model that may not be used any more is forgotten before the next turn, and its users are told once', async () => {
  const { gateway } = await aGateway({}, five)
  const { request, event, events } = await aSocket(gateway.url)
  const said = async (id: string) => {
    await request('chat.send', { sessionKey: 's', message: 'who?', idempotencyKey: id })
    return (await event('chat', ({ runId, state }) => runId === id && state === 'final')).payload.message?.content
  }
  await said('m1')
  await request('sessions.patch', { sessionKey: 's', model: 'test/session' })
  expect(await said('m2')).toMatchObject([{ text: 'I am session' }])

  await set(request, 'models.allowed', ['test/channel'])

  expect(await said('m3')).toMatchObject([{ text: 'I am agent' }])
  expect((await request('sessions.get', { sessionKey: 's' })).payload.record.toggles).toEqual({})
  await said('m4')
  expect(events('session.notice').map(({ text }) => text)).toEqual([expect.stringContaining('test/session may not be used')])
})

test('[CH-97] a history that nobody bounds has as many messages as are configured, and an agent as much time', async () => {
  const { gateway } = await aGateway(
    {},
    { ...five, config: { session: { historyMax: 2 }, agents: { list: [{ id: 'main', timeoutMs: 5000, thinkingDefault: 'low' }] } } },
  )
  const { request, event } = await aSocket(gateway.url)
  for (const id of ['m1', 'm2', 'm3']) {
    await request('chat.send', { sessionKey: 's', message: 'who?', idempotencyKey: id })
    await event('chat', ({ runId, state }) => runId === id && state === 'final')
  }

  expect((await request('chat.history', { sessionKey: 's' })).payload.messages).toHaveLength(2)
  expect((await request('chat.history', { sessionKey: 's', limit: 5 })).payload.messages).toHaveLength(5)
  const { payload: trace } = await request('trace.read', { id: 's' })
  expect(trace.entries.find(({ event: type }: any) => type === 'message').detail.profile).toMatchObject({
    runTimeoutMs: 5000,
    thinking: 'low',
    modelSource: 'agent',
  })
})
