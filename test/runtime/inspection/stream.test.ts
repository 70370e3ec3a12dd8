/** What actors do, commit by commit, for those who listen on the bus. */
import { afterEach, expect, test, vi } from 'vitest'
import { createRuntime, type Runtime, type RuntimeOptions } from '../../../src/index.ts'
import { partsOf } from '../../../src/runtime/index.ts'
import { testRuntime } from '../../../src/testing/index.ts'
import { hearing, line, machines } from './orders.ts'

const running: Runtime[] = []
afterEach(() => Promise.all(running.splice(0).map((runtime) => runtime.close())))

const aNode = async (options: RuntimeOptions = {}) => {
  const runtime = await createRuntime({ transport: 'memory:', machines, ...options })
  running.push(runtime)
  const parts = partsOf(runtime)
  const send = (id: string, event: { type: string; [more: string]: unknown }) => runtime.actor('order', id, { payment: `${id}-p` }).send(event)
  return { runtime, parts, bus: parts.transport.bus, send }
}

test('who listens hears the tree, then each commit: what was delivered, asked and taken, what came of it and what is possible next', async () => {
  const { bus, send } = await aNode()
  await send('o1', { type: 'note', text: 'hello' })
  const { messages } = hearing(bus, 'statecast.inspect.order.o1')

  await send('o1', { type: 'begin' })
  await vi.waitFor(() => expect(messages().map(line)).toContain('payment/o1-p is active "open" after xstate.init; next coin, coin'))
  const isHeard = (what: string) => vi.waitFor(() => expect(messages().map(line)).toContain(what))
  for (const value of [2, 3]) {
    await send('o1', { type: 'coin', value })
    await isHeard(`payment/o1-p commit ${value}`)
  }
  await isHeard('order/o1/payment#1 is done undefined after xstate.promise.resolve; next ')

  expect(messages().map(line)).toMatchInlineSnapshot(`
    [
      "order/o1 began below nobody as "waiting"",
      "order/o1 commit 2",
      "order/o1 ← begin from outside",
      "order/o1/payment#1 began below order/o1 as "active"",
      "order/o1 asked - free; took order.waiting begin[0]",
      "order/o1/payment#1 is active undefined after xstate.init; next ",
      "order/o1 is active "paying" after begin; next coin, xstate.done.actor.payment, note, more",
      "payment/o1-p commit 1",
      "payment/o1-p began below order/o1/payment#1 as "open"",
      "payment/o1-p is active "open" after xstate.init; next coin, coin",
      "order/o1 commit 3",
      "order/o1 ← coin from outside",
      "order/o1 asked - free; took order.paying coin[0]",
      "order/o1/payment#1 ← coin from order/o1",
      "order/o1/payment#1 is active undefined after coin; next ",
      "order/o1 is active "paying" after coin; next coin, xstate.done.actor.payment, note, more",
      "payment/o1-p commit 2",
      "payment/o1-p ← coin from outside",
      "payment/o1-p asked isEnough no, - free; took payment.open coin[1]",
      "payment/o1-p is active "open" after coin; next coin, coin",
      "order/o1 commit 4",
      "order/o1 ← coin from outside",
      "order/o1 asked - free; took order.paying coin[0]",
      "order/o1/payment#1 ← coin from order/o1",
      "order/o1/payment#1 is active undefined after coin; next ",
      "order/o1 is active "paying" after coin; next coin, xstate.done.actor.payment, note, more",
      "payment/o1-p commit 3",
      "payment/o1-p ← coin from outside",
      "payment/o1-p asked isEnough yes, - unasked; took payment.open coin[0]",
      "payment/o1-p is done "paid" after coin; next ",
      "order/o1 commit 5",
      "order/o1/payment#1 ← xstate.promise.resolve from order/o1/payment#1",
      "order/o1 ← xstate.done.actor.payment from order/o1/payment#1",
      "order/o1 asked - free; took order.paying xstate.done.actor.payment[0]",
      "order/o1 is active "done" after xstate.done.actor.payment; next note, more",
      "order/o1/payment#1 is done undefined after xstate.promise.resolve; next ",
    ]
  `)
  expect(new Set(messages().map(({ rootId }) => rootId))).toEqual(new Set(['order/o1']))
  expect(messages()[0]).toMatchObject({
    name: 'order',
    id: null,
    createdAt: expect.stringMatching(/^\d+$/),
    snapshot: { context: { note: 'hello' } },
  })
  expect(JSON.parse((messages()[0] as { definition: string }).definition)).toMatchObject({ id: 'order', initial: 'waiting' })
})

test('where nobody listens nothing is folded, and nothing more when the last listener has left', async () => {
  const { bus, parts, send } = await aNode()
  const reads = vi.spyOn(parts.transport.journal, 'read')
  bus.subscribe('something.else', () => undefined)
  for (let count = 0; count < 10; count++) await send('o1', { type: 'note', text: count })
  const [first, second] = [hearing(bus, 'statecast.inspect.order.*'), hearing(bus, 'statecast.inspect.order.o1')]
  await send('o2', { type: 'note', text: 1 })
  await vi.waitFor(() => expect(first.messages().length).toBeGreaterThan(0))
  // Of the other one nothing has been read.
  expect(reads.mock.calls.map(([{ id }]) => id)).toEqual(expect.not.arrayContaining(['o1']))

  first.stop()
  second.stop()
  reads.mockClear()
  for (const id of ['o1', 'o2']) await send(id, { type: 'note', text: 2 })
  const again = hearing(bus, 'statecast.inspect.order.o2')
  await send('o2', { type: 'note', text: 3 })
  await vi.waitFor(() => expect(again.messages().map(line)).toContain('order/o2 commit 3'))
  expect(reads.mock.calls.map(([{ id }]) => id)).toEqual(expect.not.arrayContaining(['o1']))
})

