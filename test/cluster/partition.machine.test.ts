import { expect, test } from 'vitest'
import { partitionMachine } from '../../src/cluster/partition.machine.ts'
import { walker } from '../machines/walk.ts'

const woken: number[] = []
const waking = partitionMachine.provide({ actions: { wakeActors: ({ context }) => void woken.push(context.partition) } })
const partition = walker(waking, ['claim', 'serve', 'handOver', 'settle', 'clear', 'drop'])
const open = () => partition.start({ partition: 7, me: 'a' })
const nobody = { type: 'look', holder: null, previous: null, wanted: null }
const mine = { type: 'look', holder: 'a', previous: null, wanted: 'a' }

test('nobody has it and it is for us: it is claimed, and served while it is ours', async () => {
  const walk = open().send(nobody)
  expect(walk.state).toBe('elsewhere')

  walk.send({ ...nobody, wanted: 'a' })
  expect(walk.state).toBe('claiming')
  await walk.resolve('claim', { holder: 'a', previous: null })

  expect(walk.state).toEqual({ held: 'alone' })
  expect(walk.inputs('serve')).toMatchObject([{ partition: 7 }])
})

test('another node was first: it stays elsewhere', async () => {
  const walk = open().send({ ...nobody, wanted: 'a' })
  await walk.resolve('claim', { holder: 'b', previous: null })

  expect(walk.state).toBe('elsewhere')
  expect(walk.inputs('claim')).toHaveLength(1)
})

test('it was handed to us by whoever had it', () => {
  expect(open().send({ ...mine, previous: 'b' }).state).toEqual({ held: 'beside' })
})

test.each([
  ['has let go of the last of its actors', { ...mine, previous: null }],
  // Of nodes that are gone a look names none.
  ['dies', { ...mine, previous: null, wanted: 'a' }],
])('whoever had it before %s: what it kept from being woken is woken at once', (_, look) => {
  const walk = open().send({ ...mine, previous: 'b' })
  woken.length = 0
  walk.send({ ...mine, previous: 'b' })
  expect(woken).toEqual([])

  walk.send(look)

  expect(walk.state).toEqual({ held: 'alone' })
  expect(woken).toEqual([7])
})

test('the node to which it went dies, and it is for us again: it is claimed while actors of it still end their work here', async () => {
  const walk = open()
    .send(mine)
    .send({ ...mine, wanted: 'b' })
  await walk.resolve('handOver', { holder: 'b', previous: 'a' })
  expect(walk.state).toBe('lingering')

  walk.send({ ...nobody, previous: 'a', wanted: 'a' })
  expect(walk.state).toBe('claiming')
  await walk.resolve('claim', { holder: 'a', previous: null })

  expect(walk.state).toEqual({ held: 'alone' })
})

test('it is for somebody else: the lease changes at once, its actors end their work here', async () => {
  const walk = open()
    .send(mine)
    .send({ ...mine, wanted: 'b' })
  expect(walk.state).toBe('handingOver')
  expect(walk.inputs('handOver')).toMatchObject([{ wanted: 'b' }])

  await walk.resolve('handOver', { holder: 'b', previous: 'a' })
  expect(walk.state).toBe('lingering')
  await walk.resolve('settle', undefined)
  expect(walk.state).toBe('clearing')
  await walk.resolve('clear', { holder: 'b', previous: null })

  expect(walk.state).toBe('elsewhere')
})

test('it comes back while its actors still end their work', async () => {
  const walk = open()
    .send(mine)
    .send({ ...mine, wanted: 'b' })
  await walk.resolve('handOver', { holder: 'b', previous: 'a' })

  expect(walk.send(mine).state).toEqual({ held: 'alone' })
})

test('another node took it while we were away: its actors are dropped', async () => {
  const walk = open()
    .send(mine)
    .send({ ...mine, holder: 'b' })
  expect(walk.state).toBe('taken')
  await walk.resolve('drop', undefined)

  expect(walk.state).toBe('elsewhere')
})

test('its lease was taken away: it is claimed again while its actors go on, unless another node was faster', async () => {
  const walk = open()
    .send(mine)
    .send({ ...nobody, wanted: 'a' })
  expect(walk.state).toBe('reclaiming')
  await walk.resolve('claim', { holder: 'a', previous: null })
  expect(walk.state).toEqual({ held: 'alone' })

  walk.send({ ...nobody, wanted: 'a' })
  await walk.resolve('claim', { holder: 'b', previous: null })
  expect(walk.state).toBe('taken')
})

test('a registry that does not answer is asked again: what is ours stays so meanwhile', async () => {
  const claiming = open().send({ ...nobody, wanted: 'a' })
  await claiming.reject('claim', new Error('no answer'))
  expect(claiming.state).toBe('pausing')
  expect(claiming.pass(500).state).toBe('claiming')

  const reclaiming = open()
    .send(mine)
    .send({ ...nobody, wanted: 'a' })
  await reclaiming.reject('claim', new Error('no answer'))
  expect(reclaiming.state).toBe('taken')

  const handing = open()
    .send(mine)
    .send({ ...mine, wanted: 'b' })
  await handing.reject('handOver', new Error('no answer'))
  expect(handing.send(mine).pass(500).state).toEqual({ held: 'alone' })

  const clearing = open()
    .send(mine)
    .send({ ...mine, wanted: 'b' })
  await clearing.resolve('handOver', { holder: 'b', previous: 'a' })
  await clearing.resolve('settle', undefined)
  await clearing.reject('clear', new Error('no answer'))
  expect(clearing.pass(500).state).toBe('lingering')
})

test('every transition of the chart has been taken', () => {
  expect(partition.missed()).toEqual([])
})
