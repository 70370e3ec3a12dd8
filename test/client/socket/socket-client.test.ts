import { afterEach, expect, test, vi } from 'vitest'
import { type Heard, type SocketClient, type SocketClientOptions, type SocketStatus, socketClient } from '../../../src/client/socket/index.ts'
import { RuntimeError } from '../../../src/contracts/errors.ts'
import type { ChatEvent } from '../../../src/contracts/gateway.ts'
import { virtualClock } from '../../../src/testing/virtual-clock.ts'
import { aSocketGateway, type SocketGateway, token, welcome } from './a-socket-gateway.ts'

const opened: SocketClient[] = []
afterEach(() => {
  for (const client of opened.splice(0)) client.close()
})

const aClient = ({ url }: Pick<SocketGateway, 'url'>, options: Partial<SocketClientOptions> = {}) => {
  const clock = virtualClock()
  let wake = (): void => undefined
  const signals = (given: () => void) => {
    wake = given
    return () => void (wake = () => undefined)
  }
  const client = socketClient({ url, token, client: { name: 'test' }, clock, signals, ...options })
  opened.push(client)
  return { client, clock, wake: () => wake() }
}

/** Resolves when the client is in this status, now or later. */
const reaches = (client: SocketClient, wanted: SocketStatus): Promise<void> =>
  new Promise((resolve) => {
    const look = () => {
      if (client.status !== wanted) return
      off()
      resolve()
    }
    const off = client.onStatus(look)
    look()
  })

const said = (text: string, seq = 1): ChatEvent => ({
  runId: 'r',
  sessionKey: 'main',
  seq,
  state: 'delta',
  message: { role: 'assistant', content: [{ type: 'text', id: 'r:1', text }], timestamp: seq },
})
const methods = (gateway: SocketGateway) => gateway.calls.map(({ method }) => method)

test('it says who it is in its first frame, answers the challenge, and has calls answered by their ids in any order', async () => {
  await using gateway = await aSocketGateway()
  const first = Promise.withResolvers<unknown>()
  gateway.answers['sessions.get'] = ({ sessionKey }) => (sessionKey === 'a' ? first.promise : sessionKey)
  const { client } = aClient(gateway, { client: { name: 'test', version: '1' }, scopes: ['read'] })
  expect(await client.ready()).toEqual(welcome())

  const a = client.call('sessions.get', { sessionKey: 'a' })
  const b = await client.call('sessions.get', { sessionKey: 'b' })
  first.resolve('a')

  expect([await a, b]).toEqual(['a', 'b'])
  expect(gateway.calls[0]).toEqual({
    method: 'connect',
    params: {
      minProtocol: 1,
      maxProtocol: 1,
      client: { name: 'test', version: '1' },
      caps: ['chat.patch'],
      auth: { token },
      scopes: ['read'],
      nonce: 'n1',
    },
  })
})

test('what the gateway refuses is the error that it gives', async () => {
  await using gateway = await aSocketGateway()
  const refusal = new RuntimeError('not_found', 'no such session', { hint: 'look', field: 'sessionKey' })
  gateway.answers['sessions.get'] = () => {
    throw refusal
  }
  const { client } = aClient(gateway)
  await client.ready()

  await expect(client.call('sessions.get', { sessionKey: 'a' })).rejects.toMatchObject(refusal.toJSON())
})

test('a wrong token is refused for good, and every call says why', async () => {
  await using gateway = await aSocketGateway()
  const { client, clock } = aClient(gateway, { token: 'wrong' })

  await expect(client.ready()).rejects.toMatchObject({ code: 'unauthorised' })

  expect(client.status).toBe('refused')
  expect(client.error).toMatchObject({ code: 'unauthorised' })
  await expect(client.call('health', {})).rejects.toMatchObject({ code: 'unauthorised' })
  expect(clock.pending()).toBe(0)
  expect(methods(gateway)).toEqual(['connect'])
})

