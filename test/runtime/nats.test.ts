/** The same conversation on a NATS server. */
import { connect } from '@nats-io/transport-node'
import { expect, test, vi } from 'vitest'
import { z } from 'zod'
import { agent, createRuntime, type Runtime, tool } from '../../src/index.ts'
import { natsForAll } from '../support/nats.ts'

const server = natsForAll()

const paid: string[] = []
const pay = tool({
  name: 'pay',
  description: 'pays',
  input: z.object({ amount: z.number() }),
  onCrash: 'retry',
  execute: async ({ amount }, { callId }) => {
    paid.push(callId)
    return `paid ${amount}`
  },
})

const open = (prefix: string, hold?: Promise<void>): Promise<Runtime> =>
  createRuntime({
    transport: server.url,
    prefix,
    agents: [agent({ name: 'main', model: 'test/model', tools: [pay] })],
    models: {
      'test/model': async ({ messages }) => {
        const last = messages.at(-1)
        if (last?.role === 'user' && last.text.startsWith('pay')) return { calls: [{ name: 'pay', input: { amount: 7 } }] }
        await hold
        return { text: last?.role === 'tool' ? `done: ${String(last.output)}` : `you said ${last?.role === 'user' ? last.text : ''}` }
      },
    },
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

test('a turn that its node left behind goes on at the next one', async () => {
  paid.length = 0
  const held = Promise.withResolvers<void>()
  const first = await open('left', held.promise)
  const run = await first.session('main').send('pay please', { idempotencyKey: 'm1' })
  await vi.waitFor(() => expect(paid).toHaveLength(1))
  run.result().catch(() => undefined)
  first.services.host.abandon()
  await first.services.transport.close()

  await using second = await open('left')
  const outcome = await second.session('main').wait('m1', 60_000)

  expect(outcome).toMatchObject({ status: 'completed', text: 'done: paid 7' })
  expect(new Set(paid).size).toBe(1)
  expect(await second.replay({ kind: 'session', id: 'main' })).toMatchObject({ verdict: 'identical' })
})
