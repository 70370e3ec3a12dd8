/** A tree on two nodes, heard by who has nothing but a connection to the server. */
import { connect } from '@nats-io/transport-node'
import { afterAll, expect, test, vi } from 'vitest'
import type { InspectionMessage } from '../../../src/contracts/inspection-protocol.ts'
import { createRuntime, type Runtime } from '../../../src/index.ts'
import { partsOf } from '../../../src/runtime/index.ts'
import { natsForAll } from '../../support/nats.ts'
import { line, machines } from './orders.ts'

const server = natsForAll()
const running: Runtime[] = []
afterAll(() => Promise.all(running.map((runtime) => runtime.close())))

const aNode = async (): Promise<Runtime> => {
  const runtime = await createRuntime({ transport: server.url, machines })
  running.push(runtime)
  return runtime
}
const idOn = (runtime: Runtime, kind: string): string =>
  Array.from({ length: 200 }, (_, n) => `${kind}-${n}`).find((id) => partsOf(runtime).host.mayHave({ kind, id })) ?? ''

test('who listens to the root hears the whole tree in order, though a part of it lives on another node; where nobody listens, nothing is folded', async () => {
  const [here, there] = [await aNode(), await aNode()]
  await vi.waitFor(() => expect([...here.nodes(), ...there.nodes()].map(({ partitions }) => partitions > 16)).toEqual([true, true, true, true]))
  const [id, child] = [idOn(here, 'order'), idOn(there, 'payment')]
  const { bus, journal } = partsOf(here).transport
  const [reads, asked] = [vi.spyOn(journal, 'read'), vi.spyOn(bus, 'reaches')]
  const order = here.actor('order', id, { payment: child })
  await order.send({ type: 'note', text: 'unheard' })
  await vi.waitFor(() => expect(asked).toHaveBeenCalled())
  expect(await asked.mock.results[0]?.value).toBe(false)
  await order.send({ type: 'note', text: 'unheard too' })
  await vi.waitFor(() => expect(asked).toHaveBeenCalledTimes(2))
  expect(await asked.mock.results[1]?.value).toBe(false)
  // Nobody has folded anything.
  expect(reads.mock.calls.filter(([address, from]) => address.id === id && from === 1 && address.kind === 'order').length).toBeLessThanOrEqual(1)
  const nc = await connect({ servers: server.url })
  const messages: InspectionMessage[] = []
  const heard = (what: string) => vi.waitFor(() => expect(messages.map(line)).toContain(what), { timeout: 5_000 })
  nc.subscribe(`statecast.inspect.order.${id}`, {
    callback: (_, { data }) => {
      const message = JSON.parse(new TextDecoder().decode(data)) as InspectionMessage
      if ((message as { type: string }).type !== 'statecast.newest') messages.push(message)
    },
  })
  await nc.flush()
  await order.send({ type: 'begin' })
  await heard(`payment/${child} is active "open" after xstate.init; next coin, coin`)
  for (const value of [2, 3]) {
    await order.send({ type: 'coin', value })
    await heard(`payment/${child} commit ${value}`)
  }
  await heard(`order/${id} is active "done" after xstate.done.actor.payment; next note, more`)
  await nc.close()

  const lines = messages.map(line).map((one) => one.replaceAll(`order/${id}`, 'ORDER').replaceAll(`payment/${child}`, 'PAYMENT'))
  expect(lines.filter((one) => one.includes(' commit '))).toEqual([
    'ORDER commit 3',
    'PAYMENT commit 1',
    'ORDER commit 4',
    'PAYMENT commit 2',
    'ORDER commit 5',
    'PAYMENT commit 3',
    'ORDER commit 6',
  ])
  expect(lines.slice(0, 2)).toEqual(['ORDER began below nobody as "waiting"', 'ORDER commit 3'])
  expect(lines).toContain('PAYMENT began below ORDER/payment#1 as "open"')
  expect(lines).toContain('PAYMENT asked isEnough yes, - unasked; took payment.open coin[0]')
  expect(new Set(messages.map(({ rootId }) => rootId))).toEqual(new Set([`order/${id}`]))
  const writers = messages.flatMap((one) => (one.type === '@statecast.commit' ? [one.writer] : []))
  expect(new Set(writers).size).toBe(2)
})
