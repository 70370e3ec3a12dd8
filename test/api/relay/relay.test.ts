/** Trees of actors for other people's visualisers: with the published receiver of the Stately inspector, and against those who mean ill. */
import { once } from 'node:events'
import { connect } from 'node:net'
import { expect, onTestFinished, test, vi } from 'vitest'
import WebSocket from 'ws'
import { machines } from '../../runtime/inspection/orders.ts'
import { aGateway } from '../http/harness.ts'
import { aSocket, rawSocket } from '../ws/a-socket.ts'
import { aReceiver, line } from './a-receiver.ts'

const aNode = async (options: Parameters<typeof aGateway>[0] = {}) => {
  const made = await aGateway(options, { machines })
  const send = (id: string, event: { type: string; [more: string]: unknown }) => made.runtime.actor('order', id, { payment: `${id}-p` }).send(event)
  const address = async (id: string, more: object = {}): Promise<string> => (await made.rpc('trace.relay', { kind: 'order', id, ...more })).json.path
  return { ...made, send, address }
}
const refusedAs = (url: string, path: string, headers: Record<string, string> = {}) => rawSocket(url, { path, headers }).refused

test('a receiver of the published package is told actors, events and snapshots in their order, and our tree as one', async () => {
  const { gateway, send, address } = await aNode()
  await send('o1', { type: 'note', text: 'hello' })
  const { told, until } = aReceiver(gateway.url, await address('o1'))
  await until(({ type }) => type === '@xstate.actor')

  await send('o1', { type: 'begin' })
  await until(({ sessionId, type }) => sessionId === 'payment/o1-p' && type === '@xstate.snapshot')
  await send('o1', { type: 'coin', value: 5 })
  await until((one) => line(one) === 'snapshot order/o1: "done"')

  const lines = told.map(line)
  const place = (what: string) => lines.indexOf(what)
  expect(lines.slice(0, 5)).toEqual([
    'actor order/o1 below nobody: "waiting"',
    'event begin from outside for order/o1',
    'actor order/o1/payment#1 below order/o1: "active"',
    'snapshot order/o1/payment#1: "active"',
    'snapshot order/o1: "paying"',
  ])
  expect(place('actor payment/o1-p below order/o1/payment#1: "open"')).toBe(5)
  expect(place('event coin from order/o1 for order/o1/payment#1')).toBeLessThan(place('snapshot payment/o1-p: "paid"'))
  expect(place('snapshot payment/o1-p: "paid"')).toBeLessThan(place('snapshot order/o1: "done"'))
  expect(new Set(told.map(({ rootId }) => rootId))).toEqual(new Set(['order/o1']))
  expect(new Set(told.map(({ type }) => type))).toEqual(new Set(['@xstate.actor', '@xstate.event', '@xstate.snapshot']))
  expect(JSON.parse(told[0]?.definition ?? '')).toMatchObject({ id: 'order', states: { waiting: { on: { begin: 'paying' } } } })
})

test('a session with a turn and a tool is shown, and each receiver that comes is told it from where it is', async () => {
  const { gateway, runtime, rpc } = await aNode()
  await (await runtime.session('main').send('hello')).result()
  const { path } = (await rpc('trace.relay', { id: 'agent:main:web:main' })).json
  const first = aReceiver(gateway.url, path)
  await first.until(({ sessionId }) => sessionId === 'session/main')

  const run = await runtime.session('main').send('danger')
  await first.until(({ type, sessionId }) => type === '@xstate.actor' && /\/tool/.test(sessionId))
  const second = aReceiver(gateway.url, path)
  await second.until(({ type, sessionId }) => type === '@xstate.actor' && /\/tool/.test(sessionId))

  const names = second.told.map(({ sessionId }) => sessionId)
  for (const [index, { parentId }] of second.told.entries()) if (parentId !== undefined) expect(names.slice(0, index)).toContain(parentId)
  await run.cancel()
})

test('what a receiver sends is ignored, and too much of it ends the connection', async () => {
  const { gateway, runtime, send, address } = await aNode()
  await send('o1', { type: 'note', text: 'hello' })
  const path = await address('o1')
  const { socket, until, send: say, closed } = rawSocket(gateway.url, { path })
  await until(({ type }) => type === '@xstate.actor')

  for (const frame of [
    { type: '@xstate.event', event: { type: 'begin' }, sessionId: 'order/o1' },
    'no JSON',
    { type: 'req', id: '1', method: 'chat.send' },
  ])
    say(frame)
  socket.send(Buffer.alloc(1000))
  await send('o1', { type: 'note', text: 'more' })
  await until(({ type, seq }) => type === '@xstate.snapshot' && seq === 2)
  expect((await runtime.actor('order', 'o1').snapshot()).value).toBe('waiting')

  socket.send('x'.repeat(100_000))
  expect((await closed).code).toBe(1009)
})

