/** What XState users ask of an actor and of its snapshot, asked of a durable one. */

import { expect, test, vi } from 'vitest'
import { assign, createActor, emit, fromPromise, sendTo, setup, toPromise, waitFor } from 'xstate'
import { decode, encode } from '../../src/actors/journal/codec.ts'
import { RuntimeError } from '../../src/contracts/errors.ts'
import { snapshotOf } from '../../src/runtime/actor-snapshot.ts'
import { partsOf } from '../../src/runtime/index.ts'
import { testRuntime } from '../../src/testing/index.ts'

type OrderEvent = { type: 'pay'; amount: number } | { type: 'ship' } | { type: 'nop' } | { type: 'grow' } | { type: 'fail' }

const item = setup({
  types: { context: {} as { n: number }, events: {} as { type: 'grow' }, tags: {} as 'little' },
}).createMachine({
  context: { n: 1 },
  initial: 'small',
  states: { small: { tags: 'little', on: { grow: { target: 'big', actions: assign({ n: 2 }) } } }, big: { meta: { size: 'L' } } },
})

const order = setup({
  types: { context: {} as { paid: number }, events: {} as OrderEvent, tags: {} as 'open' | 'busy', output: {} as string },
  actors: { item, work: fromPromise(() => new Promise<string>(() => undefined)) },
  guards: {
    enough: ({ event }) => event.type === 'pay' && event.amount >= 10,
    never: () => {
      throw new Error('no')
    },
  },
}).createMachine({
  context: { paid: 0 },
  initial: 'new',
  invoke: [
    { src: 'item', id: 'item' },
    { src: 'work', id: 'work' },
  ],
  on: { nop: {}, grow: { actions: sendTo('item', { type: 'grow' }) }, fail: { guard: 'never', target: '.new' } },
  states: {
    new: {
      tags: 'open',
      meta: { label: 'just placed' },
      on: { pay: { guard: 'enough', target: 'paid', actions: assign({ paid: ({ event }) => event.amount }) } },
    },
    paid: { initial: 'packing', states: { packing: { tags: ['open', 'busy'] } }, on: { ship: 'shipped' } },
    shipped: { type: 'final' },
  },
  output: ({ context }) => `paid ${context.paid}`,
})

/** What there is to be asked, of either. */
const asked = (snapshot: any) => ({
  value: snapshot.value,
  context: snapshot.context,
  status: snapshot.status,
  output: snapshot.output,
  error: snapshot.error,
  tags: [...snapshot.tags],
  meta: snapshot.getMeta(),
  matches: [{ paid: 'packing' }, 'paid', 'new', 'shipped', 'elsewhere'].map((state) => snapshot.matches(state)),
  hasTag: ['open', 'busy', 'none'].map((tag) => snapshot.hasTag(tag)),
  can: [{ type: 'pay', amount: 1 }, { type: 'pay', amount: 10 }, { type: 'ship' }, { type: 'nop' }, { type: 'unheard' }].map((event) =>
    snapshot.can(event),
  ),
})
const path: OrderEvent[] = [{ type: 'pay', amount: 1 }, { type: 'pay', amount: 12 }, { type: 'grow' }, { type: 'ship' }]

test('a snapshot answers as the one of XState does, at every step, and as well where it came from another node', async () => {
  await using kit = await testRuntime({ machines: { order } })
  const plain = createActor(order, { id: 'order' }).start()
  const actor = kit.runtime.actor('order', 'o-1')
  const told = []
  for (const event of path) {
    plain.send(event)
    await kit.clock.until(actor.send(event))
    const { snapshot, seq, epoch } = decode(encode(await kit.clock.until(partsOf(kit.runtime).directory.read(actor.address, true)))) as any
    told.push([asked(await kit.clock.until(actor.snapshot())), asked(snapshotOf(snapshot, order, { seq, epoch })), asked(plain.getSnapshot())])
  }

  for (const [here, elsewhere, xstate] of told) {
    expect(here).toEqual(xstate)
    expect(elsewhere).toEqual(xstate)
  }
  expect(told[1]?.[0]).toMatchObject({ tags: ['open', 'busy'], matches: [true, true, false, false, false], can: [false, false, true, false, false] })
  expect(told.at(-1)?.[0]).toMatchObject({ status: 'done', output: 'paid 12' })
})

