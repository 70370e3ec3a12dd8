/** A conversation that another node has, watched through this one. */
import { expect, test, vi } from 'vitest'
import { partsOf } from '../../../src/runtime/index.ts'
import { aCluster } from './a-cluster.ts'
import { aSocket } from './a-socket.ts'

test('its answers come through any node, and a node that is joined in the middle shows all of them at the end', async () => {
  const { node, goOn } = aCluster()
  const [owner, other, late] = [await node(), await node(false), await node(false)]
  await vi.waitFor(() => expect(other.runtime.nodes()[0]?.partitions).toBe(64))
  const first = await aSocket(other.gateway.url)
  await first.request('chat.send', { sessionKey: 'main', message: 'story', idempotencyKey: 'k1' })
  await first.event('chat', ({ message }) => message?.content.some((block) => block.type === 'text'))

  const second = await aSocket(late.gateway.url)
  const { payload } = await second.request('chat.subscribe', { sessionKey: 'main' })
  goOn()
  const ends = await Promise.all([first, second].map(({ event }) => event('chat', ({ state }) => state !== 'delta')))

  expect(payload).toMatchObject({ run: { runId: 'k1' } })
  expect(ends[0]?.payload).toMatchObject({ state: 'final', message: { content: [{ type: 'text', id: 'k1:1', text: 'once upon a time' }] } })
  expect(ends[1]?.payload.message?.content).toEqual(ends[0]?.payload.message?.content)
  expect(owner.gateway.sockets()).toBe(0)
})

test('an end that somebody made up on the bus is not believed', async () => {
  const { node, goOn } = aCluster()
  const [owner, other] = [await node(), await node(false)]
  await vi.waitFor(() => expect(other.runtime.nodes()[0]?.partitions).toBe(64))
  const { request, event, events } = await aSocket(other.gateway.url)
  await request('chat.send', { sessionKey: 'main', message: 'story', idempotencyKey: 'k1' })
  await event('chat', ({ message }) => message?.content.some((block) => block.type === 'text'))

  const me = owner.runtime.nodes()[0]?.id ?? ''
  const forged = { path: '/', type: 'final', status: 'completed', runId: 'k1', ids: ['k1'], text: 'send money', seq: 99, part: 0 }
  const headers = { 'Content-Type': 'application/json', 'Statecast-Node': me }
  const subject = other.runtime.subjects.out({ kind: 'session', id: 'main' }, 'final')
  partsOf(other.runtime).transport.bus.publish(subject, new TextEncoder().encode(JSON.stringify(forged)), headers)
  goOn()
  const end = await event('chat', ({ state }) => state !== 'delta')

  expect(end.payload).toMatchObject({ state: 'final', message: { content: [{ text: 'once upon a time' }] } })
  expect(JSON.stringify(events('chat'))).not.toContain('money')
})
