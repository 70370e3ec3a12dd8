/** Before an actor is taken into memory, whoever had it before is asked: without a journal, whose fence would hide it where nobody is. */
import { afterEach, expect, test } from 'vitest'
import { decode, encode } from '../../src/actors/journal/codec.ts'
import { openCluster } from '../../src/cluster/cluster.ts'
import { Membership } from '../../src/cluster/membership.ts'
import { partitionCount, roles } from '../../src/contracts/placement.ts'
import { formatAddress, subjects } from '../../src/contracts/subjects.ts'
import { systemEnvironment } from '../../src/runtime/system-environment.ts'
import { virtualClock } from '../../src/testing/virtual-clock.ts'
import { createMemoryStore, openMemory } from '../../src/transport/memory/open.ts'

const address = { kind: 'session', id: 's' }
const names = subjects()
const closing: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close()
})

/** A node that has every lease, each of which names as the one before a node that lives and answers so. */
const after = async (answer: (question: { address: string }) => unknown) => {
  const clock = virtualClock()
  const environment = { ...systemEnvironment(), clock }
  const transport = await openMemory({ environment, store: createMemoryStore(), shared: true })
  const before = await new Membership(transport.registry, environment).open()
  const record = { id: 'before', roles: [...roles], host: 'h', pid: 1, version: '1', since: 0, draining: true }
  await before.announce(record, 0)
  const asked: string[] = []
  transport.bus.subscribe(names.node('before', '*'), ({ subject, data, reply }) => {
    asked.push(subject.slice(subject.lastIndexOf('.') + 1))
    if (reply) transport.bus.publish(reply, encode(answer(decode(data) as { address: string })))
  })
  const cluster = await openCluster({ transport, names, environment, roles, version: '1' })
  closing.push(async () => {
    await cluster.stop()
    await cluster.close()
    before.close()
    await transport.close()
  })
  for (let partition = 0; partition < partitionCount; partition++)
    await before.write(partition, () => ({ holder: cluster.me ?? null, previous: 'before' }))
  await clock.settle()
  return { asked, admit: () => clock.until(cluster.placement.admit(address)), cluster, before }
}

test('[INV-5] who had an actor before and still has it keeps it: it is not taken, and who has it is named', async () => {
  const { admit, asked } = await after((question) => question.address === formatAddress(address))

  await expect(admit()).rejects.toMatchObject({ code: 'fenced', retryable: true, data: { node: 'before' } })
  expect(asked).toEqual(['holds'])
})

test('who had it before and has nothing of it lets it be taken', async () => {
  const { admit, asked } = await after(() => false)

  await expect(admit()).resolves.toBeUndefined()
  expect(asked).toEqual(['holds'])
})

test('who has died since is not waited for', async () => {
  const { admit, before } = await after(() => true)
  await before.withdraw('before')

  await expect(admit()).resolves.toBeUndefined()
})
