/** A machine as plain JSON that can be drawn, listed or sent to another program. */

import { type AnyStateMachine, type AnyStateNode, createMachine, type StateValue } from 'xstate'
import { definedOf } from '../../contracts/defined.ts'
import { isMachine } from '../state-nodes.ts'
import { toConfig } from './config.ts'
import { actionName, delayName, guardName } from './names.ts'
import { machineSignature } from './signature.ts'

export type ChartTransition = {
  /** As people read it: `tool.cancel`, `always`, `after 5 s`, `done(model)`, `error(model)`, `done`. */
  event: string
  /** XState's own event type; empty for `always`. */
  eventType: string
  /** Id of the node that declares it. */
  source: string
  /** Ids of the nodes entered; none means that the transition stays where it is. */
  targets: string[]
  guard?: string
  actions: string[]
  /** ms, or the name of a delay. */
  delay?: number | string
  /** Leaves and enters its source even when the target lies inside. */
  reenter: boolean
  description?: string
}

export type ChartNode = {
  id: string
  key: string
  type: AnyStateNode['type']
  /** Id of the child entered first. */
  initial?: string
  initialActions?: string[]
  history?: 'shallow' | 'deep'
  entry: string[]
  exit: string[]
  invoke: { id: string; src: string }[]
  tags: string[]
  description?: string
  /** In the order in which XState tries them. For a history node: where it leads when there is no history yet. */
  transitions: ChartTransition[]
  states: ChartNode[]
}

export type Chart = { id: string; version?: string; root: ChartNode }

/**
 * Reads the state nodes themselves, not `machine.definition`: that leaves out `always` and mixes the timers of `after` into entry and exit.
 * Document order is kept, so the same source always gives the same chart.
 */
export const chart = (machine: AnyStateMachine): Chart => ({
  id: machine.id,
  ...definedOf({ version: machine.version }),
  root: chartNode(machine.root),
})

/** The charts of a machine and of all machines below it, by their signatures. */
export const chartsBelow = (machine: AnyStateMachine, found: Record<string, Chart> = {}): Record<string, Chart> => {
  const signature = machineSignature(machine)
  if (found[signature]) return found
  found[signature] = chart(machine)
  for (const logic of Object.values(machine.implementations.actors as Record<string, unknown>)) if (isMachine(logic)) chartsBelow(logic, found)
  return found
}

/**
 * What people are told a machine and those below it are called, by their signatures: XState names each without an id `(machine)`. That name stands in journals, as a
 * part of paths and of signatures, so it stays what it is everywhere else.
 * @param name of the first one, where it has no id; those below have the names of their actors
 */
export const namesBelow = (machine: AnyStateMachine, name: string, found: Record<string, string> = {}): Record<string, string> => {
  const signature = machineSignature(machine)
  if (found[signature] !== undefined) return found
  found[signature] = machine.config.id || name
  for (const [src, logic] of Object.entries(machine.implementations.actors as Record<string, unknown>))
    if (isMachine(logic)) namesBelow(logic, src, found)
  return found
}

/** The same machine under a name, if it has none: only to be drawn, see {@link namesBelow}. One that names its own states by `#(machine)` cannot be renamed. */
export const named = (machine: AnyStateMachine, name: string): AnyStateMachine => {
  if (machine.config.id || JSON.stringify(toConfig(machine).config).includes('#(machine)')) return machine
  return createMachine({ ...machine.config, id: name }, machine.implementations)
}

/** The chart as stable, indented JSON. */
export const toJson = (value: Chart): string => `${JSON.stringify(value, null, 2)}\n`

/** Every node of a chart, parents first. */
export function* nodesOf(node: ChartNode): Generator<ChartNode> {
  yield node
  for (const child of node.states) yield* nodesOf(child)
}

/** The nodes that a state value names, the root first. Keys that the chart does not have are skipped: the value may be of another version. */
export function* activeNodes(node: ChartNode, value: StateValue | undefined): Generator<ChartNode> {
  yield node
  const inner: Record<string, StateValue | undefined> = typeof value === 'string' ? { [value]: undefined } : (value ?? {})
  for (const child of node.states) if (Object.hasOwn(inner, child.key)) yield* activeNodes(child, inner[child.key])
}