test('children are there with their states; what is sent to one of them is refused, with the cure', async () => {
  await using kit = await testRuntime({ machines: { order } })
  const actor = kit.runtime.actor('order', 'o-1')
  await kit.clock.until(actor.send({ type: 'grow' }))

  const { children } = await kit.clock.until(actor.snapshot())
  const grown = children.item?.getSnapshot()

  expect(Object.values(children).map((child) => [child?.id, child?.src])).toEqual([
    ['item', 'item'],
    ['work', 'work'],
  ])
  expect(grown).toMatchObject({ status: 'active', value: 'big', context: { n: 2 } })
  expect([grown?.matches('big'), grown?.hasTag('little'), grown?.can({ type: 'grow' }), grown?.getMeta()]).toEqual([
    true,
    false,
    false,
    { '(machine).big': { size: 'L' } },
  ])
  expect(children.work?.getSnapshot()).toMatchObject({ status: 'active', value: undefined })
  expect(() => children.item?.send({ type: 'grow' })).toThrow(
    expect.objectContaining({ code: 'unsupported', hint: expect.stringContaining("sendTo('item'") }),
  )
})

test('waitFor and toPromise of XState work on a durable actor that has been read, and say what to do on one that has not', async () => {
  await using kit = await testRuntime({ machines: { order } })
  const actor = kit.runtime.actor('order', 'o-1')
  const asXState = actor as any
  await kit.clock.until(actor.send({ type: 'nop' }))

  const early = await waitFor(asXState, () => true).catch((error: unknown) => error)
  await kit.clock.until(actor.snapshot())
  const paid = waitFor(asXState, (snapshot: any) => snapshot.matches('paid'))
  const output = toPromise(asXState)
  for (const event of path) await kit.clock.until(actor.send(event))

  expect(early).toMatchObject({ code: 'unsupported', hint: expect.stringContaining('await actor.snapshot() first') })
  expect(await kit.clock.until(output)).toBe('paid 12')
  // Both may have been seen as one commit: what was waited for is a state that it was in, or it is told that it ended.
  expect(await kit.clock.until(paid.catch((error: Error) => error.message))).toSatisfy(
    (told: any) => told.value?.paid === 'packing' || /terminated without satisfying/.test(String(told)),
  )
})

test('waitFor waits for a state over a crash and a restart of the actor, and toPromise of XState fails where the actor is set aside', async () => {
  await using kit = await testRuntime({ machines: { order }, limits: { crashMax: 0 } })
  await kit.clock.until(kit.runtime.actor('order', 'o-1').send({ type: 'pay', amount: 10 }))
  await kit.crash()
  await kit.restart()
  const actor = kit.runtime.actor('order', 'o-1')

  const paid = await kit.clock.until(actor.waitFor((snapshot) => snapshot.matches({ paid: 'packing' })))
  const shipped = actor.waitFor((snapshot) => snapshot.status === 'done')
  await kit.clock.until(actor.send({ type: 'ship' }))
  const broken = kit.runtime.actor('order', 'o-2')
  await kit.clock.until(broken.send({ type: 'nop' }))
  const failing = toPromise(broken as any).catch((error: unknown) => error)
  await kit.clock.until(broken.send({ type: 'fail' }).catch(() => undefined))

  expect(paid.context).toEqual({ paid: 10 })
  expect(await kit.clock.until(shipped)).toMatchObject({ output: 'paid 10' })
  expect(await kit.clock.until(actor.output())).toBe('paid 10')
  expect(await kit.clock.until(failing)).toMatchObject({ code: 'quarantined' })
})

test('waiting ends with a typed error: too late, called off, an actor that ended otherwise, or that is not there', async () => {
  await using kit = await testRuntime({ machines: { order } })
  const actor = kit.runtime.actor('order', 'o-1')
  await kit.clock.until(actor.send({ type: 'pay', amount: 10 }))
  const called = new AbortController()
  const never = () => false
  const failure = (promise: Promise<unknown>) => kit.clock.until(promise.catch((error: unknown) => error))

  expect(await failure(actor.waitFor(never, { timeout: 5_000 }))).toMatchObject({ code: 'timeout', retryable: true })
  expect(await failure(actor.output(5_000))).toMatchObject({ code: 'timeout' })
  const off = failure(actor.waitFor(never, { signal: called.signal }))
  called.abort(new Error('not any more'))
  expect(await off).toMatchObject({ message: 'not any more' })
  const ended = failure(actor.waitFor(never))
  await kit.clock.until(actor.send({ type: 'ship' }))
  expect(await ended).toMatchObject({ code: 'closed' })
  expect(await failure(kit.runtime.actor('order', 'nobody').waitFor(never))).toMatchObject({ code: 'not_found' })
})

test('whoever subscribes hears what is new to the handle, until it leaves', async () => {
  await using kit = await testRuntime({ machines: { order } })
  const actor = kit.runtime.actor('order', 'o-1')
  await kit.clock.until(actor.send({ type: 'nop' }))
  await kit.clock.until(actor.snapshot())
  const heard: unknown[] = []
  const { unsubscribe } = actor.subscribe(({ value }) => void heard.push(value))
  await kit.clock.advance(5_000)

  await kit.clock.until(actor.send({ type: 'pay', amount: 10 }))
  await kit.clock.advance(5_000)
  unsubscribe()
  await kit.clock.until(actor.send({ type: 'ship' }))
  await kit.clock.advance(5_000)

  expect(heard).toEqual([{ paid: 'packing' }])
})

