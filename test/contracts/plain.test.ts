/** A copy to hand out is made of anything that an author may keep, also of what knows itself in many ways. */
import { expect, test } from 'vitest'
import { detached } from '../../src/contracts/plain.ts'

type Node = { name: string; others: Node[] }

/** Each knows all others: from each there are more ways than anybody could go. */
const aGraph = (count: number): Node[] => {
  const nodes = Array.from({ length: count }, (_, index): Node => ({ name: `n${index}`, others: [] }))
  for (const node of nodes) node.others = nodes.filter((other) => other !== node)
  return nodes
}

test('of things that know each other in many ways there is a copy, and it shares nothing with them', () => {
  const graph = aGraph(20)

  const copy = detached({ graph })

  const met = new Set<Node>()
  const meet = (node: Node): void => {
    if (met.has(node)) return
    met.add(node)
    for (const other of node.others) meet(other)
  }
  meet(copy.graph[7] as Node)
  expect(new Set([...met].map(({ name }) => name)).size).toBe(20)
  expect(graph.filter((node) => met.has(node))).toEqual([])
})

test('an ordinary value is copied as a journal would give it back: one object in two places is two', () => {
  const shared = { n: 1 }
  const copy = detached({ a: shared, list: [shared, undefined], at: new Date(5), error: Object.assign(new Error('no'), { of: shared }) })

  expect(copy).toEqual({ a: { n: 1 }, list: [{ n: 1 }, undefined], at: new Date(5), error: Object.assign(new Error('no'), { of: { n: 1 } }) })
  expect(copy.a).not.toBe(copy.list[0])
  expect((copy.error as Error & { of: object }).of).not.toBe(shared)
})
