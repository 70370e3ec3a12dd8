/** How much strangers can take up, and that whoever has the token gets in all the same. */
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { afterEach, expect, test, vi } from 'vitest'
import { clientOf, gatewayLimits } from '../../../src/api/http/limits.ts'
import { Throttle } from '../../../src/api/http/throttle.ts'
import { aGateway, eventsOf, token } from './harness.ts'

const sockets: Socket[] = []
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy()
})

/** A connection that says no more than this. */
const raw = async (url: string, text: string) => {
  const socket = connect(Number(new URL(url).port), '127.0.0.1').on('error', () => undefined)
  sockets.push(socket)
  const closed = once(socket, 'close')
  socket.resume()
  await once(socket, 'connect')
  socket.write(text)
  return { socket, closed }
}

const virtual = () => {
  let now = 0
  return { now: () => now, elapsed: () => now, setTimeout: () => 0, clearTimeout: () => undefined, pass: (ms: number) => (now += ms) }
}

test('after some wrong tokens an address gets 429 with the time to wait, and the right one is let in all the while', async () => {
  const clock = virtual()
  const { call } = await aGateway({ clock })
  const wrong = () => call('POST', '/rpc/health', { headers: { authorization: 'Bearer wrong' } })

  const statuses: number[] = []
  for (let n = 0; n < 40; n++) statuses.push((await wrong()).status)
  const refused = await wrong()
  const right = await call('POST', '/rpc/health', { body: '{}' })
  clock.pass(gatewayLimits.wrongTokenMs)
  const later = [(await wrong()).status, (await wrong()).status]

  expect(statuses.filter((status) => status === 401)).toHaveLength(gatewayLimits.wrongTokensMax)
  expect(refused).toMatchObject({ status: 429, headers: { 'retry-after': '3' }, json: { error: { code: 'rate_limited', retryable: true } } })
  expect(right.status).toBe(200)
  expect((await call('GET', '/healthz', { headers: { authorization: '' } })).status).toBe(200)
  expect(later).toEqual([401, 429])
})

test('each address is counted by itself, and no more of them are kept than there is room for', () => {
  const slowed = vi.fn()
  const throttle = new Throttle({ ...gatewayLimits, wrongTokensMax: 2, addressesMax: 100 }, virtual(), slowed)

  for (let n = 0; n < 5_000; n++) throttle.wrong(`10.0.${n >> 8}.${n & 255}`)
  throttle.wrong('10.9.9.9')
  throttle.wrong('10.9.9.9')

  expect(throttle.size).toBe(100)
  expect(() => throttle.wrong('10.9.9.9')).toThrow(/too many requests/)
  expect(() => throttle.wrong('10.9.9.8')).not.toThrow()
  expect(slowed.mock.calls).toEqual([['10.9.9.9']])
})

