/** What the suite cannot show: a server that ends in the middle, a link that is cut, an answer that is lost, a stream that is gone. */
import { setImmediate as immediate, setTimeout as sleep } from 'node:timers/promises'
import { jetstreamManager } from '@nats-io/jetstream'
import { connect } from '@nats-io/transport-node'
import { expect, test, vi } from 'vitest'
import { appendCommit } from '../../src/actors/journal/append.ts'
import type { Journal, Transport } from '../../src/contracts/transport.ts'
import { natsBlobs } from '../../src/transport/nats/blobs.ts'
import { natsJournal } from '../../src/transport/nats/journal.ts'
import { type Link, openLink } from '../../src/transport/nats/link.ts'
import { namesOf } from '../../src/transport/nats/names.ts'
import { openNats } from '../../src/transport/nats/open.ts'
import { openWakes } from '../../src/transport/nats/wakes.ts'
import { sweepAcknowledged } from '../../src/transport/nats/workarounds/acknowledged-sweep.ts'
import { closedAfterEach } from '../support/kept.ts'
import { ownNats } from '../support/nats.ts'
import { splitNats, startTcpProxy, type TcpProxy } from '../support/tcp-proxy.ts'
import { aHastyClock, aManualClock, anEnvironment, aSession, aSignal, awake, bytesOf, systemClock, textOf } from './harness.ts'
import { journalOver } from './nats.journal.ts'

const server = ownNats()

const kept = closedAfterEach()

let count = 0
/** A transport under a prefix of its own, behind a link that can be broken. */
const behindProxy = async (): Promise<{ proxy: TcpProxy; transport: Transport; prefix: string }> => {
  const proxy = await startTcpProxy({ to: server.port, split: splitNats })
  kept({ close: () => proxy.close() })
  const prefix = `fault-${++count}`
  const transport = kept(await openNats({ url: `nats://127.0.0.1:${proxy.port}`, environment: anEnvironment(), prefix }))
  return { proxy, transport, prefix }
}

/** As a root does it: until it is known whether the frame is there. */
const append = (journal: Journal, seq: number, text = `frame ${seq}`, patienceMs = 60_000): Promise<void> =>
  appendCommit({
    journal,
    clock: systemClock,
    address: aSession(),
    birth: 0,
    expected: seq - 1,
    bytes: bytesOf(text),
    head: awake,
    patienceMs,
    stalled: () => undefined,
  })

const texts = async (journal: Journal): Promise<string[]> => (await journal.read(aSession(), 1)).map(({ bytes }) => textOf(bytes))
const upTo = (last: number): string[] => Array.from({ length: last }, (_, index) => `frame ${index + 1}`)

test('an acknowledgement that is lost is looked up: the frame is there once', async () => {
  const { proxy, transport } = await behindProxy()
  await append(transport.journal, 1)

  const lost = proxy.dropResponsesOnce('"stream":"FAULT-', { keep: true })
  await append(transport.journal, 2)
  await lost
  await append(transport.journal, 3)

  expect(await texts(transport.journal)).toEqual(upTo(3))
})

test('a link that is cut in the middle stalls appends, and loses and doubles none', async () => {
  const { proxy, transport } = await behindProxy()

  for (let seq = 1; seq <= 60; seq++) {
    if (seq % 20 === 0) {
      proxy.cut()
      setTimeout(() => proxy.heal(), 300)
    }
    await append(transport.journal, seq)
  }

  expect(await texts(transport.journal)).toEqual(upTo(60))
})

test('a server that is killed and comes back stalls appends, and loses and doubles none', async () => {
  const transport = kept(await openNats({ url: server.url, environment: anEnvironment(), prefix: `fault-${++count}` }))
  await append(transport.journal, 1)

  const restarting = server.restart('SIGKILL')
  for (let seq = 2; seq <= 20; seq++) await append(transport.journal, seq)
  await restarting

  expect(await texts(transport.journal)).toEqual(upTo(20))
  await transport.registry.put('after', 'it')
  expect((await transport.registry.get('after'))?.value).toBe('it')
})

