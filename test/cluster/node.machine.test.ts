import { expect, test } from 'vitest'
import { fromTransition } from 'xstate'
import { nodeMachine } from '../../src/cluster/node.machine.ts'
import { emptyLease, type Lease, type Members, type NodeRecord, partitionCount, roles } from '../../src/contracts/placement.ts'
import { type Walk, walker } from '../machines/walk.ts'

/** Remembers what its node told it last. */
const listener = fromTransition((_, event: { type: string }) => event, { type: 'none' })
const node = walker(nodeMachine, ['join', 'leave', 'finishWork'], () => ({ partition: listener, renew: listener }))

const record = (id: string, change: Partial<NodeRecord> = {}): NodeRecord => ({
  id,
  roles: [...roles],
  host: 'h',
  pid: 1,
  version: '1',
  since: 0,
  draining: false,
  ...change,
})
const members = (nodes: NodeRecord[], lease: Partial<Lease> = {}): Members => ({
  nodes,
  leases: Array.from({ length: partitionCount }, () => ({ ...emptyLease, ...lease })),
})
const told = (walk: Walk): { holder: string | null; wanted: string | null }[] =>
  Array.from({ length: partitionCount }, (_, partition) => walk.child(`partition-${partition}`).getSnapshot().context)
const join = async (given = members([record('a')])) => node.start({ me: 'a', members: given }).resolve('join', undefined)

test('a node that is alone is to have all partitions', async () => {
  const walk = await join()

  expect(walk.state).toEqual({ member: 'serving' })
  expect(told(walk).every(({ wanted, holder }) => wanted === 'a' && holder === null)).toBe(true)
})

test('one that comes later shares them: who is gone, draining or no host of sessions gets none', async () => {
  const walk = await join()
  const others = [record('b'), record('c', { draining: true }), record('d', { roles: ['gateway'] })]
  walk.send({ type: 'members', members: members([record('a'), ...others], { holder: 'gone', previous: 'b' }) })

  expect(new Set(told(walk).map(({ wanted }) => wanted))).toEqual(new Set(['a', 'b']))
  expect(told(walk).every(({ holder }) => holder === null)).toBe(true)
})

test('a node that drains wants none, and leaves when it has none', async () => {
  const walk = await join(members([record('a'), record('b')], { holder: 'a' }))
  walk.send({ type: 'drain' })

  expect(walk.state).toEqual({ member: { draining: 'working' } })
  expect(told(walk).every(({ wanted }) => wanted === 'b')).toBe(true)
  await walk.resolve('finishWork', undefined)
  expect(walk.child('renew').getSnapshot().context).toEqual({ type: 'drain' })
  walk.send({ type: 'members', members: members([record('a'), record('b')], { holder: 'b', previous: 'a' }) })
  expect(walk.state).toEqual({ member: { draining: 'handing' } })

  walk.send({ type: 'members', members: members([record('a'), record('b')], { holder: 'b' }) })
  expect(walk.state).toBe('leaving')
  await walk.resolve('leave', undefined)
  expect(walk.state).toBe('left')
})

test('what it does for others is done before it leaves, also where it has no lease', async () => {
  const walk = await join(members([record('a'), record('b')], { holder: 'b' }))
  walk.send({ type: 'drain' })
  expect(walk.state).toEqual({ member: { draining: 'working' } })

  await walk.reject('finishWork', new Error('broken'))
  expect(walk.state).toBe('leaving')
})

test('the last one that drains gives its partitions to nobody', async () => {
  const walk = await join(members([record('a')], { holder: 'a' }))

  expect(told(walk.send({ type: 'drain' })).every(({ wanted }) => wanted === null)).toBe(true)
})

test('a registry that does not answer is asked again; who drains meanwhile just leaves', async () => {
  const walk = await node.start({ me: 'a', members: members([]) }).reject('join', new Error('no answer'))
  expect(walk.state).toBe('waiting')
  walk.send({ type: 'members', members: members([record('b')]) })
  expect(walk.pass(1000).state).toBe('joining')
  expect(walk.send({ type: 'drain' }).state).toBe('leaving')
  await walk.reject('leave', new Error('no answer'))
  expect(walk.state).toBe('left')

  const waiting = await node.start({ me: 'a', members: members([]) }).reject('join', new Error('no answer'))
  expect(waiting.send({ type: 'drain' }).state).toBe('leaving')
})

test('every transition of the chart has been taken', () => {
  expect(node.missed()).toEqual([])
})
