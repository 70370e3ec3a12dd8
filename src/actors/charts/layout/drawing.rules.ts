/**
 * What of a chart is drawn, and how: only a change of state that somebody can follow is a wire. What a state declares for all states within it is a row in its
 * header, what stays where it is a count, and an end that many states lead to stands by itself, named by each of them.
 */
import type { TransitionRef } from '../../../contracts/inspection.ts'
import { type Chart, type ChartNode, type ChartTransition, nodesOf } from '../chart.ts'

/** @property order which of several candidates for its event it is, from 1; undefined where it is the only one */
export type DrawnTransition = ChartTransition & { ref: TransitionRef; order: number | undefined }

/** Something that a state says of itself. */
export type Line = { kind: 'invoke' | 'entry' | 'exit' | 'end' | 'from'; text: string; transitions: DrawnTransition[] }

/** Where a state that has others leads from any of them; `to` is the key of a state, undefined for what stays. */
export type StripRow = { to: string | undefined; again: boolean; transitions: DrawnTransition[] }

export type Box = {
  node: ChartNode
  /** Entered first. */
  initial: boolean
  /** One of several that are active at the same time. */
  region: boolean
  lines: Line[]
  strip: StripRow[]
  /** Transitions that lead nowhere else. */
  stays: DrawnTransition[]
  inner: Box[]
}

/** All transitions from one state to another. */
type Wire = { id: string; source: string; target: string; transitions: DrawnTransition[] }

/** @property dock ends without a wire */
export type Drawing = { root: Box; wires: Wire[]; dock: Box[] }

/** So many states have to lead to an end for it to be taken out. */
const endSources = 3

type Kind = 'wire' | 'stays' | 'strip' | 'end'
type Sorted = DrawnTransition & { kind: Kind; target: string | undefined }

export const drawingOf = (chart: Chart): Drawing => {
  const nodes = new Map([...nodesOf(chart.root)].map((node) => [node.id, node]))
  const parents = new Map([...nodes.values()].flatMap((node) => node.states.map((child) => [child.id, node] as const)))
  const isInside = (id: string, outer: string): boolean => {
    for (let at: string | undefined = id; at !== undefined; at = parents.get(at)?.id) if (at === outer) return true
    return false
  }
  const all = [...nodes.values()].flatMap((node) => transitionsOf(node).flatMap((one) => sorted(one, node, isInside)))
  takeOutEnds(all, nodes)
  const by = groups(all, ({ source }) => source)
  const into = groups(all, ({ target }) => target ?? '')
  const boxOf = (node: ChartNode): Box => {
    const own = by.get(node.id) ?? []
    return {
      node,
      initial: parents.get(node.id)?.initial === node.id,
      region: parents.get(node.id)?.type === 'parallel',
      lines: [...saysOf(node), ...endsOf(own, nodes), ...fromOf(into.get(node.id) ?? [], nodes, chart.root)],
      strip: stripOf(
        own.filter(({ kind }) => kind === 'strip'),
        nodes,
      ),
      stays: own.filter(({ kind }) => kind === 'stays'),
      inner: node.states.map(boxOf),
    }
  }
  const wires = [
    ...groups(
      all.filter(({ kind }) => kind === 'wire'),
      ({ source, target }) => JSON.stringify([source, target]),
    ),
  ].map(([id, transitions]): Wire => ({ id, source: transitions[0]?.source ?? '', target: transitions[0]?.target ?? '', transitions }))
  const root = boxOf(chart.root)
  const isDocked = ({ node }: Box) => node.type === 'final' && root.inner.length > 1 && !wires.some(({ target }) => target === node.id)
  const dock = root.inner.filter(isDocked)
  return { root: { ...root, inner: root.inner.filter((box) => !dock.includes(box)) }, wires, dock }
}

/** Each with how it is found again, and its place among those that are tried for the same event. */
export const transitionsOf = (node: ChartNode): DrawnTransition[] => {
  const counts = groups(node.transitions, ({ eventType }) => eventType)
  const next = new Map<string, number>()
  return node.transitions.map((transition) => {
    const { eventType } = transition
    const index = next.get(eventType) ?? 0
    next.set(eventType, index + 1)
    return { ...transition, ref: { source: node.id, eventType, index }, order: (counts.get(eventType)?.length ?? 0) > 1 ? index + 1 : undefined }
  })
}

