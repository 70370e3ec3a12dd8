/** Whoever listens on the bus with nothing but a connection catches up with one request. */
import { connect, type NatsConnection } from '@nats-io/transport-node'
import { afterEach, expect, test, vi } from 'vitest'
import type { EventPage } from '../../src/api/events-read.ts'
import { createRuntime, type Runtime } from '../../src/index.ts'
import { closedAfterEach } from '../support/kept.ts'
import { natsForAll } from '../support/nats.ts'

const server = natsForAll()
const kept = closedAfterEach()

let count = 0
let prefix = ''
let nc: NatsConnection | undefined
afterEach(() => nc?.close())
const open = async (transport = server.url): Promise<Runtime> => {
  prefix = `heard-${++count}`
  return kept(await createRuntime({ transport, prefix }))
}
const ask = async (input: object): Promise<EventPage> => (await nc!.request(`${prefix}.api.events.read`, JSON.stringify(input))).json()
const turn = async (runtime: Runtime, text: string): Promise<void> => void (await (await runtime.session('main').send(text)).result())

type Out = { type: string; seq?: number; part?: number }
/** Durable events as they are heard. */
const subscribed = async (): Promise<{ heard: Out[]; stop(): void }> => {
  const heard: Out[] = []
  const subscription = nc!.subscribe(`${prefix}.out.session.main.*`, {
    callback: (_, message) => {
      const event = message.json<Out>()
      if (event.part !== undefined) heard.push(event)
    },
  })
  await nc!.flush()
  return { heard, stop: () => subscription.unsubscribe() }
}
const finals = (events: readonly Out[]): number => events.filter(({ type }) => type === 'final').length

test('who was away asks from its last seq and part on, and has what one heard who was there: each once, in order', async () => {
  const runtime = await open()
  nc = await connect({ servers: server.url })
  const [always, away] = [await subscribed(), await subscribed()]
  await turn(runtime, '1+1')
  await vi.waitFor(() => expect(finals(away.heard)).toBe(1))
  away.stop()
  await turn(runtime, '2+2')
  await turn(runtime, '3+3')
  await vi.waitFor(() => expect(finals(always.heard)).toBe(3))
  const last = away.heard.at(-1)!

  const { events, next, more } = await ask({ id: 'main', after: `${last.seq}.${last.part}` })

  expect([...away.heard, ...events.map(({ birth, ...event }) => event)]).toEqual(always.heard)
  expect(finals(events)).toBe(2)
  expect(more).toBe(false)
  expect(await ask({ id: 'main', after: next })).toEqual({ events: [], next, more: false })
})

test('in pages one gets the same, and from the beginning everything', async () => {
  const runtime = await open()
  nc = await connect({ servers: server.url })
  await turn(runtime, '1+1')
  const { events: all } = await ask({ id: 'main' })

  const paged: unknown[] = []
  for (let page = await ask({ id: 'main', limit: 1 }); ; page = await ask({ id: 'main', after: page.next, limit: 1 })) {
    expect(page.events).toHaveLength(1)
    paged.push(...page.events)
    if (!page.more) break
  }

  expect(paged).toEqual(all)
  expect(finals(all)).toBe(1)
})

test('a place of another life of the conversation begins with restart, then comes everything', async () => {
  const runtime = await open('memory:')
  await turn(runtime, '1+1')
  await turn(runtime, '2+2')
  const { next } = await runtime.command<EventPage>('events.read', { id: 'main' })
  await runtime.command('sessions.delete', { sessionKey: 'main' })
  await turn(runtime, '3+3')

  const { events } = await runtime.command<EventPage>('events.read', { id: 'main', after: next })

  const types = events.map(({ type }) => type)
  expect([types.slice(0, 3), types.at(-1), finals(events)]).toEqual([['restart', 'accepted', 'started'], 'final', 1])
})

test('what is no place, no conversation or no kind is refused by name', async () => {
  const runtime = await open('memory:')
  await turn(runtime, '1+1')

  await expect(runtime.command('events.read', { id: 'main', after: 'yesterday' })).rejects.toMatchObject({ code: 'bad_request', field: 'after' })
  await expect(runtime.command('events.read', { id: 'nobody' })).rejects.toMatchObject({ code: 'not_found', hint: expect.any(String) })
  await expect(runtime.command('events.read', { id: 'main', kind: 'nothing' })).rejects.toMatchObject({ code: 'not_found' })
})

test('a message whose id was used before is answered with the place of the first, marked as a duplicate', async () => {
  const runtime = await open('memory:')
  const send = () => runtime.command('chat.send', { sessionKey: 'main', message: '1+1', idempotencyKey: 'k' })

  const first = (await send()) as { seq: number }
  await runtime.session('main').wait('k')

  expect(first).not.toHaveProperty('duplicate')
  expect(await send()).toMatchObject({ id: 'k', status: 'ok', duplicate: true, cached: true, seq: first.seq })
})
