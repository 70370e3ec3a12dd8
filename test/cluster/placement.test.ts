/**
 * Who has which partition, by the nodes' charts and the real registry alone: no journal is there whose fence would hide that two had it at once.
 */
import { afterEach, expect, test } from 'vitest'
import { Membership, nodeTtlMs } from '../../src/cluster/membership.ts'
import { type RunningNode, runNode } from '../../src/cluster/node.effects.ts'
import { type NodeRecord, partitionCount, rendezvous, roles } from '../../src/contracts/placement.ts'
import { virtualClock } from '../../src/testing/virtual-clock.ts'
import { openMemory } from '../../src/transport/memory/open.ts'
import { anEnvironment } from '../transport/harness.ts'

const partitions = Array.from({ length: partitionCount }, (_, partition) => partition)
const record = (id: string): NodeRecord => ({ id, roles: [...roles], host: 'h', pid: 1, version: '1', since: 0, draining: false })

const running: RunningNode[] = []
afterEach(async () => {
  await Promise.all(running.splice(0).map((node) => node.stop()))
})

const aCluster = async () => {
  const clock = virtualClock()
  const environment = { ...anEnvironment({ clock }), clock }
  const { registry } = await openMemory({ environment })
  const watcher = await new Membership(registry, environment).open()
  /** Each change of a lease, as it was written. */
  const leases: { partition: number; holder: string | null; previous: string | null; living: string[] }[] = []
  registry.watch('leases/', ({ key, value }) => {
    const living = watcher.members.nodes.map(({ id }) => id)
    leases.push({ partition: Number(key.slice('leases/'.length)), ...JSON.parse(value ?? '{}'), living })
  })
  /** To which no word of a lease comes. */
  const deaf = () =>
    new Membership(
      { ...registry, watch: (prefix, ...rest) => (prefix === 'leases/' ? () => undefined : registry.watch(prefix, ...rest)) },
      environment,
    ).open()
  /** One that is there and holds what it is given, whatever anybody would give it. @returns what ends it */
  const squatter = async (id: string) => {
    const membership = await new Membership(registry, environment).open()
    let revision = (await membership.announce({ ...record(id), roles: ['turn'] }, 0)) ?? 0
    let ended = false
    const renew = (): unknown => clock.setTimeout(() => void say(), 1_000)
    const say = async (): Promise<void> => {
      if (ended) return
      revision = (await membership.announce({ ...record(id), roles: ['turn'] }, revision)) ?? revision
      renew()
    }
    renew()
    return { membership, die: () => void (ended = true) }
  }
  /** @param busy its actors go on with their work until this resolves @param stops until then it takes in messages of partitions that it gave away */
  const node = async (id: string, busy: Promise<void> = Promise.resolve(), own?: Membership, stops: Promise<void> = Promise.resolve()) => {
    const membership = own ?? (await new Membership(registry, environment).open())
    const consumed = new Set<number>()
    /** Partitions whose messages it began to take in, in that order; and those of them that it had not stopped to take in. */
    const began: number[] = []
    const twice: number[] = []
    const started = runNode({
      membership,
      record: record(id),
      host: { vacate: () => busy, drop: () => undefined, wakeNow: () => undefined },
      environment,
      consume: (partition) => {
        began.push(partition)
        if (consumed.has(partition)) twice.push(partition)
        consumed.add(partition)
        return async () => {
          await stops
          consumed.delete(partition)
        }
      },
      finishWork: async () => undefined,
    })
    running.push(started)
    return { membership, consumed, began, twice, ...started }
  }
  const holders = () => partitions.map((partition) => watcher.lease(partition).holder)
  return { clock, watcher, leases, node, holders, deaf, squatter }
}
const shares = (ids: string[]) => partitions.map((partition) => rendezvous(partition, ids))

