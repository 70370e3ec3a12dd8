import { expect, test } from 'vitest'
import type { Transport } from '../../src/contracts/transport.ts'
import { createMemoryStore, type MemoryStore, openMemory } from '../../src/transport/memory/open.ts'
import { anEnvironment, aSession, aSignal, awake, bytesOf, textOf } from './harness.ts'
import { cutMemory } from './shorten.ts'
import { describeTransport } from './transport.contract.ts'

const stores = new WeakMap<Transport, MemoryStore>()
const openOn = async (store: MemoryStore, options: Omit<Parameters<typeof openMemory>[0], 'store'>): Promise<Transport> => {
  const transport = await openMemory({ ...options, store })
  stores.set(transport, store)
  return transport
}

describeTransport({
  name: 'memory',
  open: (options) => openOn(createMemoryStore(), options),
  reopen: async (transport, options) => {
    await transport.close()
    return openOn(stores.get(transport)!, options)
  },
  beside: (transport, options) => openOn(stores.get(transport)!, { ...options, steal: true }),
  shorten: async (transport, address, to) => cutMemory(stores.get(transport)!, address, to),
})

test('a store that is in use is refused to a second transport until the first is closed', async () => {
  const store = createMemoryStore()
  const environment = anEnvironment()
  const first = await openMemory({ environment, store })

  await expect(openMemory({ environment, store })).rejects.toMatchObject({ code: 'locked' })
  await first.close()

  await (await openMemory({ environment, store })).close()
})

test('a host whose store was stolen lives on as a zombie: it can write until the journal fences it', async () => {
  const store = createMemoryStore()
  const environment = anEnvironment()
  const zombie = await openMemory({ environment, store })
  const heir = await openMemory({ environment, store, steal: true })

  await heir.journal.append(aSession(), 0, bytesOf('claim'), awake)

  expect(await zombie.journal.append(aSession(), 0, bytesOf('late'), awake)).toEqual({ outcome: 'fenced', last: 1 })
  await Promise.all([zombie.close(), heir.close()])
})

test('what a dead host had in flight comes to the next one, and the dead one can settle nothing', async () => {
  const store = createMemoryStore()
  const environment = anEnvironment()
  const first = await openMemory({ environment, store })
  const reached = aSignal()
  let ackOfTheDead: (() => Promise<void>) | undefined
  first.inbox.consume('in.>', async (delivery) => {
    ackOfTheDead = () => delivery.ack()
    reached.give()
    await new Promise(() => undefined)
  })
  await first.inbox.put('in.a', '1', bytesOf('work'))
  await reached.promise

  await store.crash()
  const second = await openMemory({ environment, store })
  const redelivered = new Promise<string>((resolve) => {
    second.inbox.consume('in.>', async (delivery) => {
      await delivery.ack()
      resolve(textOf(delivery.data))
    })
  })

  await expect(ackOfTheDead!()).rejects.toMatchObject({ code: 'closed' })
  expect(await redelivered).toBe('work')
  await expect(first.journal.head(aSession())).rejects.toMatchObject({ code: 'closed' })
  await second.close()
})

test('hosts that share a store share its bus and its registry, and each message of the inbox goes to one of them', async () => {
  const store = createMemoryStore()
  const environment = anEnvironment()
  const [left, right] = [await openMemory({ environment, store }), await openMemory({ environment, store, shared: true })]
  const heard: string[] = []
  right.bus.subscribe('news', ({ data }) => void heard.push(textOf(data)))
  right.registry.watch('', ({ key }) => void heard.push(key))
  const counts = { left: 0, right: 0 }
  left.inbox.consume('in.>', (delivery) => {
    counts.left += 1
    return delivery.ack()
  })
  right.inbox.consume('in.>', (delivery) => {
    counts.right += 1
    return delivery.ack()
  })

  left.bus.publish('news', bytesOf('hello'))
  await left.registry.put('lease', 'left')
  await Promise.all(Array.from({ length: 20 }, (_, index) => left.inbox.put(`in.${index}`, '1', bytesOf('x'))))

  await expect.poll(() => counts.left + counts.right).toBe(20)
  expect(heard).toEqual(['hello', 'lease'])
  expect(Math.min(counts.left, counts.right)).toBeGreaterThan(0)
  await Promise.all([left.close(), right.close()])
})