test('two hosts that append to one root: one wins each place, and the other is fenced', async () => {
  const prefix = `fault-${++count}`
  const [one, other] = await Promise.all([1, 2].map(async () => kept(await openNats({ url: server.url, environment: anEnvironment(), prefix }))))
  await append(one!.journal, 1)

  await append(other!.journal, 2)
  await expect(append(one!.journal, 2, 'too late')).rejects.toMatchObject({ code: 'fenced' })

  expect(await texts(one!.journal)).toEqual(upTo(2))
})

test('a stream that was deleted behind our back is an error that says so, and no root begins anew', async () => {
  const { transport, prefix } = await behindProxy()
  await append(transport.journal, 1)
  const nc = await connect({ servers: server.url })
  await (await jetstreamManager(nc)).streams.delete(`${prefix.toUpperCase()}_JOURNAL`)
  await nc.close()

  await expect(transport.journal.read(aSession(), 1)).rejects.toMatchObject({ code: 'log_unavailable', message: expect.stringContaining('gone') })
  await expect(append(transport.journal, 2, 'anything', 0)).rejects.toMatchObject({ code: 'log_unavailable' })
  // Also where nothing is written: a host looks for work all the time, and says what it meets.
  await expect(transport.journal.due(0, 1)).rejects.toMatchObject({ code: 'log_unavailable', message: expect.stringContaining('gone') })
  await expect(transport.journal.append({ kind: 'session', id: 'new' }, 0, bytesOf('x'), awake)).resolves.toMatchObject({ outcome: 'unknown' })
  // Nor by the next node that starts.
  await expect(openNats({ url: server.url, environment: anEnvironment(), prefix })).rejects.toMatchObject({
    code: 'corrupt_at',
    message: expect.stringContaining(`${prefix.toUpperCase()}_JOURNAL`),
    hint: expect.stringContaining('restore'),
  })
})

test('a dead letter that does not fit into a message with its reason is kept all the same', async () => {
  const transport = kept(await openNats({ url: server.url, environment: anEnvironment(), prefix: `fault-${++count}` }))
  const nc = await connect({ servers: server.url })
  const big = new Uint8Array(1024 * 1024 - 300).fill(120)
  const [subject, next] = [`fault-${count}.in.session.big`, `fault-${count}.in.session.next`]
  const heard: string[] = []
  transport.inbox.consume(`fault-${count}.in.>`, (delivery) => {
    heard.push(delivery.subject)
    return delivery.data.length > 100 ? delivery.bury(JSON.stringify({ code: 'bad_request', message: 'x'.repeat(500) })) : delivery.ack()
  })

  await nc.request(subject, big, { timeout: 60_000 })
  await nc.request(next, 'small', { timeout: 60_000 })

  await vi.waitFor(() => expect(heard).toContain(next))
  await vi.waitFor(async () => expect((await transport.inbox.deadLetters()).map(({ data }) => data.length)).toEqual([big.length]))
  await nc.close()
})

test('what a node held that vanished comes before what was put later', async () => {
  const { proxy, transport: vanishing, prefix } = await behindProxy()
  const subject = `${prefix}.in.session.s`
  const transport = kept(await openNats({ url: server.url, environment: anEnvironment(), prefix }))
  const reached = aSignal()
  vanishing.inbox.consume(`${prefix}.in.>`, async () => {
    reached.give()
    await new Promise(() => undefined)
  })
  await transport.inbox.put(subject, '1', bytesOf('one'))
  await transport.inbox.put(subject, '2', bytesOf('two'))
  await reached.promise
  proxy.cut()
  await transport.inbox.put(subject, '3', bytesOf('three'))
  await transport.inbox.put(`${prefix}.in.session.other`, '4', bytesOf('four'))

  const heard: string[] = []
  transport.inbox.consume(`${prefix}.in.>`, (delivery) => {
    heard.push(delivery.id)
    return delivery.ack()
  })

  await vi.waitFor(() => expect(heard).toHaveLength(4))
  expect(heard).toEqual(['4', '1', '2', '3'])
})