test('[INV-5] a lease whose holder lives is taken by nobody: it is given, and says who had it, until that one has nothing of it left', async () => {
  const { clock, watcher, leases, node, holders } = await aCluster()
  const work = Promise.withResolvers<void>()
  await node('a', work.promise)
  await clock.until(() => holders().every((holder) => holder === 'a'))
  leases.length = 0

  await node('b')
  await clock.until(() => holders().join() === shares(['a', 'b']).join())

  const moved = partitions.filter((partition) => shares(['a', 'b'])[partition] === 'b')
  expect(moved.length).toBeGreaterThan(0)
  // Each was written once, by its holder, who still has actors of it.
  expect(leases.map(({ partition, holder, previous }) => ({ partition, holder, previous }))).toEqual(
    expect.arrayContaining(moved.map((partition) => ({ partition, holder: 'b', previous: 'a' }))),
  )
  expect(leases).toHaveLength(moved.length)
  await clock.advance(10_000)
  for (const partition of moved) expect(watcher.lease(partition)).toEqual({ holder: 'b', previous: 'a' })

  work.resolve()
  await clock.until(() => moved.every((partition) => watcher.lease(partition).previous === null))
})

test('[INV-5, CH-76] no lease changes hands while its holder lives and keeps it, however long nothing else happens', async () => {
  const { clock, watcher, leases, node, holders } = await aCluster()
  await node('a')
  await node('b')
  await clock.until(() => holders().join() === shares(['a', 'b']).join())
  await clock.until(() => partitions.every((partition) => watcher.lease(partition).previous === null))
  leases.length = 0

  for (let minute = 0; minute < 5; minute++) {
    await clock.advance(60_000)
    expect(watcher.members.nodes.map(({ id }) => id).toSorted()).toEqual(['a', 'b'])
  }

  expect(leases).toEqual([])
})

test('[INV-5] a claim by a node that has not heard of it finds the lease with its living holder, and leaves it; of a dead one it takes it', async () => {
  const { clock, watcher, leases, node, holders, deaf, squatter } = await aCluster()
  const unknowing = await deaf()
  const { membership, die } = await squatter('z')
  for (const partition of partitions) await membership.write(partition, () => ({ holder: 'z', previous: null }))
  await clock.settle()
  expect(unknowing.lease(0).holder).toBe(null)
  leases.length = 0

  await node('a', Promise.resolve(), unknowing)
  await clock.advance(20_000)
  expect(leases).toEqual([])
  expect(holders()).toEqual(partitions.map(() => 'z'))

  die()
  await clock.until(() => partitions.every((partition) => watcher.lease(partition).holder === 'a'), 60_000)
  expect(leases.every(({ living }) => !living.includes('z'))).toBe(true)
})

test('[INV-5] who claims a lease that a dead node held keeps the name of a living one that still has actors of it', async () => {
  const { clock, watcher, node, holders, squatter } = await aCluster()
  const { membership, die } = await squatter('z')
  for (const partition of partitions) await membership.write(partition, () => ({ holder: 'dead', previous: 'z' }))

  await node('a')
  await clock.until(() => holders().every((holder) => holder === 'a'))
  expect(partitions.map((partition) => watcher.lease(partition).previous)).toEqual(partitions.map(() => 'z'))

  die()
  await clock.until(() => !watcher.isAlive('z'))
})

test('[INV-5] a node gives no partition away that another one has by now, and takes no name out of a lease but its own', async () => {
  const { clock, watcher, node, holders, deaf, squatter } = await aCluster()
  const work = Promise.withResolvers<void>()
  const { membership } = await squatter('z')
  await node('a', work.promise, await deaf())
  await clock.until(() => holders().every((holder) => holder === 'a'))
  const wanted = partitions.filter((partition) => rendezvous(partition, ['a', 'b']) === 'b')
  const [taken = 0, handed = 0] = wanted
  // Word of that does not come to the first node.
  await membership.write(taken, () => ({ holder: 'z', previous: null }))

  await node('b')
  await clock.until(() => wanted.slice(1).every((partition) => watcher.lease(partition).holder === 'b'))
  await clock.settle()
  expect(watcher.lease(taken)).toEqual({ holder: 'z', previous: null })
  expect(watcher.lease(handed)).toEqual({ holder: 'b', previous: 'a' })

  await membership.write(handed, () => ({ holder: 'b', previous: 'z' }))
  work.resolve()
  await clock.until(() => wanted.slice(2).every((partition) => watcher.lease(partition).previous === null))
  await clock.settle()
  expect(watcher.lease(handed)).toEqual({ holder: 'b', previous: 'z' })
})