test.each(['at the next commit', 'within seconds'])(
  'an actor is followed no more %s after its visualiser has gone, nor are those below it',
  async (when) => {
    await using kit = await testRuntime({ machines })
    const { transport, outputs } = partsOf(kit.runtime)
    const send = (event: { type: string; [more: string]: unknown }) =>
      kit.clock.until(kit.runtime.actor('order', 'o1', { payment: 'p1' }).send(event as { type: 'begin' }))
    const { messages, stop } = hearing(transport.bus, 'statecast.inspect.order.o1')
    await send({ type: 'begin' })
    await kit.clock.until(() => messages().some((one) => line(one).startsWith('payment/p1 began')))
    expect([...outputs.growth.watched.keys()]).toEqual(['payment/p1'])
    const reads = vi.spyOn(transport.journal, 'read')
    // For as long as it stays, it is looked for again and again.
    await kit.clock.advance(16_000)
    expect([...outputs.growth.watched.keys()]).toEqual(['payment/p1'])

    stop()
    if (when === 'at the next commit') await send({ type: 'note', text: 'unseen' })
    else await kit.clock.advance(6_000)

    expect([...outputs.growth.watched.keys()]).toEqual([])
    reads.mockClear()
    await send({ type: 'note', text: 'unseen too' })
    await kit.clock.advance(6_000)
    expect(reads).not.toHaveBeenCalled()
  },
)

test('a visualiser that stays hears on, long after it has begun', async () => {
  await using kit = await testRuntime({ machines })
  const { messages } = hearing(partsOf(kit.runtime).transport.bus, 'statecast.inspect.order.o1')
  const note = (text: string) => kit.clock.until(kit.runtime.actor('order', 'o1', { payment: 'p1' }).send({ type: 'note', text }))
  await note('one')
  await kit.clock.until(() => messages().length > 0)

  for (let look = 0; look < 3; look++) await kit.clock.advance(6_000)
  await note('two')

  await kit.clock.until(() => messages().map(line).includes('order/o1 commit 2'))
})

test('who has nothing to do with a subject cannot be made to hear it by an id', async () => {
  const { bus, send } = await aNode()
  const ids = ['*', '>', 'a.b', 'x y\r\nPUB evil 1', '\u202e', '😀', 'statecast.inspect.order.o1', 'a=2Eb']
  const [all, victim] = [hearing(bus, 'statecast.inspect.order.*'), hearing(bus, 'statecast.inspect.order.victim')]

  for (const id of ids) await send(id, { type: 'note', text: 'hello' })
  await vi.waitFor(() => expect(new Set(all.messages().map(({ rootId }) => rootId)).size).toBe(ids.length))

  expect(victim.heard).toEqual([])
  for (const { rootId } of all.messages()) expect(rootId).toMatch(/^order\/[A-Za-z0-9_:=-]+$/)
})

test.each([1, 5])('what holds %i MB is told cut, with a mark where something is left out', async (megabytes) => {
  const { bus, send } = await aNode()
  const { messages } = hearing(bus, 'statecast.inspect.order.big')
  await send('big', { type: 'note', text: 'small' })
  await vi.waitFor(() => expect(messages().length).toBeGreaterThan(0))

  for (let count = 0; count < megabytes; count++)
    await send('big', { type: 'more', text: ['y'.repeat(500_000), Array.from({ length: 50_000 }, () => 'small')] })
  await vi.waitFor(() => expect(messages().at(-1)).toMatchObject({ type: '@xstate.snapshot', seq: megabytes + 1 }))

  for (const message of messages()) expect(JSON.stringify(message).length).toBeLessThan(200_000)
  const [event, rest] = messages()
    .slice(-3)
    .filter(({ type }) => type !== '@xstate.microstep')
    .map((one) => JSON.stringify(one))
  for (const one of [event, rest]) {
    expect(one).toContain('… (500000 characters)')
    expect(one).toMatch(/… \(\d+ more\)/)
  }
})

test('a journal that other machines wrote is not shown, and its actor goes on', async () => {
  const { bus, parts, send } = await aNode()
  const { messages } = hearing(bus, 'statecast.inspect.order.>')
  await send('fine', { type: 'note', text: 1 })
  await vi.waitFor(() => expect(messages().length).toBeGreaterThan(0))
  const read = parts.transport.journal.read
  parts.transport.journal.read = async (address, ...rest) => {
    if (address.id === 'torn') throw new Error('torn')
    return read(address, ...rest)
  }

  await send('torn', { type: 'note', text: 1 })
  await send('fine', { type: 'note', text: 2 })
  await vi.waitFor(() => expect(messages().map(line)).toContain('order/fine commit 2'))

  expect(await send('torn', { type: 'note', text: 2 })).toMatchObject({ seq: 2 })
  expect(messages().filter(({ rootId }) => rootId === 'order/torn')).toEqual([])
})