test('a change that is lost with the link on its way to a watcher is told all the same, also when nothing else changes', async () => {
  const { proxy, transport, prefix } = await behindProxy()
  const other = kept(await openNats({ url: server.url, environment: anEnvironment(), prefix }))
  const heard: string[] = []
  transport.registry.watch('seat/', ({ key, value }) => void heard.push(`${key} ${value}`))
  await other.registry.put('seat/1', 'taken')
  await vi.waitFor(() => expect(heard).toEqual(['seat/1 taken']))

  const lost = proxy.dropResponsesOnce(/_REGISTRY\.seat/)
  await other.registry.put('seat/1', 'free')
  await lost

  await vi.waitFor(() => expect(heard).toEqual(['seat/1 taken', 'seat/1 free']))
})

/** A server that counts what is done, and keeps it. */
const counting = (link: Link, upTo: number): Link => ({
  ...link,
  jsm: new Proxy(link.jsm, {
    get: (jsm, part) => (part === 'consumers' ? { info: () => Promise.resolve({ ack_floor: { stream_seq: upTo } }) } : Reflect.get(jsm, part)),
  }),
})

test('what is done and still in the inbox is taken out; what is not done stays', async () => {
  const prefix = `fault-${++count}`
  const transport = kept(await openNats({ url: server.url, environment: anEnvironment(), prefix }))
  const nc = await connect({ servers: server.url })
  const link = await openLink(nc)
  kept(link)
  const names = namesOf(prefix)
  const stream = names.streams.inbox
  for (const id of ['1', '2', '3', '4']) await transport.inbox.put(`${prefix}.in.session.s`, id, bytesOf(id))
  const clock = aManualClock()
  const environment = anEnvironment({ clock })
  const looks = async (done: { upTo: number }, held = Infinity): Promise<number> => {
    const consuming = { name: 'in-any-all', filter: names.inbox(`${prefix}.in.>`), holds: (upTo: number) => held <= upTo }
    const sweep = sweepAcknowledged({ link: counting(link, done.upTo), stream, environment }, () => [consuming])
    for (let look = 0; look < 3; look++) {
      clock.advance(3_000)
      await sleep(200)
    }
    sweep.stop()
    return (await link.jsm.streams.info(stream)).state.messages
  }

  expect(await looks({ upTo: 2 }, 2)).toBe(4)
  expect(await looks({ upTo: 0 })).toBe(4)
  expect(await looks({ upTo: 5 })).toBe(4)
  expect(await looks({ upTo: 2 }, 3)).toBe(2)
  expect(environment.lines).toMatchObject([{ level: 'warn', fields: { messages: 2 } }])
})

test('an inbox that stays empty is looked at ever more rarely, up to once a minute; as soon as a look finds something, every three seconds', async () => {
  const clock = aManualClock()
  const looks: number[] = []
  let messages = 0
  const info = (): Promise<object> => {
    looks.push(clock.now())
    return Promise.resolve({ state: { messages, first_seq: 1 + looks.length } })
  }
  const jsm = { streams: { info } } as unknown as Link['jsm']
  const next = () => Promise.resolve(undefined)
  const sweep = sweepAcknowledged({ link: { jsm, next }, stream: 'inbox', environment: anEnvironment({ clock }) }, () => [])
  const untilLook = async (count: number): Promise<void> => {
    while (looks.length < count) {
      clock.advance(1_000)
      await immediate()
    }
  }

  await untilLook(8)
  messages = 1
  await untilLook(11)
  sweep.stop()

  const pauses = looks.map((at, place) => at - (looks[place - 1] ?? at)).slice(1)
  expect(pauses).toEqual([6, 12, 24, 48, 60, 60, 60, 60, 3, 3].map((seconds) => seconds * 1_000))
})