/** One for each state that it leads to. */
const sorted = (transition: DrawnTransition, node: ChartNode, isInside: (id: string, outer: string) => boolean): Sorted[] => {
  const holds = node.states.length > 0
  const kindTo = (target: string): Kind => {
    if (target === node.id) return holds ? 'strip' : 'stays'
    return holds && isInside(target, node.id) ? 'strip' : 'wire'
  }
  if (node.type === 'history') return transition.targets.map((target) => ({ ...transition, kind: 'wire', target }))
  if (transition.targets.length === 0) return [{ ...transition, kind: holds ? 'strip' : 'stays', target: undefined }]
  return transition.targets.map((target) => ({ ...transition, kind: kindTo(target), target }))
}

const takeOutEnds = (all: Sorted[], nodes: ReadonlyMap<string, ChartNode>): void => {
  for (const [target, transitions] of groups(
    all.filter(({ kind }) => kind === 'wire'),
    ({ target }) => target ?? '',
  )) {
    if (nodes.get(target)?.type !== 'final' || new Set(transitions.map(({ source }) => source)).size < endSources) continue
    for (const one of transitions) one.kind = (nodes.get(one.source)?.states.length ?? 0) > 0 ? 'strip' : 'end'
  }
}

const saysOf = ({ invoke, entry, exit }: ChartNode): Line[] => [
  ...invoke.map(({ id, src }): Line => ({ kind: 'invoke', text: id === src || /^\d/.test(id) ? src : `${src} as ${id}`, transitions: [] })),
  ...(entry.length > 0 ? [{ kind: 'entry' as const, text: entry.join(', '), transitions: [] }] : []),
  ...(exit.length > 0 ? [{ kind: 'exit' as const, text: exit.join(', '), transitions: [] }] : []),
]

const endsOf = (own: Sorted[], nodes: ReadonlyMap<string, ChartNode>): Line[] =>
  [
    ...groups(
      own.filter(({ kind }) => kind === 'end'),
      ({ target }) => target ?? '',
    ),
  ].map(([target, transitions]) => ({
    kind: 'end',
    text: `${nodes.get(target)?.key ?? target}: ${eventsOf(transitions)}`,
    transitions,
  }))

/** Without a wire to it, it would look as if nothing led there. */
const fromOf = (into: Sorted[], nodes: ReadonlyMap<string, ChartNode>, root: ChartNode): Line[] => {
  const ends = into.filter(({ kind }) => kind === 'end')
  const inherited = into.filter(({ kind, source, target }) => kind === 'strip' && source !== target)
  const states = new Set(ends.map(({ source }) => source)).size
  return [
    ...(states > 0 ? [{ kind: 'from' as const, text: `from ${states} states`, transitions: ends }] : []),
    ...[...groups(inherited, ({ source }) => source)].map(
      ([source, transitions]): Line => ({
        kind: 'from',
        text: source === root.id ? 'from every state' : `from any ${nodes.get(source)?.key ?? source}`,
        transitions,
      }),
    ),
  ]
}

const stripOf = (transitions: Sorted[], nodes: ReadonlyMap<string, ChartNode>): StripRow[] =>
  [...groups(transitions, ({ source, target }) => (source === target ? 'again' : `to ${target ?? ''}`))].map(([name, some]) => ({
    to: name === 'again' ? undefined : nodes.get(some[0]?.target ?? '')?.key,
    again: name === 'again',
    transitions: some,
  }))

/** `cancel ×2, stop` */
export const eventsOf = (transitions: readonly ChartTransition[]): string =>
  [...groups(transitions, ({ event }) => event)].map(([event, { length }]) => (length > 1 ? `${event} ×${length}` : event)).join(', ')

export const groups = <T>(list: readonly T[], by: (one: T) => string): Map<string, T[]> => {
  const found = new Map<string, T[]>()
  for (const one of list) {
    const some = found.get(by(one))
    if (some) some.push(one)
    else found.set(by(one), [one])
  }
  return found
}