test('what a gateway of another protocol says is not listened to', async () => {
  await using gateway = await aSocketGateway()
  gateway.answers.connect = () => welcome({ protocol: 7 })
  const { client } = aClient(gateway)

  await expect(client.ready()).rejects.toMatchObject({ code: 'unsupported', hint: expect.stringContaining('same release') })
})

test.each(['', 'ftp://here', 'here', 'ws://'])("'%s' is no address", (url) => {
  expect(() => socketClient({ url, token, client: { name: 'test' } })).toThrow(expect.objectContaining({ code: 'bad_request', field: 'url' }))
})

test('an http address is the same place', async () => {
  await using gateway = await aSocketGateway()
  const { client } = aClient({ url: gateway.url.replace('ws:', 'http:') })

  await expect(client.ready()).resolves.toEqual(welcome())
})

test('[CH-07] a gateway that is away for 3 s is there again within 2 s, its sessions subscribed to, and its views told to read anew', async () => {
  await using gateway = await aSocketGateway()
  const { client, clock } = aClient(gateway)
  const heard: Heard[] = []
  const again = Promise.withResolvers<unknown>()
  client.on('reconnected', again.resolve)
  client.subscribe('main', (one) => heard.push(one))
  await client.ready()
  await vi.waitFor(() => expect(heard).toHaveLength(1))
  const pending = client.call('agent.wait', { sessionKey: 'main', runId: 'r' })
  gateway.answers['agent.wait'] = () => new Promise(() => undefined)

  await gateway.stop()
  await expect(pending).rejects.toMatchObject({ code: 'log_unavailable', retryable: true })
  for (const ms of [500, 1_000]) {
    await reaches(client, 'waiting')
    await clock.advance(ms)
  }
  await reaches(client, 'waiting')
  await gateway.start()
  await clock.advance(2_000)

  await client.ready()
  expect(await again.promise).toEqual(welcome())
  await vi.waitFor(() => expect(heard).toHaveLength(2))
  expect(heard.every(({ type }) => type === 'subscribed')).toBe(true)
})

test('[CH-07] after a long outage the first probe that a ready node answers ends the wait, before the next try', async () => {
  await using gateway = await aSocketGateway()
  const { client, clock } = aClient(gateway)
  await client.ready()
  let tries = 0
  client.onStatus((status) => (tries += Number(status === 'connecting')))
  await gateway.stop()
  // The seventh pause is one of 30 s.
  await vi.waitFor(async () => {
    await clock.advance(client.status === 'waiting' ? 500 : 0)
    expect(tries).toBe(6)
  }, 20_000)
  await reaches(client, 'waiting')

  const before = clock.now()
  gateway.isReady = false
  await gateway.start()
  const probed = (times: number) =>
    vi.waitFor(async () => {
      await clock.advance(250)
      expect(gateway.probes).toBeGreaterThanOrEqual(times)
    }, 20_000)
  await probed(1)
  expect(client.status).toBe('waiting')
  gateway.isReady = true
  await probed(2)

  await client.ready()
  expect(tries).toBe(7)
  expect(clock.now() - before).toBeLessThan(30_000)
}, 60_000)

test('[CH-07] whoever looks at the page again does not wait for the next try', async () => {
  await using gateway = await aSocketGateway()
  const { client, wake } = aClient(gateway)
  await client.ready()
  gateway.cut()
  await reaches(client, 'waiting')

  wake()

  await client.ready()
})

test('[CH-07] a gateway that answers nothing any more is taken for lost: 30 s of silence, and 10 s to answer', async () => {
  await using gateway = await aSocketGateway()
  const { client, clock } = aClient(gateway)
  await client.ready()
  gateway.answers.health = () => new Promise(() => undefined)

  await clock.advance(30_000)
  await vi.waitFor(() => expect(methods(gateway)).toContain('health'))
  expect(client.status).toBe('ready')
  await clock.advance(10_000)

  expect(client.status).toBe('waiting')
  expect(client.error).toMatchObject({ code: 'timeout' })
})