test('an address that was made up, was changed, or is over, opens nothing; nor does a page of another site or a foreign host name', async () => {
  const { gateway, send, address, call } = await aNode()
  await send('o1', { type: 'note', text: 'hello' })
  const [path, brief] = [await address('o1'), await address('o1', { expiresInMs: 1000 })]

  expect(path).toMatch(/^\/inspect\/[\w-]{43}$/)
  expect(await refusedAs(gateway.url, '/inspect/')).toBe(404)
  expect(await refusedAs(gateway.url, `/inspect/${'A'.repeat(43)}`)).toBe(404)
  expect(await refusedAs(gateway.url, `${path.slice(0, -1)}${path.endsWith('A') ? 'B' : 'A'}`)).toBe(404)
  expect(await refusedAs(gateway.url, `${path}/`)).toBe(404)
  expect(await refusedAs(gateway.url, path, { origin: 'https://stately.ai' })).toBe(403)
  expect(await refusedAs(gateway.url, path, { host: 'evil.example' })).toBe(403)
  // Over HTTP there is nothing to read, also for a page of the same origin.
  expect((await call('GET', path)).status).toBe(404)
  expect((await call('GET', path, { headers: { origin: 'https://evil.example', authorization: '' } })).status).toBe(403)

  const short = rawSocket(gateway.url, { path: brief })
  await short.until(({ type }) => type === '@xstate.actor')
  expect(await short.closed).toMatchObject({ code: 1008 })
  expect(await refusedAs(gateway.url, brief)).toBe(404)
})

test('[INV-19] an address opens what its token reaches, and nothing any more when that is revoked', async () => {
  const { gateway, runtime, rpc, call, send } = await aNode()
  for (const key of ['agent:main:web:mine', 'agent:main:sms:foreign']) await (await runtime.session(key).send('hello')).result()
  await send('o1', { type: 'note', text: 'hello' })
  const { token } = (await rpc('tokens.create', { name: 'page', scopes: ['read'], sessions: ['agent:main:web:*'] })).json
  const own = (input: object) => call('POST', '/rpc/trace.relay', { body: JSON.stringify(input), headers: { authorization: `Bearer ${token}` } })

  expect((await own({ id: 'agent:main:sms:foreign' })).status).toBe(404)
  expect((await own({ kind: 'order', id: 'o1' })).status).toBe(404)
  const mine = rawSocket(gateway.url, { path: (await own({ id: 'agent:main:web:mine' })).json.path })
  await mine.until(({ type }) => type === '@xstate.actor')
  await rpc('tokens.revoke', { id: 'page' })
  await (await runtime.session('agent:main:web:mine').send('zebra')).result()

  expect(await mine.closed).toMatchObject({ code: 1008 })
  expect(JSON.stringify(mine.frames)).not.toContain('zebra')
})

test('a receiver that stops reading costs what waits for it, disturbs nobody, and is hung up on', async () => {
  const { gateway, send, address } = await aNode({ relay: { bufferedBytesMax: 100_000, patienceMs: 1_500 } })
  await send('o1', { type: 'note', text: 'hello' })
  const [slow, fine] = [rawSocket(gateway.url, { path: await address('o1') }), rawSocket(gateway.url, { path: await address('o1') })]
  await slow.until(({ type }) => type === '@xstate.actor')
  slow.socket.pause()
  const sent = vi.spyOn(WebSocket.prototype, 'send')
  const text = Array.from({ length: 16 }, () => 'z'.repeat(4_000))

  for (let count = 2; count <= 800; count++) await send('o1', { type: 'note', text: [...text, count] })
  await fine.until(({ type, seq }) => type === '@xstate.snapshot' && seq === 800)
  const page = await aSocket(gateway.url)
  expect((await page.request('health')).ok).toBe(true)

  // 800 commits of 128 kB are 100 MB.
  const waiting = (sent.mock.contexts as WebSocket[]).map(({ bufferedAmount }) => bufferedAmount)
  expect(Math.max(...waiting)).toBeLessThan(400_000)
  await vi.waitFor(() => expect((sent.mock.contexts as WebSocket[]).some(({ readyState }) => readyState === WebSocket.CLOSED)).toBe(true), {
    timeout: 5_000,
  })
  sent.mockRestore()
  slow.socket.resume()
  expect((await slow.closed).code).toBe(1006)
  expect(fine.socket.readyState).toBe(WebSocket.OPEN)
}, 20_000)

test('a receiver stays, however many connections come from its host that say nothing', async () => {
  const { gateway, send, address } = await aNode({ limits: { strangersPerAddressMax: 4 } })
  await send('o1', { type: 'note', text: 'hello' })
  const { socket, until } = rawSocket(gateway.url, { path: await address('o1') })
  await until(({ type }) => type === '@xstate.actor')

  const strangers = Array.from({ length: 12 }, () => connect(Number(new URL(gateway.url).port), '127.0.0.1').on('error', () => undefined))
  onTestFinished(() => {
    for (const stranger of strangers) stranger.destroy()
  })
  // All but the last four have been hung up on.
  await Promise.all(strangers.slice(0, 8).map((stranger) => once(stranger.resume(), 'close')))
  await send('o1', { type: 'note', text: 'more' })

  await until(({ type, seq }) => type === '@xstate.snapshot' && seq === 2)
  expect(socket.readyState).toBe(WebSocket.OPEN)
})

test('refuses receivers and addresses above their limits, and takes another receiver when one has left', async () => {
  const { gateway, send, address, rpc } = await aNode({ relay: { receiversMax: 2 } })
  await send('o1', { type: 'note', text: 'hello' })
  const path = await address('o1')
  const first = [rawSocket(gateway.url, { path }), rawSocket(gateway.url, { path })]
  for (const { until } of first) await until(({ type }) => type === '@xstate.actor')
  expect(await refusedAs(gateway.url, path)).toBe(429)
  first[0]?.socket.close()
  await first[0]?.closed
  await rawSocket(gateway.url, { path }).until(({ type }) => type === '@xstate.actor')

  const made: number[] = []
  for (let count = 0; count < 1_000; count++) made.push((await rpc('trace.relay', { kind: 'order', id: 'o1' })).status)
  expect(made.at(-1)).toBe(503)
  expect(made.filter((status) => status === 200)).toHaveLength(999)
})
