/** How far journals have come, for those who look at them: who is listened to, and for how long. */
import { expect, test, vi } from 'vitest'
import { createRuntime } from '../../src/index.ts'
import { Growth } from '../../src/runtime/growth.ts'
import { partsOf } from '../../src/runtime/index.ts'
import { systemEnvironment } from '../../src/runtime/system-environment.ts'
import { createMemoryStore, openMemory } from '../../src/transport/memory/open.ts'
import { afterThisTest } from '../support/cleanup.ts'
import { anEnvironment } from '../transport/harness.ts'
import { machines } from './inspection/orders.ts'

const address = { kind: 'session', id: 's' }

/** The feeds of other nodes that are open, with what tells through each. */
const aGrowth = () => {
  const feeds: ((seq: number) => void)[] = []
  const { log, lines } = anEnvironment()
  const growth = new Growth(log, (_, hear) => {
    feeds.push(hear)
    return () => void feeds.splice(feeds.indexOf(hear), 1)
  })
  return { growth, feeds, lines }
}

test('what other nodes write is listened to once, from the first reader to the last', () => {
  const { growth, feeds } = aGrowth()
  const heard: string[] = []
  const first = growth.watch(address, (seq) => heard.push(`first ${seq}`))
  const second = growth.watch(address, (seq) => heard.push(`second ${seq}`))
  expect(feeds).toHaveLength(1)
  feeds[0]?.(1)

  first()
  first()
  expect(feeds).toHaveLength(1)
  feeds[0]?.(2)
  second()

  expect(feeds).toEqual([])
  expect(growth.watched.size).toBe(0)
  expect(heard).toEqual(['first 1', 'second 1', 'second 2'])
})

test('a reader that comes after the last one has left hears each commit once', () => {
  const { growth, feeds } = aGrowth()
  growth.watch(address, () => undefined)()
  const heard: number[] = []
  const stop = growth.watch(address, (seq) => heard.push(seq))

  for (const hear of feeds) hear(3)
  stop()

  expect(heard).toEqual([3])
  expect(feeds).toEqual([])
})

test('a reader that throws keeps no other one from hearing', () => {
  const { growth, lines } = aGrowth()
  const heard: number[] = []
  growth.watch(address, () => {
    throw new Error('no paper')
  })
  growth.watch(address, (seq) => heard.push(seq))

  growth.grew('session/s', 1)

  expect(heard).toEqual([1])
  expect(lines).toMatchObject([{ level: 'error' }])
})

test('a node subscribes to a journal of another node while it is looked at, and no longer', async () => {
  const store = createMemoryStore()
  const open = () => openMemory({ environment: systemEnvironment(), store, shared: true })
  const there = await createRuntime({ transport: await open(), machines, roles: ['session'] })
  afterThisTest(() => there.close())
  const transport = await open()
  const subscribed: string[] = []
  const subscribe: typeof transport.bus.subscribe = (pattern, ...rest) => {
    const stop = transport.bus.subscribe(pattern, ...rest)
    subscribed.push(pattern)
    return () => {
      if (subscribed.includes(pattern)) subscribed.splice(subscribed.indexOf(pattern), 1)
      stop()
    }
  }
  const here = await createRuntime({ transport: { ...transport, bus: { ...transport.bus, subscribe } }, machines, roles: ['gateway'] })
  afterThisTest(() => here.close())
  const before = subscribed.toSorted()
  const heard: number[] = []

  const stop = partsOf(here).outputs.growth.watch({ kind: 'order', id: 'o' }, (seq) => heard.push(seq))
  await there.actor('order', 'o', { payment: 'p' }).send({ type: 'note', text: 'hello' })
  await vi.waitFor(() => expect(heard).toContain(1))
  expect(subscribed.length).toBeGreaterThan(before.length)
  stop()

  expect(subscribed.toSorted()).toEqual(before)
})
