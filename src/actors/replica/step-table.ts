/**
 * What follows from a chart alone, computed once for each configuration that a machine gets into: what a transition leaves and enters, which states are
 * active then, and what that is called. The rules are those of SCXML for a machine of which one leaf is active.
 */
import {
  type AnyActorRef,
  type AnyActorScope,
  type AnyMachineSnapshot,
  type AnyStateMachine,
  type AnyStateNode,
  type AnyTransitionDefinition,
  spawnChild,
  stopChild,
} from 'xstate'
import type { AnyEvent } from '../../contracts/journal.ts'
import { nodesIn } from '../state-nodes.ts'

type Transition = AnyTransitionDefinition

export type ActionArgs = { context: unknown; event: AnyEvent; self: AnyActorRef; system: AnyActorRef['system'] }
export type Custom = (args: ActionArgs, params: unknown) => unknown
/** An action of XState's own says what becomes of the snapshot, what to execute, and which actions come of it. */
export type BuiltIn = {
  type: string
  resolve(
    scope: AnyActorScope,
    snapshot: AnyMachineSnapshot,
    args: ActionArgs,
    params: unknown,
    self: BuiltIn,
    extra: Extra,
  ): [AnyMachineSnapshot, unknown, Action[]?]
  retryResolve?(scope: AnyActorScope, snapshot: AnyMachineSnapshot, params: unknown): void
  execute?(scope: AnyActorScope, params: unknown): void
}
export type Action = Custom | BuiltIn | string | { type: string; params?: unknown }
type Extra = { internalQueue: AnyEvent[]; deferredActorIds: string[] | undefined }
/** As XState's guards that are made of others hold them. */
export type Guarded = { guards: unknown[] }

const isDescendant = (node: AnyStateNode, of: AnyStateNode | undefined): boolean => {
  let at = node
  while (at.parent && at.parent !== of) at = at.parent
  return at.parent === of
}

const ancestorsOf = (node: AnyStateNode, below?: AnyStateNode): AnyStateNode[] => {
  const found: AnyStateNode[] = []
  if (node !== below) for (let at = node.parent; at && at !== below; at = at.parent) found.push(at)
  return found
}

export const initialOf = (node: AnyStateNode): AnyStateNode => node.initial.target[0] as AnyStateNode

/** The innermost state that a transition stays in. */
const domainOf = ({ source, reenter }: Transition, target: AnyStateNode): AnyStateNode | undefined => {
  if (!reenter && (target === source || isDescendant(target, source))) return source
  const shared = ancestorsOf(target).find((ancestor) => isDescendant(source, ancestor))
  return shared ?? (reenter ? undefined : source.machine.root)
}

type Entry = { node: AnyStateNode; actions: Action[]; invoked: string[] }
/** What a transition does where it begins in one configuration. */
export type Move = { leaving: Action[]; entries: Entry[]; to: Configuration }

const entryOf = (node: AnyStateNode, byDefault: boolean): Entry => ({
  node,
  actions: [
    ...node.entry,
    ...node.invoke.map((invoke) => spawnChild(invoke.src as string, { ...invoke, syncSnapshot: Boolean(invoke.onSnapshot) } as object)),
    ...(byDefault && node.type === 'compound' ? node.initial.actions : []),
  ] as Action[],
  invoked: node.invoke.map(({ id }) => id),
})

const byOrder = (nodes: Iterable<AnyStateNode>): AnyStateNode[] => [...nodes].sort((a, b) => a.order - b.order)

/** Which states are active, in the order in which XState lists them: the root, its active child, and so on down to one leaf. */
export class Configuration {
  readonly nodes: AnyStateNode[]
  readonly value: unknown
  readonly tags: Set<string>
  readonly leafFirst: AnyStateNode[]
  /** States with patterns for events: they have to be asked about each. */
  readonly #withPatterns: Set<AnyStateNode>
  readonly always: { transition: Transition; guarded: Guarded | undefined }[]
  readonly #table: StepTable
  readonly #moves = new Map<Transition | undefined, Move>()

  constructor(table: StepTable, nodes: AnyStateNode[]) {
    this.#table = table
    this.nodes = nodes
    this.tags = fixedSet(nodes.flatMap(({ tags }) => tags))
    this.leafFirst = byOrder(nodes).reverse()
    this.#withPatterns = new Set(nodes.filter(({ transitions }) => [...transitions.keys()].some((type) => type.endsWith('*'))))
    this.value = stateValueOf(this.leafFirst[0] as AnyStateNode)
    this.always = this.leafFirst
      .flatMap((node): Transition[] => node.always ?? [])
      .map((transition) => ({ transition, guarded: transition.guard === undefined ? undefined : { guards: [transition.guard] } }))
  }

  /** Whether a state has any transition for an event, whatever its guards say. */
  names(node: AnyStateNode, type: string): boolean {
    return node.transitions.has(type) || this.#withPatterns.has(node)
  }

  /** @param transition undefined for the one that begins a machine */
  move(transition: Transition | undefined): Move {
    let move = this.#moves.get(transition)
    if (!move) {
      move = transition ? this.#plan(transition) : this.#begin()
      this.#moves.set(transition, move)
    }
    return move
  }

