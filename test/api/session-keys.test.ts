/** Keys of sessions at the doors of a node: one session by all its names, whose a message of a channel is, and what the page opens. */
import { expect, test } from 'vitest'
import { agent, type RuntimeOptions } from '../../src/index.ts'
import { aGateway, eventsOf } from './http/harness.ts'
import { aSocket } from './ws/a-socket.ts'

const two: RuntimeOptions = {
  agents: [agent({ name: 'main', model: 'test/main' }), agent({ name: 'biologist', model: 'test/biologist' })],
  models: { 'test/main': () => ({ text: 'main speaks' }), 'test/biologist': () => ({ text: 'the biologist speaks' }) },
}
type Socket = Awaited<ReturnType<typeof aSocket>>
const said = async ({ request, event }: Socket, sessionKey: string, id: string) => {
  const sent = await request('chat.send', { sessionKey, message: 'hello', idempotencyKey: id })
  if (!sent.ok) return sent.error.code as string
  return (await event('chat', ({ runId, state }) => runId === id && state === 'final')).payload.message?.content.map((one) =>
    'text' in one ? one.text : '',
  )
}

test('[CH-69] main, main:web:default and the full forms are one session, on the socket, over HTTP and in the events', async () => {
  const { gateway, rpc } = await aGateway({}, two)
  const socket = await aSocket(gateway.url)
  const names = [
    'main',
    'main:web:default',
    'main:web:main',
    'agent:main:main',
    'agent:main:web:main',
    'agent:main:web:default',
    'agent:MAIN:web:main',
  ]
  const { events, stop } = await eventsOf(gateway.url, 'main:web:default')

  expect(await socket.request('chat.subscribe', { sessionKey: 'main:web:default' })).toMatchObject({ payload: { sessionKey: 'main' } })
  for (const [index, name] of names.entries()) await said(socket, name, `m${index}`)

  for (const name of names)
    expect((await rpc('chat.history', { sessionKey: name })).json.messages.filter(({ role }: any) => role === 'user')).toHaveLength(names.length)
  expect((await rpc('sessions.list')).json.sessions.map(({ key }: any) => key)).toEqual(['main'])
  expect(socket.events('chat').every(({ sessionKey }) => sessionKey === 'main')).toBe(true)
  expect((await events.next()).value).toMatchObject({ event: 'accepted' })
  stop()
})

test('[CH-69] the agent of a key answers; a key that cannot be is refused, and one without agent: stays a name of its own', async () => {
  const { gateway, rpc } = await aGateway({}, two)
  const socket = await aSocket(gateway.url)

  expect(await said(socket, 'agent:biologist:web:biologist', 'm1')).toEqual(['the biologist speaks'])
  expect(await said(socket, 'biologist:web:lab', 'm2')).toEqual(['the biologist speaks'])
  expect(await said(socket, 'tickets:2026:17', 'm3')).toEqual(['main speaks'])
  expect(await said(socket, 'agent:ghost:web:x', 'm4')).toBe('not_found')
  for (const key of ['agent:', 'agent:main', 'agent:a b:web:x', `agent:${'a'.repeat(65)}:web:x`, 'agent:main::x', 'agent:../x:web:y'])
    expect((await rpc('sessions.get', { sessionKey: key })).json.error).toMatchObject({
      code: 'bad_request',
      field: 'sessionKey',
      hint: expect.any(String),
    })
  const { sessions } = (await rpc('sessions.list')).json
  expect(sessions.map(({ key }: any) => key).sort()).toEqual(['agent:biologist:web:biologist', 'agent:biologist:web:lab', 'tickets:2026:17'])
})

