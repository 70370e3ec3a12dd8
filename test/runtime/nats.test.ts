/** The same conversation on a NATS server. */

import { jetstreamManager } from '@nats-io/jetstream'
import { connect, headers as createHeaders, type MsgHdrs } from '@nats-io/transport-node'
import { expect, test, vi } from 'vitest'
import { partitionCount } from '../../src/contracts/placement.ts'
import { createRuntime, type Runtime, type RuntimeOptions } from '../../src/index.ts'
import { type Extension, partsOf } from '../../src/runtime/index.ts'
import { openNats } from '../../src/transport/nats/open.ts'
import { natsForAll } from '../support/nats.ts'
import { paying } from '../support/paying.ts'
import { splitNats, startTcpProxy } from '../support/tcp-proxy.ts'
import { anEnvironment } from '../transport/harness.ts'

const server = natsForAll()

const paid: string[] = []
const open = (prefix: string, hold?: Promise<void>, options: RuntimeOptions = {}): Promise<Runtime> =>
  createRuntime({
    transport: server.url,
    prefix,
    ...paying({
      onCrash: 'retry',
      pay: async (amount, callId) => {
        paid.push(callId)
        return `paid ${amount}`
      },
      answer: async (last) => {
        await hold
        return last?.role === 'tool' ? `done: ${String(last.output)}` : `you said ${last?.role === 'user' ? last.text : ''}`
      },
    }),
    ...options,
  })

test('a turn with a tool, its deltas and its answer', async () => {
  await using runtime = await open('talk')
  const run = await runtime.session('main').send('pay please')

  const types = new Set<string>()
  for await (const { type } of run.events()) types.add(type)

  expect((await run.result()).text).toBe('done: paid 7')
  expect([...types]).toEqual(expect.arrayContaining(['accepted', 'started', 'delta', 'tool', 'final']))
  expect(await runtime.replay({ kind: 'session', id: 'main' })).toMatchObject({ verdict: 'identical' })
})

test('whoever holds nothing but a connection publishes plain JSON and hears the answer', async () => {
  await using runtime = await open('plain')
  const nc = await connect({ servers: server.url })
  const heard: Record<string, unknown>[] = []
  nc.subscribe('plain.out.session.demo.>', { callback: (_, message) => void heard.push({ on: message.subject, ...message.json<object>() }) })
  await nc.flush()

  nc.publish('plain.in.session.demo', JSON.stringify({ type: 'message', text: 'hi', id: 'm1' }))

  await vi.waitFor(() => expect(heard.some(({ type }) => type === 'final')).toBe(true))
  expect(heard.find(({ type }) => type === 'final')).toMatchObject({ on: 'plain.out.session.demo.final', text: 'you said hi', ids: ['m1'] })
  expect((await runtime.session('demo').history()).map(({ role }) => role)).toEqual(['user', 'assistant'])
  await nc.close()
})

test('what was published before a node came waits there until its extensions have started', async () => {
  const before = await open('early', undefined, { resume: false })
  await before.publish('early.in.session.s', new TextEncoder().encode('{"type":"message","text":"published"}'), 'letter')
  await before.close()
  const speaks: Extension = {
    name: 'speaks',
    start: async ({ runtime }) => {
      // It has all partitions and has been to the server many times, so that nothing but the start keeps it from taking messages in.
      await vi.waitFor(() => expect(runtime.nodes()[0]?.partitions).toBe(partitionCount), { timeout: 20_000 })
      for (let count = 0; count < 20; count++) await (await runtime.session('other').send('hi')).result()
      await (await runtime.session('s').send('of the extension')).result()
      return () => undefined
    },
  }

  await using runtime = await open('early', undefined, { extensions: [speaks] })

  const asked = async () => (await runtime.session('s').history()).flatMap((message) => (message.role === 'user' ? [message.text] : []))
  await vi.waitFor(async () => expect(await asked()).toEqual(['of the extension', 'published']), { timeout: 20_000 })
})

