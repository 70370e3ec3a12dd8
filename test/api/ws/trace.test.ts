/** How far journals have come, told to those who watch them: as soon as a commit stands, whichever node wrote it, and never more than they can take. */
import { expect, test, vi } from 'vitest'
import { TraceWatching } from '../../../src/api/ws/trace-watching.ts'
import { partsOf } from '../../../src/runtime/index.ts'
import { aGateway } from '../http/harness.ts'
import { aCluster } from './a-cluster.ts'
import { aSocket } from './a-socket.ts'

type Gateway = Awaited<ReturnType<typeof aGateway>>

const headOf = async ({ runtime }: Pick<Gateway, 'runtime'>, id: string) =>
  (await partsOf(runtime).transport.journal.head({ kind: 'session', id }))?.seq ?? 0

test('who watches a journal is told how far it has come, also of one that begins later, and no more once it has left', async () => {
  const node = await aGateway()
  const page = await aSocket(node.gateway.url)

  expect(await page.request('trace.subscribe', { id: 'agent:main:web:later' })).toMatchObject({
    payload: { kind: 'session', id: 'agent:main:web:later' },
  })
  await (await node.runtime.session('agent:main:web:later').send('hello')).result()
  const seq = await headOf(node, 'agent:main:web:later')
  const { payload } = await page.event('trace.grown', (grown) => grown.seq === seq)
  expect(payload).toEqual({ kind: 'session', id: 'agent:main:web:later', seq })

  await page.request('trace.unsubscribe', { id: 'agent:main:web:later' })
  const heard = page.events('trace.grown').length
  await (await node.runtime.session('agent:main:web:later').send('again')).result()
  await page.request('health')
  expect(page.events('trace.grown')).toHaveLength(heard)
})

test('a session has one key, by whatever name it is watched; one that is deleted has come to nothing', async () => {
  const { gateway, runtime, rpc } = await aGateway()
  const page = await aSocket(gateway.url)

  expect((await page.request('trace.subscribe', { id: 'agent:main:web:main' })).payload).toEqual({ kind: 'session', id: 'main' })
  await (await runtime.session('main').send('hello')).result()
  await page.event('trace.grown', ({ id, seq }) => id === 'main' && seq > 1)
  await rpc('sessions.delete', { sessionKey: 'main' })

  expect((await page.event('trace.grown', ({ seq }) => seq === 0)).payload).toEqual({ kind: 'session', id: 'main', seq: 0 })
})

test('what another node writes is told as well, and what no node of the cluster said is not', async () => {
  const { node } = aCluster()
  const [owner, other] = [await node(), await node(false)]
  await vi.waitFor(() => expect(other.runtime.nodes()[0]?.partitions).toBe(64))
  const page = await aSocket(other.gateway.url)
  await page.request('trace.subscribe', { id: 'main' })
  const forged = (headers: Record<string, string>) =>
    partsOf(other.runtime).transport.bus.publish(
      other.runtime.subjects.out({ kind: 'session', id: 'main' }, 'state'),
      new TextEncoder().encode(JSON.stringify({ type: 'state', seq: 99 })),
      headers,
    )

  forged({})
  forged({ 'Statecast-Node': 'nobody' })
  await (await other.runtime.session('main').send('hello')).result()
  const seq = await headOf(owner, 'main')
  await page.event('trace.grown', (grown) => grown.seq === seq)

  expect(page.events('trace.grown').every((grown) => grown.seq <= seq)).toBe(true)
})

test('a connection watches 256 journals; a kind that there is not, and an id that is none, are refused', async () => {
  const { gateway } = await aGateway()
  const page = await aSocket(gateway.url)

  for (let count = 0; count < 256; count++) await page.request('trace.subscribe', { id: `s${count}` })
  expect(await page.request('trace.subscribe', { id: 's0' })).toMatchObject({ ok: true })
  expect(await page.request('trace.subscribe', { id: 'one-more' })).toMatchObject({ ok: false, error: { code: 'rate_limited' } })
  await page.request('trace.unsubscribe', { id: 's0' })
  expect(await page.request('trace.subscribe', { id: 'one-more' })).toMatchObject({ ok: true })

  expect(await page.request('trace.subscribe', { kind: 'nothing', id: 'x' })).toMatchObject({ ok: false, error: { code: 'not_found' } })
  expect(await page.request('trace.subscribe', { id: '\ud800' })).toMatchObject({ ok: false, error: { code: 'bad_request' } })
  expect(await page.request('trace.subscribe', { id: 'x', more: true })).toMatchObject({ ok: false, error: { code: 'bad_request' } })
})

test('[INV-19] a token of some sessions is answered of a foreign one as of one that is not there, and hears nothing of it', async () => {
  const { gateway, runtime, rpc } = await aGateway()
  await (await runtime.session('agent:main:sms:foreign').send('hello')).result()
  const { token } = (await rpc('tokens.create', { name: 'page', scopes: ['read'], sessions: ['agent:main:web:*'] })).json
  const [bound, whole] = [await aSocket(gateway.url, { auth: { token } }), await aSocket(gateway.url)]
  const ask = (id: string, kind?: string) => bound.request('trace.subscribe', { id, kind })

  expect(await ask('agent:main:sms:foreign')).toMatchObject({ ok: true, payload: { kind: 'session', id: 'agent:main:sms:foreign' } })
  expect(await ask('agent:main:sms:none')).toMatchObject({ ok: true, payload: { kind: 'session', id: 'agent:main:sms:none' } })
  expect(await ask('tokens', 'config')).toMatchObject({ ok: true })
  await ask('agent:main:web:mine')
  for (const [id, kind] of [['agent:main:sms:foreign'], ['agent:main:web:mine'], ['tokens', 'config']])
    await whole.request('trace.subscribe', { id, kind })
  await rpc('tokens.create', { name: 'another', scopes: ['read'] })
  for (const key of ['agent:main:sms:foreign', 'agent:main:web:mine']) await (await runtime.session(key).send('again')).result()
  await bound.event('trace.grown')
  await whole.event('trace.grown', ({ id }) => id === 'tokens')

  expect(new Set(bound.events('trace.grown').map(({ id }) => id))).toEqual(new Set(['agent:main:web:mine']))
  // They count alike, so that a limit says nothing either.
  for (let count = 0; count < 252; count++) await ask(`agent:main:sms:s${count}`)
  expect(await ask('agent:main:web:one-more')).toMatchObject({ ok: false, error: { code: 'rate_limited' } })
})

test('a reader that is behind costs one number a journal, and is told the newest when it has caught up', async () => {
  const { runtime } = await aGateway()
  const listeners: ((seq: number) => void)[] = []
  const watched = { ...runtime, onGrowth: (_: unknown, listener: (seq: number) => void) => void listeners.push(listener) } as never
  const told: { id: string; seq: number }[] = []
  const reader = { isBehind: true, tell: (_: string, grown: { id: string; seq: number }) => void told.push(grown) }
  const traces = new TraceWatching(reader, 256)
  for (const id of ['a', 'b']) traces.watch(watched, { id }, undefined)

  for (let seq = 1; seq <= 100_000; seq++) for (const listener of listeners) listener(seq)
  traces.flush()
  expect(told).toEqual([])
  reader.isBehind = false
  traces.flush()
  traces.flush()

  expect(told).toEqual([
    { kind: 'session', id: 'a', seq: 100_000 },
    { kind: 'session', id: 'b', seq: 100_000 },
  ])
})
