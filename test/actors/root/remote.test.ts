/** A machine whose child is an actor with a journal of its own. */

import { expect, test, vi } from 'vitest'
import { assign, forwardTo, setup } from 'xstate'
import { createRuntime, type Runtime, RuntimeError, remote } from '../../../src/index.ts'
import { partsOf } from '../../../src/runtime/index.ts'
import { systemEnvironment } from '../../../src/runtime/system-environment.ts'
import { createMemoryStore, openMemory } from '../../../src/transport/memory/open.ts'

const payment = setup({
  types: {
    input: {} as { due: number },
    context: {} as { due: number; paid: number },
    events: {} as { type: 'coin'; value: number },
    output: {} as { paid: number },
  },
  actions: { take: assign({ paid: ({ context, event }) => context.paid + event.value }) },
  guards: { enough: ({ context, event }) => context.paid + event.value >= context.due },
}).createMachine({
  id: 'payment',
  context: ({ input }) => ({ ...input, paid: 0 }),
  initial: 'open',
  states: {
    open: { on: { coin: [{ guard: 'enough', target: 'paid', actions: 'take' }, { actions: 'take' }] } },
    paid: { type: 'final' },
  },
  output: ({ context }) => ({ paid: context.paid }),
})

const order = setup({
  types: { context: {} as { paid: number; failure: string }, events: {} as { type: 'coin'; value: number } },
  actors: { payment: remote<{ paid: number }>('payment') },
  actions: {
    keep: assign({ paid: (_, { paid }: { paid: number }) => paid }),
    explain: assign({ failure: (_, { error }: { error: unknown }) => String((error as Error).message) }),
    pass: forwardTo('payment'),
  },
}).createMachine({
  id: 'order',
  context: { paid: 0, failure: '' },
  initial: 'paying',
  on: { coin: { actions: 'pass' } },
  states: {
    paying: {
      invoke: {
        id: 'payment',
        src: 'payment',
        input: { id: 'p-1', input: { due: 5 } },
        onDone: { target: 'paid', actions: { type: 'keep', params: ({ event }) => event.output } },
        onError: { target: 'failed', actions: { type: 'explain', params: ({ event }) => ({ error: event.error }) } },
      },
    },
    paid: {},
    failed: {},
  },
})

const open = async (store = createMemoryStore(), machines: Record<string, typeof payment | typeof order> = { payment, order }): Promise<Runtime> =>
  createRuntime({ transport: await openMemory({ environment: systemEnvironment(), store, steal: true }), machines })

const coin = (value: number) => ({ type: 'coin' as const, value })
const paidBy = async (runtime: Runtime) => (await runtime.actor('payment', 'p-1').snapshot()).context as { paid: number }

test('a child of another kind is created, gets what it is sent, and its output is that of the child', async () => {
  await using runtime = await open()
  const parent = runtime.actor('order', 'o-1')

  await parent.send(coin(2))
  await vi.waitFor(async () => expect(await paidBy(runtime)).toMatchObject({ due: 5, paid: 2 }))
  // Somebody else may talk to it as well.
  await runtime.actor('payment', 'p-1').send(coin(1))
  await parent.send(coin(2))

  await vi.waitFor(async () => expect(await parent.snapshot()).toMatchObject({ value: 'paid', context: { paid: 5 } }))
  expect(await runtime.replay({ kind: 'order', id: 'o-1' })).toMatchObject({ verdict: 'identical' })
  expect(await runtime.replay({ kind: 'payment', id: 'p-1' })).toMatchObject({ verdict: 'identical' })
})

test('killed in between, it attaches again: nothing that was passed on counts twice', async () => {
  const store = createMemoryStore()
  const first = await open(store)
  await first.actor('order', 'o-1').send(coin(2))
  await vi.waitFor(async () => expect(await paidBy(first)).toMatchObject({ paid: 2 }))
  partsOf(first).host.abandon()

  await using second = await open(store)
  await second.actor('order', 'o-1').send(coin(1))
  await vi.waitFor(async () => expect(await paidBy(second)).toMatchObject({ paid: 3 }))
  await second.actor('order', 'o-1').send(coin(2))

  await vi.waitFor(async () => expect(await second.actor('order', 'o-1').snapshot()).toMatchObject({ value: 'paid', context: { paid: 5 } }))
  await first.close()
})

test('a kind that nobody registered fails the child, with the reason', async () => {
  await using runtime = await open(createMemoryStore(), { order })

  await runtime.actor('order', 'o-1').send(coin(1))

  await vi.waitFor(async () =>
    expect(await runtime.actor('order', 'o-1').snapshot()).toMatchObject({
      value: 'failed',
      context: { failure: expect.stringContaining("no machine is registered as 'payment'") },
    }),
  )
})

test('an actor that is created begins with nothing said to it, once', async () => {
  await using runtime = await open()
  const { host } = partsOf(runtime)
  const address = { kind: 'payment', id: 'p-9' }

  await Promise.all([host.create(address, { due: 1 }), host.create(address, { due: 2 })])
  await host.create(address, { due: 3 })

  expect(await runtime.actor('payment', 'p-9').snapshot()).toMatchObject({ value: 'open', context: { due: 1 }, seq: 1 })
  await runtime.actor('payment', 'p-9').send(coin(1))
  expect(await runtime.actor('payment', 'p-9').output()).toEqual({ paid: 1 })
})

test('a store that is away for a moment is asked again: the child is created, told and looked at when it is back', async () => {
  const transport = await openMemory({ environment: systemEnvironment(), store: createMemoryStore(), steal: true })
  await using runtime = await createRuntime({ transport, machines: { payment, order } })
  const { directory } = partsOf(runtime)
  const away = { create: 2, send: 2, read: 2, nextCommit: 2 }
  for (const name of Object.keys(away) as (keyof typeof away)[]) {
    const ask = directory[name].bind(directory) as (...given: unknown[]) => Promise<unknown>
    const refusing = (address: { kind: string }, ...given: unknown[]) =>
      address.kind === 'payment' && away[name]-- > 0
        ? Promise.reject(new RuntimeError('log_unavailable', 'away', { retryable: true }))
        : ask(address, ...given)
    Object.assign(directory, { [name]: refusing })
  }
  await runtime.actor('order', 'o-1').send(coin(5))

  await vi.waitFor(async () => expect(await runtime.actor('order', 'o-1').snapshot()).toMatchObject({ value: 'paid', context: { paid: 5 } }))
  expect(Object.values(away).every((left) => left < 0)).toBe(true)
})
