/**
 * What a chart alone says against a machine: states that nothing leads to, and states from which there is no way on. Guards are not asked, since what they say
 * depends on the context: a state that only a guard keeps out of reach counts as reachable.
 */
import type { Chart, ChartNode } from './chart.ts'

export type Soundness = {
  /** Ids of states that no transition and no initial state leads to, the outermost of each: what is in them is out of reach as well. */
  unreachable: string[]
  /**
   * Ids of innermost states that are no end and lead to none. An end is where the whole machine ends; or, in a machine that never ends, any state in which something
   * can still happen. A state with the tag `resting` is meant to be stayed in, and is an end as well.
   */
  deadEnds: string[]
}

/** A state in which a machine may stay for good. */
const restingTag = 'resting'

type Node = ChartNode & { parent: Node | undefined; inside: Node[] }

export const soundnessOf = ({ root }: Chart): Soundness => {
  const nodes = new Map<string, Node>()
  const top = linked(root, undefined, nodes)
  const reached = reachable(top, nodes)
  const unreachable = [...nodes.values()].filter((node) => node.type !== 'history' && !reached.has(node.id))
  const alive = leadingToEnd(top, nodes)
  const deadEnds = [...nodes.values()].filter((node) => isLeaf(node) && reached.has(node.id) && !alive.has(node.id))
  return {
    unreachable: unreachable.filter(({ parent }) => !parent || reached.has(parent.id)).map(({ id }) => id),
    deadEnds: deadEnds.map(({ id }) => id),
  }
}

const isLeaf = ({ type }: ChartNode): boolean => type === 'atomic' || type === 'final'

const linked = (node: ChartNode, parent: Node | undefined, nodes: Map<string, Node>): Node => {
  const one: Node = { ...node, parent, inside: [] }
  nodes.set(one.id, one)
  one.inside = node.states.map((child) => linked(child, one, nodes))
  return one
}

/** What becomes active with a state, besides what is around it. */
const enteredWith = (node: Node, nodes: ReadonlyMap<string, Node>): Node[] => {
  if (node.type === 'parallel') return node.inside.filter(({ type }) => type !== 'history')
  if (node.type === 'compound') return [nodes.get(node.initial ?? '')].filter((one) => one !== undefined)
  // It leads back to where one was, or to its default; without one, to the initial state of what is around it.
  if (node.type === 'history') return defaultOf(node, nodes)
  return []
}

const defaultOf = (node: Node, nodes: ReadonlyMap<string, Node>): Node[] => {
  const targets = node.transitions.flatMap(({ targets: ids }) => ids.flatMap((id) => nodes.get(id) ?? []))
  return targets.length > 0 ? targets : node.parent ? enteredWith(node.parent, nodes) : []
}

const reachable = (top: Node, nodes: ReadonlyMap<string, Node>): Set<string> => {
  const reached = new Set<string>()
  const waiting = [top]
  for (let node = waiting.pop(); node; node = waiting.pop()) {
    if (reached.has(node.id)) continue
    reached.add(node.id)
    waiting.push(...enteredWith(node, nodes), ...around(node))
    for (const { targets } of node.transitions) for (const id of targets) waiting.push(...[nodes.get(id)].filter((one) => one !== undefined))
  }
  return reached
}

/** What is active while a state is: all around it, with the other regions where those are parallel. */
const around = ({ parent }: Node): Node[] => (parent ? [parent, ...(parent.type === 'parallel' ? parent.inside : [])] : [])

function* withAncestors(node: Node): Generator<Node> {
  for (let at: Node | undefined = node; at; at = at.parent) yield at
}

const endsIn = (top: Node, node: Node): boolean => {
  if (node.tags.includes(restingTag)) return true
  if (node.type !== 'final') return false
  // A machine of regions ends when all of them have.
  return node.parent === top || (top.type === 'parallel' && node.parent?.parent === top) || node === top
}

/** States from which an end can be reached, as far as the chart says. */
const leadingToEnd = (top: Node, nodes: ReadonlyMap<string, Node>): Set<string> => {
  const all = [...nodes.values()]
  const ends = all.filter((node) => endsIn(top, node))
  const hasEnd = ends.some(({ type }) => type === 'final')
  const good = new Set((hasEnd ? ends : [...ends, ...all.filter(canAct)]).map(({ id }) => id))
  const ways = new Map(all.map((node) => [node, waysFrom(node, nodes)]))
  for (let grows = true; grows; ) {
    grows = false
    for (const [node, targets] of ways)
      if (!good.has(node.id) && targets.some((target) => good.has(target.id))) {
        good.add(node.id)
        grows = true
      }
  }
  return good
}

/** Whether anything can still happen: an event that it or what is around it takes, or something that it runs. */
const canAct = (node: Node): boolean =>
  node.type !== 'final' && [...withAncestors(node)].some(({ transitions, invoke }) => transitions.length > 0 || invoke.length > 0)

/** Where one may be after the next step: by its own transitions, those of what is around it, and those of regions beside it. */
const waysFrom = (node: Node, nodes: ReadonlyMap<string, Node>): Node[] => {
  const active = [...withAncestors(node)]
  const beside = active.flatMap(({ parent }) => (parent?.type === 'parallel' ? parent.inside.flatMap(below) : []))
  const targets = [...active, ...beside].flatMap(({ transitions }) => transitions.flatMap(({ targets: ids }) => ids))
  return [...enteredWith(node, nodes), ...targets.flatMap((id) => nodes.get(id) ?? [])]
}

const below = (node: Node): Node[] => [node, ...node.inside.flatMap(below)]