test('a node whose extension cannot start has left the cluster: the next one has everything at once', async () => {
  const broken: Extension = { name: 'broken', start: () => Promise.reject(new Error('no lamp')) }
  await expect(open('gone', undefined, { extensions: [broken] })).rejects.toMatchObject({ code: 'bad_request', field: 'extensions' })

  await using runtime = await open('gone')

  expect(await (await runtime.session('s').send('hi')).result()).toMatchObject({ text: 'you said hi' })
  expect(runtime.nodes()).toMatchObject([{ partitions: partitionCount }])
})

test('a turn that its node left behind goes on at the next one', async () => {
  paid.length = 0
  const held = Promise.withResolvers<void>()
  const first = await open('left', held.promise)
  const run = await first.session('main').send('pay please', { idempotencyKey: 'm1' })
  await vi.waitFor(() => expect(paid).toHaveLength(1))
  run.result().catch(() => undefined)
  partsOf(first).host.abandon()
  await partsOf(first).transport.close()

  await using second = await open('left')
  const outcome = await second.session('main').wait('m1', 60_000)

  expect(outcome).toMatchObject({ status: 'completed', text: 'done: paid 7' })
  expect(new Set(paid).size).toBe(1)
  expect(await second.replay({ kind: 'session', id: 'main' })).toMatchObject({ verdict: 'identical' })
})

test('a link that breaks during an acknowledgement puts nothing aside: the message was delivered, and is taken out when the link is back', async () => {
  await using proxy = await startTcpProxy({ to: server.port, split: splitNats })
  const environment = anEnvironment()
  await using runtime = await open('broken', undefined, { transport: `nats://${proxy.address}`, environment: { log: environment.log } })
  const watching = await openNats({ url: server.url, prefix: 'broken', environment: anEnvironment() })
  const nc = await connect({ servers: server.url })

  for (const id of ['m1', 'm2', 'm3']) {
    // The answer to an acknowledgement is the only one that is empty.
    const broke = proxy.dropResponsesOnce(/^MSG _INBOX\S* \d+ 0\r\n/)
    nc.publish('broken.in.session.demo', JSON.stringify({ type: 'message', text: id, id }))
    await broke
  }

  const { streams } = await jetstreamManager(nc)
  await vi.waitFor(async () => expect((await streams.info('BROKEN_INBOX')).state.messages).toBe(0))
  const said = (await runtime.session('demo').history()).flatMap((message) => (message.role === 'user' ? [message.text] : []))
  expect(said).toEqual(['m1', 'm2', 'm3'])
  expect(await watching.inbox.deadLetters()).toEqual([])
  expect(environment.lines.filter(({ message }) => /put aside|handler failed/.test(message ?? ''))).toEqual([])
  await watching.close()
  await nc.close()
})

test('a dead letter has the id that its publisher gave to the message, wherever that stood', async () => {
  await using runtime = await open('dead')
  const nc = await connect({ servers: server.url })
  const publish = (body: unknown, headers?: MsgHdrs) => nc.publish('dead.in.session.demo', JSON.stringify(body), headers ? { headers } : {})
  const named = createHeaders()
  named.set('Nats-Msg-Id', 'in the header')

  publish({ type: 'message', text: 7, id: 'in the body' })
  publish({ type: 'message', text: 7 }, named)
  publish({ type: 'nonsense', id: 'no message' })

  const { inbox } = partsOf(runtime).transport
  await vi.waitFor(async () => expect(await inbox.deadLetters()).toHaveLength(3))
  const [first, second, third] = await inbox.deadLetters()
  expect(first).toMatchObject({ id: 'in the body', reason: expect.stringContaining('"messageId":"in the body"') })
  expect(second).toMatchObject({ id: 'in the header' })
  // Of what is no message nobody knows what its id says.
  expect(third?.id).toMatch(/^in-\d+-\d+$/)
  await nc.close()
})