test('[CH-07] a call that is not answered within 30 s fails, retryably; a late answer is nobody’s', async () => {
  await using gateway = await aSocketGateway()
  const late = Promise.withResolvers<unknown>()
  gateway.answers['models.list'] = () => late.promise
  const { client, clock } = aClient(gateway)
  await client.ready()
  const call = client.call('models.list', {})
  const failed = expect(call).rejects.toMatchObject({ code: 'timeout', retryable: true })
  await vi.waitFor(() => expect(methods(gateway)).toContain('models.list'))

  await clock.advance(30_000)
  await failed
  late.resolve([])

  expect(await client.call('health', {})).toEqual({ ok: true })
})

test('a call without a connection fails at once, and one after the end says that this is the end', async () => {
  await using gateway = await aSocketGateway()
  const { client } = aClient(gateway)
  await expect(client.call('health', {})).rejects.toMatchObject({ code: 'log_unavailable', retryable: true })
  await client.ready()
  gateway.answers.health = () => new Promise(() => undefined)
  const call = client.call('health', {})

  client.close()

  await expect(call).rejects.toMatchObject({ code: 'log_unavailable', retryable: true })
  await expect(client.call('health', {})).rejects.toMatchObject({ code: 'closed', retryable: false })
  await expect(client.ready()).rejects.toMatchObject({ code: 'closed' })
  await vi.waitFor(() => expect(gateway.peers).toEqual([]))
})

test('what the gateway would not take is not sent', async () => {
  await using gateway = await aSocketGateway()
  gateway.answers.connect = () => welcome({ policy: { ...welcome().policy, frameBytesMax: 200 } })
  gateway.answers['chat.send'] = () => ({})
  const { client } = aClient(gateway)
  await client.ready()

  await expect(client.call('chat.send', { sessionKey: 'main', message: 'ü'.repeat(100) })).rejects.toMatchObject({ code: 'too_large' })
  await expect(client.call('chat.send', { sessionKey: 'main', message: 'u'.repeat(100) })).resolves.toEqual({})
})

test('[CH-83] a session is heard in the order of the gateway: the answer to subscribing before what follows it', async () => {
  await using gateway = await aSocketGateway()
  gateway.answers['chat.subscribe'] = ({ sessionKey }) => {
    // In the same breath, so that both may arrive in one piece.
    queueMicrotask(() => gateway.tell('chat', said('he', 2)))
    queueMicrotask(() => gateway.tell('chat', { ...said('elsewhere'), sessionKey: 'other' }))
    return { sessionKey, run: said('h'), tools: [] }
  }
  const { client } = aClient(gateway)
  await client.ready()
  const heard: Heard[] = []

  client.subscribe('main', (one) => heard.push(one))

  await vi.waitFor(() => expect(heard).toHaveLength(2))
  expect([heard[0], heard[1]]).toMatchObject([
    { type: 'subscribed', answer: { run: said('h') } },
    { type: 'event', frame: { payload: said('he', 2) } },
  ])
})

test('[CH-83] a view that came and went three times hears everything once, and the gateway is told when nobody listens', async () => {
  await using gateway = await aSocketGateway()
  const { client } = aClient(gateway)
  await client.ready()
  const texts: unknown[] = []
  const hear = (heard: Heard) => void (heard.type === 'event' && texts.push(heard.frame.event))

  for (let time = 0; time < 3; time++) client.subscribe('main', hear).off()
  const last = client.subscribe('main', hear)
  await vi.waitFor(() => expect(methods(gateway).filter((method) => method === 'chat.subscribe')).toHaveLength(4))
  gateway.tell('chat', said('once'))
  await vi.waitFor(() => expect(texts).toHaveLength(1))

  last.off()
  last.off()
  await vi.waitFor(() => expect(methods(gateway).filter((method) => method === 'chat.unsubscribe')).toHaveLength(4))
  gateway.tell('chat', said('unheard', 2))
  await client.call('health', {})
  expect(texts).toHaveLength(1)
})