const [alice, bob] = ['alice', 'bob'].map((sender) => ({ channel: 'sms', account: 'work', to: sender, sender })) as [any, any]
const elsewhere = { ...alice, channel: 'mail', account: 'home' }
test.each([
  ['main', 'main', { bob: true, elsewhere: true }],
  ['per-peer', 'agent:main:direct:alice', { bob: false, elsewhere: true }],
  ['per-channel-peer', 'agent:main:sms:direct:alice', { bob: false, elsewhere: false }],
  ['per-account-channel-peer', 'agent:main:sms:work:direct:alice', { bob: false, elsewhere: false }],
])('[CH-70] the scope %s: which conversations two senders share', async (scope, key, shared) => {
  const { gateway } = await aGateway({}, { ...two, config: { session: { scope: scope as any } } })
  const { request } = await aSocket(gateway.url)
  const keyOf = async (origin: object) => (await request('sessions.resolve', { origin })).payload.sessionKey

  expect(await keyOf(alice)).toBe(key)
  expect((await keyOf(bob)) === key).toBe(shared.bob)
  expect((await keyOf(elsewhere)) === key).toBe(shared.elsewhere)
})

test('[CH-70] linked identities are one person; groups, channels, threads, topics, jobs and hooks have keys of their own', async () => {
  const config = { session: { scope: 'per-channel-peer', identityLinks: { al: ['sms:alice', 'mail:a@b.c'] } } } as const
  const { gateway } = await aGateway({}, { ...two, config: config as any })
  const { request } = await aSocket(gateway.url)
  const keyOf = async (params: object) => (await request('sessions.resolve', params)).payload.sessionKey
  const group = { channel: 'sms', to: 'G:1', chatType: 'group', sender: 'alice' }

  expect(await keyOf({ origin: alice })).toBe('agent:main:sms:direct:al')
  expect(await keyOf({ origin: { channel: 'mail', to: 'A@b.c' } })).toBe('agent:main:mail:direct:al')
  expect(await keyOf({ origin: group })).toBe('agent:main:sms:group:g%3A1')
  expect(await keyOf({ origin: { ...group, sender: 'bob' } })).toBe('agent:main:sms:group:g%3A1')
  expect(await keyOf({ origin: { ...group, thread: '7' } })).toBe('agent:main:sms:group:g%3A1:thread:7')
  expect(await keyOf({ origin: { ...group, thread: '7' }, topics: true })).toBe('agent:main:sms:group:g%3A1:topic:7')
  expect(await keyOf({ origin: { channel: 'sms', to: 'news', chatType: 'thread', sender: 'bob', thread: '9' } })).toBe(
    'agent:main:sms:channel:news:thread:9',
  )
  expect(await keyOf({ job: 'nightly' })).toBe('agent:main:job:nightly')
  expect(await keyOf({ hook: 'ci', agent: 'biologist' })).toBe('agent:biologist:hook:ci')
})

test('[CH-71] the default tab has the same key whenever it is loaded, and what the model is told begins with the same bytes; a new chat has another', async () => {
  const told: string[] = []
  const models = {
    'test/main': ({ instructions, messages }: any) => {
      told.push(JSON.stringify([instructions, ...messages]))
      return { text: 'hi' }
    },
  }
  const { gateway } = await aGateway(
    {},
    { ...two, agents: [agent({ name: 'main', model: 'test/main', instructions: 'be brief' }), two.agents?.[1] as any], models },
  )
  const load = async () => {
    const socket = await aSocket(gateway.url)
    return { socket, key: (await socket.request('sessions.resolve')).payload.sessionKey as string }
  }

  const first = await load()
  await said(first.socket, first.key, 'm1')
  const second = await load()
  await said(second.socket, second.key, 'm2')

  expect(second.key).toBe(first.key)
  expect(told[1]?.startsWith((told[0] as string).slice(0, -1))).toBe(true)
  const { payload: fresh } = await second.socket.request('sessions.resolve', { tab: crypto.randomUUID() })
  expect(fresh.sessionKey).not.toBe(first.key)
  expect(await second.socket.request('sessions.resolve', { agent: 'biologist' })).toMatchObject({
    payload: { sessionKey: 'agent:biologist:web:biologist' },
  })
})
