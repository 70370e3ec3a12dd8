/** Each role with the permissions that `statecast permissions` prints, on a real server: it can do what it must, and not what it must not. */

import { errors, type NatsConnection } from '@nats-io/transport-node'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { natsServer } from '../../scripts/nats-server.ts'
import { natsClient } from '../../src/client/nats-client.ts'
import { agent, tool } from '../../src/index.ts'
import { serveTools } from '../../src/nats.ts'
import { partsOf } from '../../src/runtime/index.ts'
import { createRuntime, type Runtime, type RuntimeOptions } from '../../src/runtime.ts'
import { connectTo } from '../../src/transport/nats/connect.ts'
import { openNats } from '../../src/transport/nats/open.ts'
import { inboxPrefixOf, nameOf, passwordOf, permissionsOf, serverConfig, type User } from '../../src/transport/nats/permissions.ts'
import { type Nats, natsFetchMs, startNats } from '../support/nats.ts'
import { obedientModel } from '../support/obedient-model.ts'
import { anEnvironment, aSession, awake, bytesOf } from './harness.ts'

let server: Nats
const add = { service: 'add' } as const
const users: readonly User[] = ['node', 'gateway', 'viewer', add, { service: 'other-tool' }]
const passwords = users.map(passwordOf)
beforeAll(async () => {
  await natsServer()
  for (const name of passwords) process.env[name] = 'pw'
  server = await startNats({ config: serverConfig(users) })
}, natsFetchMs)
afterAll(async () => {
  for (const name of passwords) delete process.env[name]
  await server?.stop()
})

const closing: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})
const urlOf = (user: User): string => server.url.replace('//', `//${nameOf(user)}:pw@`).concat(`?inbox_prefix=${inboxPrefixOf(user)}`)
const as = async (role: User): Promise<NatsConnection> => {
  const nc = await connectTo(urlOf(role), {})
  closing.push(() => nc.close())
  return nc
}
const aNode = async (options: RuntimeOptions = {}): Promise<Runtime> => {
  const runtime = await createRuntime({ transport: urlOf('node'), ...options })
  closing.push(() => runtime.close())
  return runtime
}

/** Whether the server lets a user publish there; a request, since only those are told. */
const mayPublish = async (nc: NatsConnection, subject: string, data = ''): Promise<boolean> => {
  try {
    await nc.request(subject, data, { timeout: 1_000 })
    return true
  } catch (error) {
    return !((error as Error).cause instanceof errors.PermissionViolationError)
  }
}
const maySubscribe = async (nc: NatsConnection, subject: string): Promise<boolean> => {
  let refused = false
  const subscription = nc.subscribe(subject, { callback: (error) => void (refused ||= error !== null) })
  await nc.flush()
  await nc.flush()
  subscription.unsubscribe()
  return !refused
}

const forbidden: Record<'gateway' | 'tool' | 'viewer', { publish: string[]; subscribe: string[] }> = {
  gateway: {
    publish: ['statecast.journal.session.one', '$KV.STATECAST_REGISTRY.key', 'statecast.node.n.ask', 'statecast.out.session.one.final'],
    subscribe: ['statecast.api.>', 'statecast.tool.>', '_INBOX_node.>', '_INBOX.>', '>'],
  },
  tool: {
    publish: ['statecast.in.session.one', 'statecast.api.health', 'statecast.journal.session.one', 'statecast.out.session.one.final'],
    subscribe: [
      'statecast.out.>',
      'statecast.journal.>',
      'statecast.api.>',
      '_INBOX_node.>',
      '_INBOX_tool_other-tool.>',
      // What others are asked, and that they are asked.
      'statecast.tool.>',
      'statecast.tool.*',
      'statecast.tools.>',
      'statecast.tools.other-tool.>',
      'statecast.tool.other-tool',
      'statecast.cancel.>',
      'statecast.cancel.other-tool.*',
      '$SRV.>',
      '$SRV.PING.other-tool',
      '$SRV.INFO.other-tool.*',
    ],
  },
  viewer: {
    publish: [
      'statecast.in.session.one',
      'statecast.api.health',
      'statecast.journal.session.one',
      'statecast.tool.x',
      'statecast.out.session.one.final',
    ],
    subscribe: ['statecast.api.>', 'statecast.in.>', 'statecast.journal.>', '_INBOX_gateway.>'],
  },
}
const ofJetStream = [
  '$JS.API.INFO',
  '$JS.API.STREAM.MSG.GET.STATECAST_JOURNAL',
  '$JS.API.DIRECT.GET.STATECAST_JOURNAL',
  '$JS.API.CONSUMER.CREATE.STATECAST_JOURNAL.mine',
  '$JS.API.STREAM.DELETE.STATECAST_JOURNAL',
  '$JS.API.STREAM.PURGE.STATECAST_JOURNAL',
]