  #plan(transition: Transition): Move {
    const target = transition.target?.[0]
    if (!target) return { leaving: transition.actions as Action[], entries: [], to: this }
    const { source, reenter } = transition
    const domain = domainOf(transition, target)
    const left = this.leafFirst.filter((node) => isDescendant(node, domain))
    /** Whether each is entered by default, which is what takes the initial actions of a state. */
    const entered = new Map<AnyStateNode, boolean>()
    if (source !== target || source !== domain || reenter) entered.set(target, true)
    for (let at = target; at.type === 'compound'; ) {
      at = initialOf(at)
      entered.set(at, true)
    }
    for (const ancestor of ancestorsOf(target, domain)) if (!entered.has(ancestor)) entered.set(ancestor, false)
    const leaving = left.flatMap((node): Action[] => [...node.exit, ...node.invoke.map(({ id }) => stopChild(id))] as Action[])
    return this.#moveTo(left, [...leaving, ...(transition.actions as Action[])], entered)
  }

  #begin(): Move {
    const entered = new Map<AnyStateNode, boolean>()
    for (let at = this.nodes[0] as AnyStateNode; ; at = initialOf(at)) {
      entered.set(at, true)
      if (at.type !== 'compound') return this.#moveTo([], [], entered)
    }
  }

  #moveTo(left: AnyStateNode[], leaving: Action[], entered: Map<AnyStateNode, boolean>): Move {
    const nodes = new Set(this.nodes)
    for (const node of left) nodes.delete(node)
    const entries = byOrder(entered.keys()).map((node) => entryOf(node, entered.get(node) === true))
    for (const { node } of entries) nodes.add(node)
    const isSame = nodes.size === this.nodes.length && this.nodes.every((node) => nodes.has(node))
    return { leaving, entries, to: isSame ? this : this.#table.configuration([...nodes]) }
  }

  /** As XState lists the states of a machine that is done. */
  reversed(): Configuration {
    return this.#table.configuration(this.leafFirst)
  }
}

/** A state that is active alone, as the root is before a machine begins, is called by the states that it would enter. */
const stateValueOf = (leaf: AnyStateNode): unknown => {
  let at = leaf
  while (at.type === 'compound') at = initialOf(at)
  let value: unknown = at.key
  for (let { parent } = at; parent?.parent; parent = parent.parent) value = Object.freeze({ [parent.key]: value })
  return value
}

/** All snapshots of a configuration have it: whoever changed it would change what other actors are. */
const fixedSet = (values: string[]): Set<string> => {
  const refuse = () => {
    throw new TypeError('the tags of a snapshot cannot be changed')
  }
  return Object.defineProperties(new Set(values), { add: { value: refuse }, delete: { value: refuse }, clear: { value: refuse } })
}

/** All configurations that one machine was in. */
export class StepTable {
  readonly machine: AnyStateMachine
  /** Before a machine begins, only its root is active. */
  readonly beginning: Configuration
  readonly #configurations = new Map<string, Configuration>()
  /** By the list itself: snapshots of one configuration share it. */
  readonly #known = new WeakMap<AnyStateNode[], Configuration>()

  constructor(machine: AnyStateMachine) {
    this.machine = machine
    this.beginning = this.configuration([machine.root])
  }

  /** @returns undefined for states that are no chain from the root to one leaf, as a snapshot may have them that another machine made */
  of(nodes: AnyStateNode[]): Configuration | undefined {
    const known = this.#known.get(nodes)
    if (known) return known
    const chain = byOrder(nodes)
    const { root } = this.machine
    const isChain = chain.every((node, index) => (index === 0 ? node === root : node.parent === chain[index - 1]))
    return isChain && chain.at(-1)?.type !== 'compound' ? this.configuration(nodes) : undefined
  }

  configuration(nodes: AnyStateNode[]): Configuration {
    const known = this.#known.get(nodes)
    if (known) return known
    const name = nodes.map(({ order }) => order).join()
    let configuration = this.#configurations.get(name)
    if (!configuration) {
      configuration = new Configuration(this, nodes)
      this.#configurations.set(name, configuration)
    }
    this.#known.set(nodes, configuration)
    return configuration
  }
}

/**
 * Machines with parallel states, a history or a transition to several targets are not for a table, nor are those that XState takes although they make no
 * sense: two states of one id, states within a state that is none of several.
 */
export const isKnown = (machine: AnyStateMachine): boolean => {
  const nodes = [...nodesIn(machine.root)]
  return (
    machine.root.type === 'compound' && nodes.length === (machine as unknown as { idMap: Map<string, unknown> }).idMap.size && nodes.every(hasOneLeaf)
  )
}

const hasOneLeaf = ({ type, states, transitions, always = [] }: AnyStateNode): boolean =>
  (type === 'compound' || ((type === 'atomic' || type === 'final') && Object.keys(states).length === 0)) &&
  [...transitions.values(), always].flat().every(({ target }) => (target?.length ?? 0) <= 1)