test('of two views of one session one can go, and one that missed something asks anew', async () => {
  await using gateway = await aSocketGateway()
  const { client } = aClient(gateway)
  await client.ready()
  const heard: Heard[] = []
  const gone = client.subscribe('main', () => undefined)
  const there = client.subscribe('main', (one) => heard.push(one))
  await vi.waitFor(() => expect(heard.length).toBeGreaterThan(0))
  await client.call('health', {})
  heard.length = 0

  gone.off()
  there.refresh()

  await vi.waitFor(() => expect(heard).toMatchObject([{ type: 'subscribed' }]))
  expect(methods(gateway)).not.toContain('chat.unsubscribe')
})

test('a journal is watched on every link anew, until nobody watches it', async () => {
  await using gateway = await aSocketGateway()
  const { client, clock } = aClient(gateway)
  let looks = 0
  const order = { kind: 'order', id: 'o-1' }
  const off = client.watch(order, () => looks++)
  const other = client.watch(order, () => undefined)
  await vi.waitFor(() => expect(looks).toBe(1))
  gateway.tell('trace.grown', { ...order, seq: 2 })
  gateway.tell('trace.grown', { kind: 'order', id: 'o-2', seq: 2 })
  gateway.tell('trace.grown', { kind: 'session', id: 'o-1', seq: 2 })
  await vi.waitFor(() => expect(looks).toBe(2))

  await gateway.stop()
  await reaches(client, 'waiting')
  await gateway.start()
  await clock.advance(2_000)
  await vi.waitFor(() => expect(looks).toBe(3))

  other()
  other()
  await client.call('health', {})
  expect(methods(gateway)).not.toContain('trace.unsubscribe')
  off()
  await vi.waitFor(() => expect(methods(gateway)).toContain('trace.unsubscribe'))
  gateway.tell('trace.grown', { ...order, seq: 3 })
  await client.call('health', {})
  expect(looks).toBe(3)
})

test('a session that may not be looked at is said to be so', async () => {
  await using gateway = await aSocketGateway()
  gateway.answers['chat.subscribe'] = () => {
    throw new RuntimeError('forbidden', 'not yours')
  }
  const { client } = aClient(gateway)
  const heard: Heard[] = []
  client.subscribe('main', (one) => heard.push(one))

  await vi.waitFor(() => expect(heard).toMatchObject([{ type: 'subscribe.failed', sessionKey: 'main', error: { code: 'forbidden' } }]))
})

test('events without a session are heard by name, until nobody wants to', async () => {
  await using gateway = await aSocketGateway()
  const { client } = aClient(gateway)
  await client.ready()
  const ticks: number[] = []
  const off = client.on('tick', ({ timestamp }) => ticks.push(timestamp))

  gateway.tell('tick', { timestamp: 1 })
  await vi.waitFor(() => expect(ticks).toEqual([1]))
  off()
  gateway.tell('tick', { timestamp: 2 })
  await client.call('health', {})

  expect(ticks).toEqual([1])
})

test.each(['hello', '1', 'null', '{"type":"res"}', '{"type":"event","event":7}'])(
  '%s is no frame and ends the link, what is one of a newer gateway is left aside',
  async (nonsense) => {
    await using gateway = await aSocketGateway()
    const { client } = aClient(gateway)
    await client.ready()
    for (const novelty of ['{"type":"novelty"}', '{"type":"event","event":"novelty"}', '{"type":"res","id":"late","ok":true}'])
      for (const peer of gateway.peers) peer.send(novelty)
    expect(await client.call('health', {})).toEqual({ ok: true })

    for (const peer of gateway.peers) peer.send(nonsense)

    await reaches(client, 'waiting')
    expect(client.error).toMatchObject({ code: 'internal', hint: 'is it a Statecast node?' })
  },
)