test('a node starts on an empty server, runs a turn, and takes, keeps and forgets all there is, without one violation', async () => {
  const runtime = await aNode()
  const { journal, inbox, blobs, registry } = partsOf(runtime).transport
  const nc = await as('node')

  const answer = await (await runtime.session('one').send('hello')).result()
  await inbox.put('statecast.in.session.two', 'm1', bytesOf('{"type":"message","text":"stored"}'))
  await expect
    .poll(
      async () =>
        (
          await runtime
            .session('two')
            .history()
            .catch(() => [])
        ).length,
    )
    .toBe(2)
  await inbox.put('statecast.in.session.two', 'm2', bytesOf('no message'))
  await expect.poll(async () => (await inbox.deadLetters()).length).toBe(1)
  await journal.append(aSession('woken'), 0, bytesOf('x'), { ...awake, wakeAt: 1 })
  await journal.append(aSession('woken'), 1, bytesOf('x'), awake)
  await journal.saveSnapshot(aSession('woken'), 2, bytesOf('x'))
  await journal.truncate(aSession('woken'), 2)
  await journal.remove(aSession('woken'))
  await registry.put('key', 'value', { ttlMs: 1_000 })
  await blobs.get(await blobs.put(bytesOf('blob')))
  await journal.list()

  expect(answer.text).not.toBe('')
  expect(await runtime.health()).toMatchObject({ ready: true })
  expect(server.log()).not.toContain('Permissions Violation')
  // Not even a node may take the streams away.
  expect(await mayPublish(nc, '$JS.API.STREAM.DELETE.STATECAST_JOURNAL')).toBe(false)
  expect(await mayPublish(nc, '$JS.API.STREAM.UPDATE.STATECAST_JOURNAL')).toBe(false)
})

test('a gateway sends commands to nodes, hears what sessions say, and stores messages for them', async () => {
  await aNode()
  const client = await natsClient(urlOf('gateway'))
  closing.push(async () => client?.close())
  const nc = await as('gateway')

  const { events } = (await client?.events('gateway')) ?? {}
  const sent = await client?.command('chat.send', { sessionKey: 'gateway', message: 'hello' })
  const heard = await events?.[Symbol.asyncIterator]().next()

  expect(sent).toMatchObject({ status: 'started' })
  expect(heard?.value).toMatchObject({ type: expect.any(String) })
  expect(await mayPublish(nc, 'statecast.in.session.gateway', '{"type":"message","text":"stored"}')).toBe(true)
})

test('a gateway is a client of the agent protocol, which a node serves without one violation', async () => {
  const before = server.log().length
  await aNode({ agentProtocol: { owner: 'alice' } })
  const nc = await as('gateway')
  const beats: string[] = []
  nc.subscribe('agents.hb.>', { callback: (_, { subject }) => void beats.push(subject) })
  await nc.flush()
  await aNode({ agentProtocol: { owner: 'bob' } })

  const status = await nc.request('agents.status.main.alice.main', '', { timeout: 60_000 })
  const said: string[] = []
  for await (const message of await nc.requestMany('agents.prompt.main.alice.main', 'what is 6*7?', { strategy: 'timer', maxWait: 10_000 })) {
    if (message.data.length === 0) break
    said.push(message.string())
  }

  expect(status.json()).toMatchObject({ agent: 'main', owner: 'alice' })
  expect(said.join('')).toContain('"data":"42"')
  await expect.poll(() => beats).toContain('agents.hb.main.bob.main')
  expect(server.log().slice(before)).not.toContain('Permissions Violation')
  for (const subject of ['agents.prompt.main.alice.main', 'statecast.answer.token']) expect(await maySubscribe(nc, subject)).toBe(false)
})

test.each(users.map((user) => [nameOf(user), user] as const))('nothing is listed twice for a %s', (_, role) => {
  const { publish, subscribe } = permissionsOf(role)

  for (const subjects of [publish, subscribe]) expect(subjects).toEqual([...new Set(subjects)])
})

test('a tool answers nodes, and a viewer hears what sessions say', async () => {
  const [node, tool, viewer] = [await aNode(), await as(add), await as('viewer')]
  tool.subscribe('statecast.tool.add', { queue: 'q', callback: (_, message) => void message.respond('42') })
  expect(await maySubscribe(tool, '$SRV.PING')).toBe(true)
  await tool.flush()
  const heard: string[] = []
  viewer.subscribe('statecast.out.>', { callback: (_, { subject }) => void heard.push(subject) })
  await viewer.flush()

  const answer = await partsOf(node).transport.bus.request('statecast.tool.add', bytesOf('{}'), { timeoutMs: 5_000 })
  await (await node.session('viewed').send('hello')).result()

  expect(Buffer.from(answer.data).toString()).toBe('42')
  await expect.poll(() => heard).toContain('statecast.out.session.viewed.final')
})

