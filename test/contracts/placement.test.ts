import { expect, test } from 'vitest'
import { partitionCount, partitionOf, rendezvous } from '../../src/contracts/placement.ts'

const partitions = Array.from({ length: partitionCount }, (_, partition) => partition)
const seatsOf = (nodes: string[]) => partitions.map((partition) => rendezvous(partition, nodes))

test('every address has one of the 64 partitions, and they are filled alike', () => {
  const counts = Array.from({ length: partitionCount }, () => 0)
  for (let key = 0; key < 64_000; key++) {
    const partition = partitionOf({ kind: 'session', id: `user-${key}` })
    counts[partition] = (counts[partition] ?? 0) + 1
  }

  expect(Math.min(...counts)).toBeGreaterThan(800)
  expect(Math.max(...counts)).toBeLessThan(1200)
})

test.each([2, 3, 5, 16])('%i nodes have about the same share, whatever their names', (count) => {
  for (let round = 0; round < 20; round++) {
    const nodes = Array.from({ length: count }, (_, index) => `node-${round}-${index}`)
    const shares = nodes.map((node) => seatsOf(nodes).filter((holder) => holder === node).length)

    expect(Math.max(...shares)).toBeLessThanOrEqual((64 / count) * 2 + 3)
    expect(shares.reduce((sum, share) => sum + share, 0)).toBe(64)
  }
})

test('a node that comes takes leases for itself, and moves no other', () => {
  const before = seatsOf(['a', 'b', 'c'])
  const after = seatsOf(['a', 'b', 'c', 'd'])

  for (const partition of partitions) if (after[partition] !== 'd') expect(after[partition]).toBe(before[partition])
  expect(after.filter((holder) => holder === 'd').length).toBeGreaterThan(0)
})

test('the order in which nodes are named changes nothing, and without any nobody has a lease', () => {
  expect(seatsOf(['a', 'b', 'c'])).toEqual(seatsOf(['c', 'a', 'b']))
  expect(seatsOf([])).toEqual(partitions.map(() => null))
})

test('names that are not ASCII count as their UTF-8 bytes: nodes of all versions agree who holds what', () => {
  const nodes = ['Käse', '☃', '😀', 'plain']

  expect(partitions.slice(0, 8).map((partition) => rendezvous(partition, nodes))).toEqual(['Käse', '😀', '😀', 'Käse', '😀', 'plain', '☃', '😀'])
})
