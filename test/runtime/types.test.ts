/** What the compiler knows of registered machines and of handles; `npm run check` is what fails here, the bodies show that it is true of the values as well. */

import { expect, expectTypeOf, test } from 'vitest'
import { assign, createMachine, setup } from 'xstate'
import * as chat from '../../src/chat.ts'
import * as client from '../../src/client.ts'
import * as statecast from '../../src/index.ts'
import { type Actor, defineApp, type Run, type Runtime } from '../../src/index.ts'
import * as nats from '../../src/nats.ts'
import { partsOf } from '../../src/runtime/index.ts'
import type { RuntimeOptions } from '../../src/runtime.ts'
import { createRuntime } from '../../src/runtime.ts'
import * as testing from '../../src/testing/index.ts'
import { testRuntime } from '../../src/testing/index.ts'

const order = setup({
  types: {
    input: {} as { item: string },
    context: {} as { item: string; paid: number },
    events: {} as { type: 'pay'; amount: number } | { type: 'ship' },
    output: {} as { invoice: string },
    tags: {} as 'open' | 'closed',
  },
}).createMachine({
  context: ({ input }) => ({ item: input.item, paid: 0 }),
  initial: 'new',
  states: {
    new: { tags: 'open', on: { pay: { target: 'paid', actions: assign({ paid: ({ event }) => event.amount }) } } },
    paid: { tags: 'closed', on: { ship: 'shipped' } },
    shipped: { type: 'final' },
  },
  output: ({ context }) => ({ invoice: context.item }),
})
const site = setup({ types: { events: {} as { type: 'look' } } }).createMachine({
  initial: 'home',
  states: { home: {}, cart: { id: 'cart', route: {} } },
})
const loose = createMachine({ on: { go: {} } })
const open = () => createRuntime({ transport: 'memory:', machines: { order, site: { machine: site, strict: true }, loose } })

test('kinds, events, snapshots and outputs of registered machines have their types', async () => {
  await using runtime = await open()
  const actor = runtime.actor('order', 'o-1', { item: 'lamp' })
  await actor.send({ type: 'pay', amount: 7 })
  const snapshot = await actor.snapshot()
  await runtime.actor('site', 's-1').send({ type: 'xstate.route', to: '#cart' })
  await runtime.actor('loose', 'l-1').send({ type: 'go', anything: 1 })
  await actor.send({ type: 'ship' })

  expect(snapshot.context.paid).toBe(7)
  expect(await actor.output()).toEqual({ invoice: 'lamp' })
  expectTypeOf(snapshot.context).toEqualTypeOf<{ item: string; paid: number }>()
  expectTypeOf(snapshot.value).toEqualTypeOf<'new' | 'paid' | 'shipped'>()
  expectTypeOf(snapshot.output).toEqualTypeOf<{ invoice: string } | undefined>()
  expectTypeOf(actor.output).returns.resolves.toEqualTypeOf<{ invoice: string }>()
  expectTypeOf(actor).toEqualTypeOf<Actor<typeof order>>()
})

test('what a machine does not take does not compile', async () => {
  await using runtime = await open()
  const wrong = (): unknown[] => [
    // @ts-expect-error: no machine is registered as typo
    runtime.actor('typo', 'x'),
    // @ts-expect-error: the event is called pay
    runtime.actor('order', 'x').send({ type: 'payy' }),
    // @ts-expect-error: an amount belongs to it
    runtime.actor('order', 'x').send({ type: 'pay' }),
    // @ts-expect-error: it begins with an item
    runtime.actor('order', 'x', { itm: 'lamp' }),
    // @ts-expect-error: with options too, it has events of its own
    runtime.actor('site', 'x').send({ type: 'pay', amount: 1 }),
  ]

  expect(wrong).toBeTypeOf('function')
})

test('a runtime of some machines is a runtime: whoever takes any takes it; without machines nothing is known', async () => {
  const kindsOf = (runtime: Runtime): string[] => partsOf(runtime).host.kinds
  await using runtime = await open()
  const named: Runtime<{ order: typeof order }> = await createRuntime({ transport: 'memory:', machines: { order } })
  await using any: Runtime = named
  const app = defineApp({ transport: 'memory:', machines: { order } })
  const options: RuntimeOptions = app
  await using again = await createRuntime(app)

  expect(kindsOf(runtime)).toContain('order')
  expect(Object.keys(options)).toEqual(Object.keys(app))
  expectTypeOf(again).toEqualTypeOf(named)
  expectTypeOf(any.actor).parameter(0).toEqualTypeOf<string>()
  await any.actor('order', 'x', { item: 'lamp' }).send({ type: 'anything' })
})

test('the test kit knows the machines of its runtime, in every life', async () => {
  await using kit = await testRuntime({ machines: { order } })
  const again = await kit.restart()
  // @ts-expect-error: no machine is registered as typo
  const wrong = (): unknown => kit.runtime.actor('typo', 'x')

  expect(wrong).toThrow(expect.objectContaining({ code: 'not_found' }))
  expectTypeOf(again).toEqualTypeOf<Runtime<{ order: typeof order }>>()
})

test('handles are types: of all that is exported only the error is a class', () => {
  const isClass = (value: unknown): boolean => typeof value === 'function' && /^class\b/.test(Function.prototype.toString.call(value))
  const classes = [chat, client, nats, statecast, testing].flatMap((entry) =>
    Object.entries(entry).flatMap(([name, value]) => (isClass(value) ? [name] : [])),
  )
  // @ts-expect-error: a session is what runtime.session() gives
  const wrong = (): unknown => new statecast.Session()

  expect(new Set(classes)).toEqual(new Set(['RuntimeError']))
  expect(wrong).toThrow(TypeError)
})

test('what waits for an answer can be told a run of its own making, as in a test', async () => {
  const answer = async ({ textStream }: Pick<Run, 'textStream'>): Promise<string> => {
    let told = ''
    for await (const text of textStream) told += text
    return told
  }
  const said = async function* () {
    yield* ['for', 'ty', '-two']
  }

  expect(await answer({ textStream: said() })).toBe('forty-two')
  expectTypeOf<Run['textStream']>().toEqualTypeOf<AsyncIterable<string>>()
  expectTypeOf<Run['text']>().returns.resolves.toEqualTypeOf<string>()
  expectTypeOf<keyof Run>().toEqualTypeOf<'id' | 'status' | 'runId' | 'seq' | 'endSeq' | 'events' | 'result' | 'text' | 'textStream' | 'cancel'>()
})

test('an option of an agent that is elsewhere does not compile', () => {
  const wrong = [
    // @ts-expect-error: it is limits: { steps }
    () => statecast.agent({ name: 'main', stepMax: 5 }),
    // @ts-expect-error: it is limits: { modelCall: { idleTimeoutMs } }
    () => statecast.agent({ name: 'main', limits: { idleTimeoutMs: 5 } }),
    // @ts-expect-error: chat() is told so
    () => statecast.agent({ name: 'main', delivery: { streaming: true } }),
    // @ts-expect-error: agent() is told so
    () => chat.chat({ agents: { main: { choice: { allowed: ['a/b'] } } } }),
  ]

  for (const make of wrong) expect(make).toThrow(expect.objectContaining({ code: 'bad_request', hint: expect.any(String) }))
})
