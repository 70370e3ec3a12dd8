/** The signature of a machine: what a journal remembers of the machine that wrote it. */
import { createHash } from 'node:crypto'
import type { AnyStateMachine, AnyStateNode } from 'xstate'

/**
 * A stable hash of everything that decides where an event leads: states, transitions in the order XState tries them, and the names of
 * guards, actions, actors and delays, those of child machines included. Function bodies, descriptions, `meta` and tags do not count, nor
 * does the order of states in which only one can be active. Authors who change what a function decides, and want old journals to
 * notice, change `version`.
 *
 * It stands in journals: a change to what is hashed here makes every stored journal look drifted. Hence it shares nothing with chart.ts.
 * @returns 16 hex digits
 */
export const machineSignature = (machine: AnyStateMachine): string =>
  createHash('sha256')
    .update(JSON.stringify(canonical(describeMachine(machine, []))))
    .digest('hex')
    .slice(0, 16)

const describeMachine = (machine: AnyStateMachine, inside: AnyStateMachine[]): unknown => {
  // A machine may spawn its own kind.
  const depth = inside.indexOf(machine)
  if (depth >= 0) return { again: inside.length - depth }
  const path = [...inside, machine]
  const actors = Object.entries(machine.implementations.actors as Record<string, unknown>)
  return {
    version: machine.version,
    root: describeNode(machine.root),
    actors: Object.fromEntries(actors.map(([name, logic]) => [name, isMachine(logic) ? describeMachine(logic, path) : 'logic'])),
  }
}

const describeNode = (node: AnyStateNode): unknown => {
  const children = Object.values(node.states).map(describeNode)
  return {
    id: node.id,
    type: node.type,
    history: node.history,
    historyTarget: node.type === 'history' ? node.config.target : undefined,
    initial: node.type === 'compound' ? [ids(node.initial.target), node.initial.actions.map(describeAction)] : undefined,
    // The configured ones: XState adds the raising and cancelling of `after` timers to node.entry and node.exit when it first meets them.
    entry: list(node.config.entry).map(describeAction),
    exit: list(node.config.exit).map(describeAction),
    invoke: node.invoke.map(({ id, src, systemId }) => ({ id, src: typeof src === 'string' ? src : 'inline', systemId })),
    // Grouped by event, each group in the order of choice; canonical() makes the order of the groups indifferent.
    on: Object.fromEntries([...node.transitions].map(([event, transitions]) => [event, transitions.map(describeTransition)])),
    always: node.always?.map(describeTransition),
    // Regions of a parallel state act in document order, so there the order counts.
    states: node.type === 'parallel' ? children : Object.fromEntries(Object.keys(node.states).map((key, index) => [key, children[index]])),
  }
}

type Transition = { target?: readonly AnyStateNode[] | undefined; guard?: unknown; actions: readonly unknown[]; reenter: boolean; delay?: unknown }

const describeTransition = ({ target, guard, actions, reenter, delay }: Transition): unknown => ({
  target: target && ids(target),
  guard: describeGuard(guard),
  actions: actions.map(describeAction),
  reenter,
  delay: named(delay),
})

/** `and([…])` and its like are functions that carry their parts. */
const describeGuard = (guard: unknown): unknown => {
  if (typeof guard === 'function' && 'guards' in guard && Array.isArray(guard.guards)) return { [guard.name]: guard.guards.map(describeGuard) }
  if (typeof guard === 'function' && 'stateValue' in guard) return { stateIn: guard.stateValue }
  return named(guard)
}

/** The parts of XState's own actions that say what they do to whom; all are plain values or functions. */
const builtinParts = ['event', 'to', 'id', 'delay', 'sendId', 'src', 'actorRef']

const describeAction = (action: unknown): unknown => {
  if (typeof action !== 'function' || !('type' in action)) return named(action)
  const own = action as unknown as Record<string, unknown>
  return { builtin: own.type, ...Object.fromEntries(builtinParts.map((part) => [part, named(own[part])])) }
}

/** What can be compared between two versions of a source: names and plain data, never a function. */
const named = (value: unknown): unknown => {
  if (typeof value === 'function') return 'inline'
  if (isMachine(value)) return 'inline'
  if (Array.isArray(value)) return value.map(named)
  if (value && typeof value === 'object') return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, named(part)]))
  return value
}

const isMachine = (value: unknown): value is AnyStateMachine => typeof value === 'object' && value !== null && 'root' in value && 'provide' in value
const ids = (nodes: readonly AnyStateNode[]): string[] => nodes.map((node) => node.id)
const list = (value: unknown): unknown[] => (value === undefined ? [] : Array.isArray(value) ? value : [value])

/** Keys sorted, so that the order in which an author wrote them does not count. */
const canonical = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(canonical)
  if (!value || typeof value !== 'object') return value
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, part]) => [key, canonical(part)]),
  )
}