test.each([
  ['127.0.0.1', '127.0.0.1'],
  ['::ffff:10.0.0.7', '10.0.0.7'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
  ['2001:db8::1', '2001:db8:0:0::/64'],
  ['fe80::1%eth0', 'fe80:0:0:0::/64'],
  ['::1', '0:0:0:0::/64'],
  [undefined, 'unknown'],
])('%s is counted as %s', (address, client) => {
  expect(clientOf(address)).toBe(client)
})

test('so many event streams are open for a token, and when one ends another may begin', async () => {
  const { gateway, call } = await aGateway({ limits: { streamsPerTokenMax: 3 } })
  const open = await Promise.all(Array.from({ length: 3 }, (_, n) => eventsOf(gateway.url, `s${n}`)))

  const refused = await call('GET', '/sessions/main/events')
  open[0]?.stop()

  expect(open.map(({ status }) => status)).toEqual([200, 200, 200])
  expect(refused).toMatchObject({ status: 429, headers: { 'retry-after': '5' }, json: { error: { code: 'rate_limited' } } })
  await expect
    .poll(async () => {
      const stream = await eventsOf(gateway.url, 'main')
      stream.stop()
      return stream.status
    })
    .toBe(200)
})

test('and for an address; a stream that cannot begin counts for none', async () => {
  const { gateway, call } = await aGateway({ limits: { streamsPerAddressMax: 2 } })
  for (let n = 0; n < 5; n++) expect((await call('GET', '/sessions/main/events', { headers: { 'last-event-id': 'yesterday' } })).status).toBe(400)
  const open = [await eventsOf(gateway.url, 'a'), await eventsOf(gateway.url, 'b')]

  expect((await call('GET', '/sessions/main/events')).status).toBe(429)
  for (const { status, stop } of open) {
    expect(status).toBe(200)
    stop()
  }
})

test('a question for nothing but the headers of a stream opens none', async () => {
  const { gateway, call } = await aGateway({ limits: { streamsPerTokenMax: 2 } })

  for (let n = 0; n < 5; n++)
    expect(await call('HEAD', '/sessions/main/events')).toMatchObject({ status: 200, headers: { 'content-type': 'text/event-stream' } })

  const stream = await eventsOf(gateway.url, 'main')
  stream.stop()
  expect(stream.status).toBe(200)
})

test.each([
  ['says nothing', ''],
  ['never ends its headers', 'POST /rpc/health HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: '],
])('a connection on which somebody %s is closed after a while', async (_, text) => {
  const { gateway } = await aGateway({ limits: { headersMs: 200 } })
  const { closed } = await raw(gateway.url, text)

  await closed
})

test('a request whose body never comes is ended', async () => {
  const { gateway } = await aGateway({ limits: { headersMs: 200, requestMs: 300 } })
  const head = `POST /rpc/health HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${token}\r\nContent-Length: 100\r\n\r\n{`
  const { closed } = await raw(gateway.url, head)

  await closed
})

test('connections that show no token make room, the oldest first, for whoever comes; those with the right one stay', async () => {
  const { gateway, call } = await aGateway({ limits: { strangersPerAddressMax: 10, connectionsMax: 20 } })
  const stream = await eventsOf(gateway.url, 'main')
  const strangers: Awaited<ReturnType<typeof raw>>[] = []
  for (let n = 0; n < 60; n++) strangers.push(await raw(gateway.url, 'GET / HTTP/1.1\r\n'))
  const { runtime } = { runtime: await call('POST', '/rpc/chat.send', { body: JSON.stringify({ sessionKey: 'main', message: 'hi' }) }) }

  await Promise.all(strangers.slice(0, 45).map(({ closed }) => closed))
  const heard: string[] = []
  for await (const { event } of stream.events) {
    heard.push(event)
    if (event === 'final') break
  }
  stream.stop()

  expect(runtime.status).toBe(200)
  expect(heard.at(-1)).toBe('final')
})

test('where all connections are taken by those with the token, no more are let in', async () => {
  const { gateway, call } = await aGateway({ limits: { connectionsMax: 3 } })
  const open = await Promise.all(Array.from({ length: 3 }, (_, n) => eventsOf(gateway.url, `s${n}`)))

  await expect(call('GET', '/healthz')).rejects.toThrow()

  for (const { stop } of open) stop()
  await expect
    .poll(() =>
      call('GET', '/healthz').then(
        ({ status }) => status,
        () => 0,
      ),
    )
    .toBe(200)
})

test('[CH-73] answers another client after a few of the large answers that sixty connections ask for and do not read', async () => {
  const { gateway, runtime, call, rpc } = await aGateway()
  for (let turn = 0; turn < 5; turn++) await (await runtime.session('main').send('megabyte', { idempotencyKey: `k${turn}` })).result()
  await (await runtime.session('small').send('hi', { idempotencyKey: 'k' })).result()
  const histories = vi.spyOn(runtime, 'command')
  const body = JSON.stringify({ sessionKey: 'main', limit: 1000, maxChars: 100_000 })
  const head = `POST /rpc/chat.history HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${token}\r\nContent-Length: ${body.length}\r\n\r\n`

  await Promise.all(Array.from({ length: 60 }, async () => (await raw(gateway.url, head + body)).socket.pause()))
  const alive = await call('GET', '/healthz')
  const small = await rpc('chat.history', { sessionKey: 'small' })
  const made = histories.mock.calls.filter(([, input]) => (input as { sessionKey?: string }).sessionKey === 'main').length

  expect([alive.status, small.status]).toEqual([200, 200])
  expect(small.json.messages).toHaveLength(2)
  expect(made).toBeLessThan(30)
})