test('a consumer that is made while messages come: what it has done leaves the inbox', async () => {
  const prefix = `fault-${++count}`
  const transport = kept(await openNats({ url: server.url, environment: anEnvironment(), prefix }))
  const nc = await connect({ servers: server.url })
  const { streams } = await jetstreamManager(nc)
  let done = 0
  const puts = Array.from({ length: 400 }, (_, place) => transport.inbox.put(`${prefix}.in.session.s${place % 20}`, `${place}`, bytesOf('x')))
  transport.inbox.consume(`${prefix}.in.>`, (delivery) => {
    done += 1
    return delivery.ack()
  })
  await Promise.all(puts)

  await vi.waitFor(() => expect(done).toBe(400))
  await vi.waitFor(async () => expect((await streams.info(namesOf(prefix).streams.inbox)).state.messages).toBe(0))
  await nc.close()
})

/** One who consumes behind a link that loses what it is told to, and one who puts. */
const aLossyConsumer = async () => {
  const { proxy, transport, prefix } = await behindProxy()
  const other = kept(await openNats({ url: server.url, environment: anEnvironment(), prefix }))
  const heard: string[] = []
  transport.inbox.consume(`${prefix}.in.>`, (delivery) => {
    heard.push(delivery.id)
    return delivery.ack()
  })
  await sleep(500)
  return { proxy, heard, put: (id: string) => other.inbox.put(`${prefix}.in.session.s`, id, bytesOf(id)) }
}

test('the first message of all is lost on its way: it is handled first all the same', async () => {
  const { proxy, heard, put } = await aLossyConsumer()
  const lost = proxy.dropResponsesOnce(/inbox\.\d+\.session\.s /, { keep: true })
  await put('1')
  await lost
  await put('2')

  await vi.waitFor(() => expect(heard).toEqual(['1', '2']))
})

test('an acknowledgement whose answer is lost is asked for once more, and the next message follows', async () => {
  const { proxy, heard, put } = await aLossyConsumer()
  const lost = proxy.dropResponsesOnce(/^MSG _INBOX\.\S+ \d+ 0\r\n/, { keep: true })
  await put('1')
  await lost
  await put('2')

  await vi.waitFor(() => expect(heard).toEqual(['1', '1', '2']))
})

test('messages without an id are told apart, also when their stream was made anew', async () => {
  const prefix = `fault-${++count}`
  const transport = kept(await openNats({ url: server.url, environment: anEnvironment(), prefix }))
  const nc = await connect({ servers: server.url })
  const ids: string[] = []
  transport.inbox.consume(`${prefix}.in.>`, (delivery) => {
    ids.push(delivery.id)
    return delivery.ack()
  })
  for (const text of ['a', 'b']) await nc.request(`${prefix}.in.session.s`, text, { timeout: 60_000 })
  await vi.waitFor(() => expect(ids).toHaveLength(2))
  await nc.close()

  expect(new Set(ids).size).toBe(2)
  for (const id of ids) expect(id).toMatch(/^in-\d{19}-\d+$/)
})

test.each(['before it is stored', 'after it is stored'] as const)(
  'a removal that ends in the middle of copying what a fork shares, at a frame %s, goes on with the next frame and leaves none out',
  async (when) => {
    const prefix = `fault-${++count}`
    const { journal } = kept(await openNats({ url: server.url, environment: anEnvironment(), prefix }))
    const [main, fork] = [aSession('main'), aSession('fork')]
    for (const [index, text] of ['a', 'b', 'c', 'd', 'e'].entries()) await journal.append(main, index, bytesOf(text), awake)
    await journal.fork(main, 4, fork, { answers: 'recorded' }, awake)
    await journal.append(fork, 4, bytesOf('E'), awake)
    const copies = namesOf(prefix).copies(fork, 4)
    let copied = 0
    const dying = await journalOver(server.url, prefix, (link) => ({
      async publish(subject, ...rest) {
        const ends = subject === copies && ++copied === 3
        if (ends && when === 'before it is stored') throw new Error('the node ends')
        const stored = await link.publish(subject, ...rest)
        if (ends) throw new Error('the node ends')
        return stored
      },
    }))
    await expect(dying.remove(main)).rejects.toThrow()

    await journal.remove(main)

    expect((await journal.read(fork, 1)).map(({ seq, bytes }) => `${seq}:${textOf(bytes)}`)).toEqual(['1:a', '2:b', '3:c', '4:d', '5:E'])
    expect(await journal.head(main)).toBeUndefined()
    // Each frame was copied once.
    const { streams } = await jetstreamManager(kept(await connect({ servers: server.url })))
    const { state } = await streams.info(namesOf(prefix).streams.journal, { subjects_filter: copies })
    expect(state.subjects).toEqual({ [copies]: 4 })
  },
)

