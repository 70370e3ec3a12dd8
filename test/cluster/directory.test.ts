/** Actors that another node has, asked for over a bus that loses answers. */
import { expect, test } from 'vitest'
import { assign, emit, setup } from 'xstate'
import { decode, encode } from '../../src/actors/index.ts'
import { askNode, failedHeader } from '../../src/cluster/directory.ts'
import { RuntimeError } from '../../src/contracts/errors.ts'
import { subjects } from '../../src/contracts/subjects.ts'
import { createRuntime } from '../../src/index.ts'
import { partsOf } from '../../src/runtime/index.ts'
import { systemEnvironment } from '../../src/runtime/system-environment.ts'
import { createMemoryStore, openMemory } from '../../src/transport/memory/open.ts'
import { afterThisTest } from '../support/cleanup.ts'

const counter = setup({ types: { context: {} as { count: number }, events: {} as { type: 'add' } } }).createMachine({
  context: { count: 0 },
  on: { add: { actions: assign({ count: ({ context }) => context.count + 1 }) } },
})

/** Says more than fits into one message, and holds more than that. */
const loud = setup({
  types: { context: {} as { text: string }, events: {} as { type: 'speak' | 'grow' }, emitted: {} as { type: 'word'; text: string } },
  actions: {
    say: emit((_, { text }: { text: string }) => ({ type: 'word' as const, text })),
    grow: assign({ text: 'x'.repeat(500_000) }),
  },
}).createMachine({
  context: { text: '' },
  on: {
    speak: {
      actions: [
        { type: 'say', params: { text: 'x'.repeat(500_000) } },
        { type: 'say', params: { text: 'short' } },
      ],
    },
    grow: { actions: 'grow' },
  },
})

/** What fits into one message. */
const bytesMax = 200_000

/** A node that has the actors, and one without, whose bus gets the answer to its first `send` and loses it. */
const aCluster = async ({ loses = true } = {}) => {
  const store = createMemoryStore()
  const open = () => openMemory({ environment: systemEnvironment(), store, shared: true })
  const machines = { counter, loud }
  const own = await open()
  const publish: typeof own.bus.publish = (subject, data, ...rest) => {
    if (data.length > bytesMax) throw new RuntimeError('too_large', `a message on the bus may have ${bytesMax} bytes`)
    own.bus.publish(subject, data, ...rest)
  }
  const there = await createRuntime({ transport: { ...own, bus: { ...own.bus, publish } }, machines, roles: ['session'] })
  afterThisTest(() => there.close())
  const transport = await open()
  let lost = 0
  const request: typeof transport.bus.request = async (subject, ...rest) => {
    const answer = await transport.bus.request(subject, ...rest)
    if (!loses || !subject.endsWith('.send') || lost++ > 0) return answer
    throw new RuntimeError('not_found', `nobody listens on '${subject}'`, { retryable: true })
  }
  const here = await createRuntime({ transport: { ...transport, bus: { ...transport.bus, request } }, machines, roles: ['gateway'] })
  afterThisTest(() => here.close())
  return { here, there, sent: () => lost }
}

test('an event without an id whose first answer was lost between nodes is taken once', async () => {
  const { here, there, sent } = await aCluster()

  const receipt = await here.actor('counter', 'c').send({ type: 'add' })

  expect(sent()).toBe(2)
  expect(receipt.duplicate).toBe(true)
  expect((await there.actor('counter', 'c').snapshot())?.context).toEqual({ count: 1 })
})

test('two events without an id are two, though the answer to the first was lost', async () => {
  const { here, there } = await aCluster()

  await here.actor('counter', 'c').send({ type: 'add' })
  await here.actor('counter', 'c').send({ type: 'add' })

  expect((await there.actor('counter', 'c').snapshot())?.context).toEqual({ count: 2 })
})

test('an event with an id keeps it on its way to another node', async () => {
  const { here, there } = await aCluster()

  await here.actor('counter', 'c').send({ type: 'add' }, { id: 'order-1' })

  expect(await there.actor('counter', 'c').send({ type: 'add' }, { id: 'order-1' })).toMatchObject({ duplicate: true })
  expect((await there.actor('counter', 'c').snapshot())?.context).toEqual({ count: 1 })
})

test('of events that do not fit into a receipt the short ones are kept, and the message is accepted', async () => {
  const { here } = await aCluster({ loses: false })

  const { seq, emitted } = await here.actor('loud', 'l').send({ type: 'speak' })

  expect(seq).toBe(1)
  expect(emitted).toEqual([{ type: 'word', text: 'short' }])
})

test('a state that does not fit into a message is too large, with what to do, and nothing waits for it', async () => {
  const { here } = await aCluster({ loses: false })
  await here.actor('loud', 'l').send({ type: 'grow' })

  await expect(here.actor('loud', 'l').snapshot()).rejects.toMatchObject({ code: 'too_large', hint: expect.stringContaining('hash of a blob') })
})

test('a node that closes is gone for the others at once', async () => {
  const { here, there } = await aCluster({ loses: false })
  const { registry } = partsOf(there).transport
  const id = here.nodes().find(({ roles }) => roles.includes('gateway'))?.id

  await here.close()

  expect(await registry.get(`nodes/${id}`)).toBeUndefined()
})

/** A question to a node that answers as given, or not at all. */
const asking = async (answer?: { body: unknown; headers?: Record<string, string> }) => {
  const { bus, close } = await openMemory({ environment: systemEnvironment() })
  afterThisTest(close)
  const names = subjects()
  const listeners = new Set<() => void>()
  let alive = true
  const membership = {
    isAlive: () => alive,
    listen: (listener: () => void) => {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
  } as unknown as Parameters<typeof askNode>[0]['membership']
  bus.subscribe(names.node('n', '*'), ({ reply, data }) => {
    decode(data)
    if (reply !== undefined && answer !== undefined) bus.publish(reply, encode(answer.body), answer.headers)
  })
  const die = () => {
    alive = false
    for (const listener of listeners) listener()
  }
  return { listeners, die, ask: () => askNode({ bus, names, membership }, 'n', 'holds', { kind: 'counter', id: 'c' }) }
}

test('a question to a node that goes before it answers fails at once, and may be asked again', async () => {
  const { ask, die, listeners } = await asking()
  const asked = ask()
  die()

  await expect(asked).rejects.toMatchObject({ code: 'closed', retryable: true })
  expect(listeners.size).toBe(0)
})

test('what a node answers is the answer, or the error that it names, and nothing listens for the node any more', async () => {
  const fine = await asking({ body: true })
  expect(await fine.ask()).toBe(true)
  expect(fine.listeners.size).toBe(0)

  const refusal = { code: 'conflict', message: 'not now', retryable: false }
  const refused = await asking({ body: refusal, headers: { [failedHeader]: '1' } })
  await expect(refused.ask()).rejects.toMatchObject(refusal)
  expect(refused.listeners.size).toBe(0)
})
