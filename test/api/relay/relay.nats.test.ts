/** A tree on two nodes, shown by a gateway on one of them to the published receiver of the Stately inspector. */
import { afterAll, expect, test, vi } from 'vitest'
import type { Gateway } from '../../../src/api/http/serve.ts'
import { createRuntime, type Runtime } from '../../../src/index.ts'
import { partsOf } from '../../../src/runtime/index.ts'
import { machines } from '../../runtime/inspection/orders.ts'
import { natsForAll } from '../../support/nats.ts'
import { gatewayOn } from '../gateway-on.ts'
import { aReceiver, line } from './a-receiver.ts'

const server = natsForAll()
const running: (Runtime | Gateway)[] = []
afterAll(async () => {
  for (const one of running.reverse()) await one.close()
})

const aNode = async (): Promise<Runtime> => {
  const runtime = await createRuntime({ transport: server.url, machines })
  running.push(runtime)
  return runtime
}
const idOn = (runtime: Runtime, kind: string): string =>
  Array.from({ length: 200 }, (_, n) => `${kind}-${n}`).find((id) => partsOf(runtime).host.mayHave({ kind, id })) ?? ''

test('the receiver is told actors, events and snapshots of both nodes in their order, as one tree', async () => {
  const [here, there] = [await aNode(), await aNode()]
  await vi.waitFor(() => expect([...here.nodes(), ...there.nodes()].map(({ partitions }) => partitions > 16)).toEqual([true, true, true, true]))
  const gateway = await gatewayOn(here)
  running.push(gateway)
  const [id, child] = [idOn(there, 'order'), idOn(here, 'payment')]
  const order = here.actor('order', id, { payment: child })
  await order.send({ type: 'note', text: 'hello' })
  const { path } = await here.command<{ path: string }>('trace.relay', { kind: 'order', id })
  const { told, until } = aReceiver(gateway.url, path)
  await until(({ type }) => type === '@xstate.actor')

  await order.send({ type: 'begin' })
  await until(({ sessionId, type }) => sessionId === `payment/${child}` && type === '@xstate.snapshot')
  await order.send({ type: 'coin', value: 5 })
  await until((one) => line(one) === `snapshot order/${id}: "done"`)

  const lines = told.map(line).map((one) => one.replaceAll(`order/${id}`, 'ORDER').replaceAll(`payment/${child}`, 'PAYMENT'))
  const expected = [
    'actor ORDER below nobody: "waiting"',
    'event begin from outside for ORDER',
    'actor ORDER/payment#1 below ORDER: "active"',
    'snapshot ORDER/payment#1: "active"',
    'snapshot ORDER: "paying"',
    'actor PAYMENT below ORDER/payment#1: "open"',
    'snapshot PAYMENT: "open"',
    'event coin from outside for ORDER',
    'event coin from ORDER for ORDER/payment#1',
    'snapshot ORDER/payment#1: "active"',
    'snapshot ORDER: "paying"',
    'event coin from outside for PAYMENT',
    'snapshot PAYMENT: "paid"',
    'event xstate.promise.resolve from ORDER/payment#1 for ORDER/payment#1',
    'event xstate.done.actor.payment from ORDER/payment#1 for ORDER',
    'snapshot ORDER: "done"',
  ]
  expect(lines.slice(0, expected.length)).toEqual(expected)
  expect(new Set(told.map(({ rootId }) => rootId))).toEqual(new Set([`order/${id}`]))
  expect(new Set(partsOf(here).host.kinds)).toContain('payment')
  expect([partsOf(here).host.mayHave({ kind: 'order', id }), partsOf(there).host.mayHave({ kind: 'payment', id: child })]).toEqual([false, false])
})