test('whoever waits keeps no actor awake, and waits through an outage of the store', async () => {
  const quiet = setup({}).createMachine({ on: { nop: {} } })
  await using kit = await testRuntime({ machines: { quiet }, limits: { idleMs: 2_000 } })
  const { runtime } = kit
  const actor = runtime.actor('quiet', 'q-1')
  await kit.clock.until(actor.send({ type: 'nop' }))
  const { seq } = await kit.clock.until(actor.snapshot())
  const waited = actor.waitFor((snapshot) => snapshot.seq > seq)
  await kit.clock.advance(20_000)
  const awake = partsOf(runtime).host.liveCount
  const { journal } = partsOf(runtime).transport
  const head = journal.head.bind(journal)
  let away = 0
  journal.head = async () => {
    away++
    throw new RuntimeError('log_unavailable', 'the store is away', { retryable: true })
  }
  await kit.clock.advance(10_000)
  journal.head = head
  await kit.clock.until(actor.send({ type: 'nop' }))

  expect(awake).toBe(0)
  expect(away).toBeGreaterThan(2)
  expect(await kit.clock.until(waited)).toMatchObject({ seq: seq + 1 })
})

test('as JSON it has its tags as a list, and the states of its children', async () => {
  await using kit = await testRuntime({ machines: { order } })
  const actor = kit.runtime.actor('order', 'o-1')
  await kit.clock.until(actor.send({ type: 'grow' }))

  expect(JSON.parse(JSON.stringify(await kit.clock.until(actor.snapshot())))).toMatchObject({
    status: 'active',
    value: 'new',
    tags: ['open'],
    children: { item: { src: 'item', value: 'big', context: { n: 2 }, tags: [] }, work: { src: 'work', status: 'active' } },
    seq: 1,
    epoch: 1,
  })
})

test('whoever listens by type hears what is emitted, typed as the machine says, until it leaves', async () => {
  const bell = setup({
    types: { events: {} as { type: 'ring'; times: number }, emitted: {} as { type: 'rang'; times: number } | { type: 'tired' } },
  }).createMachine({
    on: { ring: { actions: [emit(({ event }) => ({ type: 'rang', times: event.times })), emit({ type: 'tired' })] } },
  })
  await using kit = await testRuntime({ machines: { bell } })
  const actor = kit.runtime.actor('bell', 'b-1')
  const heard: unknown[] = []
  const rang = actor.on('rang', ({ times }) => void heard.push(times))
  actor.on('*', ({ type }) => void heard.push(type))
  await kit.clock.until(actor.send({ type: 'ring', times: 3 }))
  rang.unsubscribe()
  await kit.clock.until(actor.send({ type: 'ring', times: 4 }))
  await kit.clock.settle()

  expect(heard).toEqual([3, 'rang', 'tired', 'rang', 'tired'])
})

test('who waits for a tag reads what the actor remembers once: where it has the tag, or has ended; the journal is asked nothing as long as it is in memory', async () => {
  await using kit = await testRuntime({ machines: { order } })
  const waiting = kit.runtime.actor('order', 'o1')
  const { directory, transport } = partsOf(kit.runtime)
  const read = vi.spyOn(directory, 'read')
  await waiting.send({ type: 'grow' })
  const head = vi.spyOn(transport.journal, 'head')

  const busy = waiting.waitForTag('busy')
  for (let commit = 0; commit < 3; commit++) await waiting.send({ type: 'grow' })
  await waiting.send({ type: 'pay', amount: 12 })

  expect((await kit.clock.until(busy)).context).toEqual({ paid: 12 })
  expect(head).not.toHaveBeenCalled()
  const extents = read.mock.calls.map(([, extent]) => extent)
  expect(extents.at(-1)).toBe(true)
  expect(new Set(extents.slice(0, -1))).toEqual(new Set(['outline']))
  await waiting.send({ type: 'ship' })
  expect(await kit.clock.until(waiting.waitForTag('open'))).toMatchObject({ status: 'done', output: 'paid 12' })
})

test('a node of an earlier version, which answers with more and no tags, is asked for the whole', async () => {
  await using kit = await testRuntime({ machines: { order } })
  const actor = kit.runtime.actor('order', 'o1')
  const { directory } = partsOf(kit.runtime)
  const { read } = directory
  vi.spyOn(directory, 'read').mockImplementation((address, extent) => read(address, extent === true))
  await actor.send({ type: 'pay', amount: 12 })

  expect(await kit.clock.until(actor.waitForTag('busy'))).toMatchObject({ status: 'active', context: { paid: 12 } })
})