test('a partition that comes back is served once its messages are let go of, and not where it has gone again by then', async () => {
  const { clock, node, holders } = await aCluster()
  const stops = Promise.withResolvers<void>()
  const a = await node('a', undefined, undefined, stops.promise)
  await clock.until(() => a.consumed.size === partitionCount)
  const b = await node('b')
  await clock.until(() => holders().join() === shares(['a', 'b']).join())
  await clock.until(b.drain(60_000))
  await clock.until(() => holders().every((holder) => holder === 'a'))
  await node('c')
  await clock.until(() => holders().join() === shares(['a', 'c']).join())
  await clock.settle()
  const before = a.began.length

  stops.resolve()
  await clock.settle()
  expect(before).toBe(partitionCount)

  const again = a.began.slice(partitionCount).toSorted((one, other) => one - other)
  const back = partitions.filter((partition) => shares(['a', 'b'])[partition] === 'b' && shares(['a', 'c'])[partition] === 'a')
  expect([a.twice, again]).toEqual([[], back])
  expect(back.length).toBeGreaterThan(0)
})

test('a node that gets no word of a change looks at everything within half a minute', async () => {
  const { clock, watcher, node, holders, deaf, squatter } = await aCluster()
  const { membership } = await squatter('z')
  await node('a', Promise.resolve(), await deaf())
  await clock.until(() => holders().every((holder) => holder === 'a'))
  await membership.write(3, () => ({ holder: null, previous: null }))

  await clock.until(() => watcher.lease(3).holder === 'a', 40_000)
})

test('a node whose record has expired is there again with its next renewal', async () => {
  const { clock, watcher, node, squatter } = await aCluster()
  const { membership } = await squatter('z')
  await node('a')
  await clock.until(() => watcher.isAlive('a'))

  await membership.withdraw('a')
  await clock.until(() => !watcher.isAlive('a'))

  await clock.until(() => watcher.isAlive('a'), 1_050)
})

test('[INV-5] a node renews its own word, and is sure of its place as long as it does', async () => {
  const { clock, node } = await aCluster()
  const { membership } = await node('a')
  await clock.until(() => membership.sure)

  for (let second = 0; second < 60; second++) {
    await clock.advance(1_000)
    expect(membership.sure).toBe(true)
  }

  await running.pop()!.stop()
  await clock.advance(nodeTtlMs)
  expect(membership.sure).toBe(false)
})

test('a node that drains says so at once, gets nothing more, gives away what it has, and leaves when it has nothing left', async () => {
  const { clock, watcher, leases, node, holders } = await aCluster()
  const work = Promise.withResolvers<void>()
  const leaving = await node('a', work.promise)
  await node('b')
  await clock.until(() => holders().join() === shares(['a', 'b']).join())
  await clock.settle()
  leases.length = 0

  const drained = leaving.drain(60_000)
  await clock.settle()
  // Before anything else has happened, and before its next renewal is due.
  expect(watcher.members.nodes.find(({ id }) => id === 'a')).toMatchObject({ draining: true })
  await clock.until(() => holders().every((holder) => holder === 'b'))
  await node('c')
  await clock.until(() => holders().includes('c'))
  expect(leases.filter(({ holder }) => holder === 'a')).toEqual([])
  expect(watcher.isAlive('a')).toBe(true)

  work.resolve()
  await clock.until(drained)
  await clock.until(() => !watcher.isAlive('a'))
})