const chartNode = (node: AnyStateNode): ChartNode => ({
  id: node.id,
  key: node.key,
  type: node.type,
  ...initialOf(node),
  ...definedOf({ history: node.type === 'history' ? (node.history === 'deep' ? ('deep' as const) : ('shallow' as const)) : undefined }),
  // The configured ones: XState adds the raising and cancelling of `after` timers to node.entry and node.exit.
  entry: list(node.config.entry).map(actionName),
  exit: list(node.config.exit).map(actionName),
  invoke: node.invoke.map((invoke) => ({ id: invoke.id, src: invokeName(invoke) })),
  tags: [...node.tags],
  ...definedOf({ description: node.description || undefined }),
  transitions: transitionsOf(node),
  states: Object.values(node.states).map(chartNode),
})

const initialOf = (node: AnyStateNode): Pick<ChartNode, 'initial' | 'initialActions'> => {
  if (node.type !== 'compound') return {}
  const [target] = node.initial.target
  const actions = node.initial.actions.map(actionName)
  return definedOf({ initial: target?.id, initialActions: actions.length > 0 ? actions : undefined })
}

type AnyTransition = {
  target?: readonly AnyStateNode[] | undefined
  guard?: unknown
  actions: readonly unknown[]
  reenter?: boolean | undefined
  delay?: number | string | undefined
  description?: string | undefined
  eventType?: string | null
}

const transitionsOf = (node: AnyStateNode): ChartTransition[] => {
  if (node.type === 'history') return historyDefault(node)
  const events = [...node.transitions].flatMap(([eventType, transitions]) =>
    transitions.map((transition) => chartTransition(node, eventType, transition)),
  )
  return [...(node.always ?? []).map((transition) => chartTransition(node, '', transition)), ...events]
}

const chartTransition = (node: AnyStateNode, eventType: string, transition: AnyTransition): ChartTransition => {
  const guard = eventType === 'xstate.route' ? routeGuard(transition.guard) : transition.guard
  return {
    event: readableEvent(node, eventType, transition),
    eventType,
    source: node.id,
    targets: (transition.target ?? []).map((target) => target.id),
    ...definedOf({ guard: guard === undefined ? undefined : guardName(guard) }),
    actions: transition.actions.map(actionName),
    ...definedOf({ delay: transition.delay }),
    reenter: transition.reenter ?? false,
    ...definedOf({ description: transition.description || undefined }),
  }
}

/** Undoes what XState does to the names of its own events; a name of the author's own comes back unchanged. */
const readableEvent = (node: AnyStateNode, eventType: string, { delay, target }: AnyTransition): string => {
  if (eventType === '') return 'always'
  if (delay !== undefined) return `after ${delayName(delay)}`
  if (eventType === `xstate.done.state.${node.id}`) return 'done'
  if (eventType === 'xstate.route') return `route(${target?.map(({ id }) => id).join() ?? ''})`
  for (const invoke of node.invoke)
    for (const [prefix, word] of invokeEvents) if (eventType === `${prefix}${invoke.id}`) return `${word}(${invokeId(node, invoke)})`
  return eventType
}

const invokeEvents = [
  ['xstate.done.actor.', 'done'],
  ['xstate.error.actor.', 'error'],
  ['xstate.snapshot.', 'snapshot'],
] as const

type Invoke = { id: string; src: unknown }

/** An id that nobody wrote (`0.turn.calling`) tells less than the name of what runs. */
const invokeId = (node: AnyStateNode, invoke: Invoke): string =>
  /^\d+\./.test(invoke.id) && invoke.id.endsWith(node.id) ? invokeName(invoke) : invoke.id
const invokeName = ({ src }: Invoke): string => (typeof src === 'string' && !src.startsWith('xstate.invoke.') ? src : '(inline)')

/** XState puts its own test of the address before the author's guard. */
const routeGuard = (guard: unknown): unknown =>
  typeof guard === 'function' && 'guards' in guard && Array.isArray(guard.guards) ? guard.guards[1] : undefined

const historyDefault = (node: AnyStateNode): ChartTransition[] => {
  const targets = list((node.config as { target?: string | string[] }).target).map((target) => resolve(node, String(target)))
  if (targets.length === 0) return []
  return [{ event: 'default', eventType: '', source: node.id, targets, actions: [], reenter: false }]
}

/** A history target is an id (`#x`) or a path from the parent; XState resolves it only while running. */
const resolve = (node: AnyStateNode, target: string): string => {
  if (target.startsWith('#')) return node.machine.getStateNodeById(target).id
  let found: AnyStateNode | undefined = node.parent
  for (const key of target.replace(/^\./, '').split('.')) found = found?.states[key]
  return found?.id ?? target
}

const list = (value: unknown): unknown[] => (value === undefined ? [] : Array.isArray(value) ? value : [value])
