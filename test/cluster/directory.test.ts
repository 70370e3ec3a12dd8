/** Actors that another node has, asked for over a bus that loses answers. */
import { expect, test } from 'vitest'
import { assign, setup } from 'xstate'
import { RuntimeError } from '../../src/contracts/errors.ts'
import { createRuntime } from '../../src/index.ts'
import { systemEnvironment } from '../../src/runtime/system-environment.ts'
import { createMemoryStore, openMemory } from '../../src/transport/memory/open.ts'
import { afterThisTest } from '../support/cleanup.ts'

const counter = setup({ types: { context: {} as { count: number }, events: {} as { type: 'add' } } }).createMachine({
  context: { count: 0 },
  on: { add: { actions: assign({ count: ({ context }) => context.count + 1 }) } },
})

/** A node that has the actors, and one without, whose bus gets the answer to its first `send` and loses it. */
const aCluster = async () => {
  const store = createMemoryStore()
  const open = () => openMemory({ environment: systemEnvironment(), store, shared: true })
  const machines = { counter }
  const there = await createRuntime({ transport: await open(), machines, roles: ['session'] })
  afterThisTest(() => there.close())
  const transport = await open()
  let lost = 0
  const request: typeof transport.bus.request = async (subject, ...rest) => {
    const answer = await transport.bus.request(subject, ...rest)
    if (!subject.endsWith('.send') || lost++ > 0) return answer
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