test.each([
  ['main', 'fork'],
  ['fork', 'main'],
])('a fork and its origin that are removed, %s first and then %s, leave nothing in the stream', async (...order) => {
  const prefix = `fault-${++count}`
  const { journal } = kept(await openNats({ url: server.url, environment: anEnvironment(), prefix }))
  for (const [index, text] of ['a', 'b', 'c'].entries()) await journal.append(aSession('main'), index, bytesOf(text), awake)
  await journal.fork(aSession('main'), 2, aSession('fork'), { answers: 'recorded' }, awake)
  await journal.append(aSession('fork'), 2, bytesOf('C'), awake)

  const { streams } = await jetstreamManager(kept(await connect({ servers: server.url })))
  const left = async (subjects_filter: string) => (await streams.info(namesOf(prefix).streams.journal, { subjects_filter })).state.subjects ?? {}
  const notes = namesOf(prefix).sharesOf(aSession('main'))
  expect(Object.keys(await left(notes))).toHaveLength(1)

  const [first, second] = order
  await journal.remove(aSession(first))
  expect(await left(notes)).toEqual({})
  await journal.remove(aSession(second))

  expect(await left('>')).toEqual({})
})

test('a fork of an actor that another node removes in that moment is refused, and is not there', async () => {
  const prefix = `fault-${++count}`
  const { journal } = kept(await openNats({ url: server.url, environment: anEnvironment(), prefix }))
  const [main, fork] = [aSession('main'), aSession('fork')]
  await journal.append(main, 0, bytesOf('a'), awake)
  const begin = namesOf(prefix).journal(fork)
  const forking = await journalOver(server.url, prefix, (link) => ({
    async publish(subject, ...rest) {
      if (subject === begin) await journal.remove(main)
      return link.publish(subject, ...rest)
    },
  }))

  await expect(forking.fork(main, 1, fork, { answers: 'recorded' }, awake)).rejects.toMatchObject({ code: 'not_found' })

  expect(await journal.head(fork)).toBeUndefined()
})

test('a replica that stays behind is worth another try; what the leader lacks as well is corrupt', async () => {
  const prefix = `fault-${++count}`
  const environment = anEnvironment({ clock: aHastyClock() })
  const first = kept(await openNats({ url: server.url, environment, prefix }))
  for (const seq of [1, 2, 3]) await append(first.journal, seq)
  const nc = await connect({ servers: server.url })
  const names = namesOf(prefix)
  const link = await openLink(nc)
  kept(link)
  const wakes = await openWakes(link, names, environment)
  kept({ close: () => wakes.stop() })
  /** As a replica answers that has only the first frame. */
  const behind: Link = {
    ...link,
    batch: async (stream, question) => (await link.batch(stream, question)).slice(0, 'seq' in question && question.seq === 1 ? 1 : 0),
  }
  const mark = { reached: () => undefined, highest: () => 0 }
  const journal = natsJournal({ link: behind, names, wakes, blobs: natsBlobs(link, names), mark, environment })

  await expect(journal.read(aSession(), 1)).rejects.toMatchObject({
    code: 'log_unavailable',
    retryable: true,
    message: expect.stringContaining('behind'),
  })

  const lost = { ...behind, next: async () => undefined }
  const really = natsJournal({ link: lost, names, wakes, blobs: natsBlobs(link, names), mark, environment })
  await expect(really.read(aSession(), 1)).rejects.toMatchObject({ code: 'corrupt_at', data: { seq: 2 } })
})
