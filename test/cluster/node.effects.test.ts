/** The charts of nodes with their real registry and effects: who wakes what, and who takes what, when somebody dies. */
import { afterEach, expect, test, vi } from 'vitest'
import { Membership, nodeTtlMs } from '../../src/cluster/membership.ts'
import { type RunningNode, runNode } from '../../src/cluster/node.effects.ts'
import { type NodeRecord, partitionCount, partitionOf, rendezvous, roles } from '../../src/contracts/placement.ts'
import type { Address } from '../../src/contracts/subjects.ts'
import { openMemory } from '../../src/transport/memory/open.ts'
import { aManualClock, anEnvironment } from '../transport/harness.ts'

const record = (id: string): NodeRecord => ({ id, roles: [...roles], host: 'h', pid: 1, version: '1', since: 0, draining: false })
/** One that the newer of two nodes is to have. */
const address: Address = Array.from({ length: 100 }, (_, n) => ({ kind: 'session', id: `s${n}` })).find(
  (one) => rendezvous(partitionOf(one), ['old', 'new']) === 'new',
)!
const partition = partitionOf(address)

const running: RunningNode[] = []
afterEach(async () => {
  await Promise.all(running.splice(0).map((node) => node.stop()))
})

const open = async () => {
  const clock = aManualClock()
  const environment = { ...anEnvironment(), clock }
  const { registry, close } = await openMemory({ environment })
  const member = () => new Membership(registry, environment).open()
  /** @param busy its actors are never done with their work */
  const node = async (id: string, { busy = false } = {}) => {
    const membership = await member()
    const woken: string[] = []
    const host = {
      vacate: () => (busy ? new Promise<void>(() => undefined) : Promise.resolve()),
      drop: () => undefined,
      wakeNow: (mine: (address: Address) => boolean) => void (mine(address) && woken.push(id)),
    }
    const consume = () => async () => undefined
    running.push(runNode({ membership, record: record(id), host, environment, consume, finishWork: async () => undefined }))
    await vi.waitFor(() => expect(membership.isAlive(id)).toBe(true))
    return { membership, woken }
  }
  return { clock, member, node, close, lines: environment.lines }
}

test('who got a partition while actors of it were at work elsewhere wakes them as soon as that node is dead', async () => {
  const { clock, member, node } = await open()
  const dying = await member()
  await dying.announce(record('old'), 0)
  await dying.write(partition, () => ({ holder: 'new', previous: 'old' }))
  const { membership, woken } = await node('new')
  await vi.waitFor(() => expect(woken).toHaveLength(1))

  await vi.waitFor(() => {
    clock.advance(nodeTtlMs / 3)
    expect(membership.isAlive('old')).toBe(false)
  })

  await vi.waitFor(() => expect(woken).toHaveLength(2))
})

test('a node whose actors end their work in a partition that it gave away takes it back at once when the next one dies', async () => {
  const { clock, member, node } = await open()
  const { membership } = await node('old', { busy: true })
  await vi.waitFor(() => expect(membership.lease(partition).holder).toBe('old'))
  const next = await member()
  await next.announce(record('next'), 0)
  const given = await vi.waitFor(() => {
    const found = Array.from({ length: partitionCount }, (_, one) => one).filter((one) => membership.lease(one).previous === 'old')
    expect(found.length).toBeGreaterThan(0)
    return found
  })

  await vi.waitFor(() => {
    clock.advance(nodeTtlMs / 3)
    expect(membership.isAlive('next')).toBe(false)
  })

  await vi.waitFor(() => expect(given.map((one) => membership.lease(one))).toEqual(given.map(() => ({ holder: 'old', previous: null }))))
})

test('a node whose transport was closed says so once', async () => {
  const { clock, node, close, lines } = await open()
  await node('old')
  await close()

  for (let beat = 0; beat < 10; beat++) {
    clock.advance(nodeTtlMs)
    await new Promise((resolve) => void setImmediate(resolve))
  }

  expect(lines.filter(({ message }) => message === 'this node could not say that it is here')).toHaveLength(1)
})