test('a service serves its tools as its own user: it is found, called, and told when a call is stopped, without one violation', async () => {
  const before = server.log().length
  const agents = [agent({ name: 'main', model: 'test/model', services: true })]
  const node = await aNode({ agents, models: { 'test/model': obedientModel } })
  const begun = Promise.withResolvers<void>()
  const stopped = Promise.withResolvers<void>()
  const doubled = tool({ name: 'doubled', description: 'doubles', input: z.object({ n: z.number() }), onCrash: 'retry', execute: ({ n }) => 2 * n })
  const endless = tool({
    name: 'endless',
    description: 'never ends',
    input: z.object({}),
    onCrash: 'retry',
    execute: (_, { signal }) => {
      begun.resolve()
      signal.addEventListener('abort', () => stopped.resolve())
      return stopped.promise
    },
  })
  const serving = await serveTools(urlOf(add), { name: 'add', tools: [doubled, endless] })
  closing.push(() => serving.close())
  await expect.poll(() => partsOf(node).agents.get('main')!.tools.names).toContain('endless')

  const { text } = await (await node.session('adding').send('doubled {"n":21}')).result()
  const run = await node.session('adding').send('endless {}')
  run.result().catch(() => undefined)
  await begun.promise
  await node.session('adding').cancel()
  await stopped.promise

  expect(text).toBe('42')
  expect(server.log().slice(before)).not.toContain('Permissions Violation')
})

test('a name that is no single token is no service to make a user for', () => {
  for (const service of ['a.b', '>', '*', '', 'a b', 'x'.repeat(200)]) expect(() => permissionsOf({ service })).toThrow(/is not a valid service name/)
})

test.each(['gateway', 'tool', 'viewer'] as const)(
  'a %s can do nothing else: no journal, no inbox of others, nothing in their names',
  async (role) => {
    await (await openNats({ url: urlOf('node'), environment: anEnvironment() })).close()
    const nc = await as(role === 'tool' ? add : role)
    const { publish, subscribe } = forbidden[role]

    const published = await Promise.all([...publish, ...ofJetStream].map(async (subject) => ((await mayPublish(nc, subject)) ? [subject] : [])))
    const subscribed: string[] = []
    for (const subject of subscribe) if (await maySubscribe(nc, subject)) subscribed.push(subject)

    expect({ published: published.flat(), subscribed }).toEqual({ published: [], subscribed: [] })
  },
)

/** A server of its own, whose one user may do what a node may, but for something. */
const without = async (remove: (subject: string) => boolean): Promise<string> => {
  const { publish, subscribe } = permissionsOf('node')
  const list = (subjects: readonly string[]) => JSON.stringify(subjects.filter((subject) => !remove(subject)))
  const permissions = `{ publish: ${list(publish)}, subscribe: ${list(subscribe)}, allow_responses: true }`
  const other = await startNats({ config: `authorization { users: [ { user: ann, password: pw, permissions: ${permissions} } ] }` })
  closing.push(() => other.stop())
  return other.url.replace('//', '//ann:pw@').concat('?inbox_prefix=_INBOX_node')
}
const open = (url: string) =>
  openNats({ url, environment: anEnvironment() }).then((transport) => {
    closing.push(() => transport.close())
    return transport
  })

test.each([
  ['statecast.journal.>', 'publish to statecast.journal.>'],
  ['$JS.API.STREAM.PURGE.STATECAST_JOURNAL', 'publish to $JS.API.STREAM.PURGE.STATECAST_JOURNAL'],
  ['statecast.api.>', 'publish to statecast.api.>, and may not subscribe to statecast.api.>'],
])('without %s a node does not start: it is forbidden, by name, with where to get the permissions', async (subject, words) => {
  const url = await without((one) => one === subject)

  await expect(open(url)).rejects.toMatchObject({
    code: 'forbidden',
    message: expect.stringContaining(words),
    hint: expect.stringContaining('statecast permissions --role node'),
  })
})

test('where a user may not ask what it may, what is missing is forbidden as soon as it is used, and not a timeout', async () => {
  const missing = ['$SYS.REQ.USER.INFO', 'statecast.journal.>', '$JS.API.DIRECT.GET.STATECAST_DEAD']
  const { journal, inbox } = await open(await without((subject) => missing.includes(subject)))

  const answers = await Promise.allSettled([
    journal.append(aSession(), 0, bytesOf('x'), awake),
    inbox.put('statecast.in.session.bad', '1', bytesOf('x')),
  ])

  expect(answers[0]).toMatchObject({
    reason: { code: 'forbidden', message: expect.stringContaining('statecast.journal.session.one'), data: { operation: 'publish' } },
  })
  expect(answers[1]).toMatchObject({ status: 'fulfilled' })
})

test('a user with private answers who connects without their prefix is told so', async () => {
  const url = urlOf('node').replace(/\?.*/, '')

  await expect(open(url)).rejects.toMatchObject({
    code: 'forbidden',
    message: expect.stringContaining('_INBOX.'),
    hint: expect.stringContaining('?inbox_prefix=_INBOX_<role>'),
  })
})
