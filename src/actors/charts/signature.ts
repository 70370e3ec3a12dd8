/** The signature of a machine: what a journal remembers of the machine that wrote it. */
import type { AnyStateMachine, AnyStateNode } from 'xstate'
import { hexOf } from '../../contracts/bytes.ts'
import { RuntimeError } from '../../contracts/errors.ts'
import { depthMax } from '../../contracts/plain.ts'
import { sha256 } from '../native.ts'
import { isMachine } from '../state-nodes.ts'

/**
 * A stable hash of everything that decides where an event leads: states, transitions in the order XState tries them, and the names of
 * guards, actions, actors and delays, those of child machines included. Function bodies, descriptions, `meta` and tags do not count, nor
 * does the order of states in which only one can be active. Authors who change what a function decides, and want old journals to
 * notice, change `version`.
 *
 * It stands in journals: a change to what is hashed here makes every stored journal look drifted. Hence it shares nothing with chart.ts.
 * @returns 16 hex digits @throws RuntimeError not_durable when the config holds data that cannot be compared, with each place
 */
export const machineSignature = (machine: AnyStateMachine): string => {
  const { signature, problems } = sign(machine)
  if (signature === undefined)
    throw new RuntimeError('not_durable', `machine '${machine.id}' has no signature: ${problems.join('; ')}`, {
      hint: plainDataHint,
      data: { problems },
    })
  return signature
}

/** Every place whose data cannot be part of a signature: a bigint, a symbol, a circle, or data nested too deep. */
export const unsignedParts = (machine: AnyStateMachine): readonly string[] => sign(machine).problems

type Signed = { signature: string | undefined; problems: readonly string[] }

/** A machine does not change once it is made, and registration, charts and coverage each want its signature. */
const known = new WeakMap<AnyStateMachine, Signed>()

const sign = (machine: AnyStateMachine): Signed => {
  const before = known.get(machine)
  if (before) return before
  const problems: string[] = []
  const text = textOf(machine, { name: machine.id, problems }, [])
  const signature = problems.length > 0 ? undefined : hexOf(sha256(text)).slice(0, 16)
  known.set(machine, { signature, problems })
  return { signature, problems }
}

export const plainDataHint =
  'keep the data in a config plain JSON: write a bigint or a symbol as text, break circles; what cannot be written down comes from a function, such as ({ context }) => …'

/** Where the description is, in the words of an author. */
type Place = { name: string; problems: string[] }
const within = ({ name, problems }: Place, part: string): Place => ({ name: `${name} ${part}`, problems })

/** The description of a machine as canonical JSON. */
const textOf = (machine: AnyStateMachine, place: Place, inside: AnyStateMachine[]): string => {
  // A machine may spawn its own kind.
  const depth = inside.indexOf(machine)
  if (depth >= 0) return JSON.stringify({ again: inside.length - depth })
  const path = [...inside, machine]
  const sorted = Object.entries(machine.implementations.actors as Record<string, unknown>).sort(byName)
  // A record puts names such as `9` and `10` first, in the order of numbers, as canonical() does everywhere else.
  const texts = Object.fromEntries(
    sorted.map(([name, logic]) => [name, isMachine(logic) ? textOf(logic, within(place, `> ${name}`), path) : '"logic"']),
  )
  const actors = Object.entries(texts).map(([name, text]) => `${JSON.stringify(name)}:${text}`)
  return `{"actors":{${actors.join()}},${statesOf(machine, place)}}`
}

/** Machines that differ in their implementations alone, as `provide` makes them, share a config: it is described once. */
const described = new WeakMap<object, string>()

const statesOf = (machine: AnyStateMachine, place: Place): string => {
  const { config } = machine
  const before = described.get(config)
  if (before !== undefined) return before
  const { length } = place.problems
  const states = { root: describeNode(machine.root, place), version: plain(machine.version, 'version', place) }
  const text = JSON.stringify(canonical(states)).slice(1, -1)
  // A problem names the place of this very machine.
  if (place.problems.length === length) described.set(config, text)
  return text
}

const describeNode = (node: AnyStateNode, machine: Place): unknown => {
  const place = within(machine, `state '${node.path.join('.') || '(root)'}'`)
  const children = Object.values(node.states).map((child) => describeNode(child, machine))
  const actions = (all: unknown, part: string): unknown[] => list(all).map((action) => describeAction(action, within(place, part)))
  const transitions = (all: readonly Transition[], event: string): unknown[] =>
    all.map((transition) => describeTransition(transition, within(place, `on '${event}'`)))
  return {
    id: node.id,
    type: node.type,
    history: node.history,
    historyTarget: node.type === 'history' ? plain(node.config.target, 'target', place) : undefined,
    initial: node.type === 'compound' ? [ids(node.initial.target), actions(node.initial.actions, 'initial')] : undefined,
    // The configured ones: XState adds the raising and cancelling of `after` timers to node.entry and node.exit when it first meets them.
    entry: actions(node.config.entry, 'entry'),
    exit: actions(node.config.exit, 'exit'),
    invoke: node.invoke.map(({ id, src, systemId }) => ({
      id: plain(id, 'id', within(place, 'invoke')),
      src: typeof src === 'string' ? src : 'inline',
      systemId: plain(systemId, 'systemId', within(place, 'invoke')),
    })),
    // Grouped by event, each group in the order of choice; canonical() makes the order of the groups indifferent.
    on: Object.fromEntries([...node.transitions].map(([event, group]) => [event, transitions(group, event)])),
    always: node.always && transitions(node.always, 'always'),
    // Regions of a parallel state act in document order, so there the order counts.
    states: node.type === 'parallel' ? children : Object.fromEntries(Object.keys(node.states).map((key, index) => [key, children[index]])),
  }
}

type Transition = { target?: readonly AnyStateNode[] | undefined; guard?: unknown; actions: readonly unknown[]; reenter: boolean; delay?: unknown }

const describeTransition = ({ target, guard, actions, reenter, delay }: Transition, place: Place): unknown => ({
  target: target && ids(target),
  guard: describeGuard(guard, place),
  actions: actions.map((action) => describeAction(action, place)),
  reenter,
  delay: plain(delay, 'delay', place),
})

/** `and([…])` and its like are functions that carry their parts. */
const describeGuard = (guard: unknown, place: Place, around: readonly unknown[] = []): unknown => {
  if (typeof guard === 'function' && 'guards' in guard && Array.isArray(guard.guards)) {
    if (around.includes(guard) || around.length >= depthMax) return refuse('guard', 'contains itself or is nested too deep', place)
    return { [guard.name]: guard.guards.map((part) => describeGuard(part, place, [...around, guard])) }
  }
  if (typeof guard === 'function' && 'stateValue' in guard) return { stateIn: plain(guard.stateValue, 'guard', place) }
  return plain(guard, 'guard', place)
}

/** The parts of XState's own actions that say what they do to whom; all are plain values or functions. */
const builtinParts = ['event', 'to', 'id', 'delay', 'sendId', 'src', 'actorRef']

const describeAction = (action: unknown, place: Place): unknown => {
  if (typeof action !== 'function' || !('type' in action)) return plain(action, 'action', place)
  const own = action as unknown as Record<string, unknown>
  return { builtin: own.type, ...Object.fromEntries(builtinParts.map((part) => [part, plain(own[part], part, place)])) }
}

/** What can be compared between two versions of a source; what cannot becomes a problem of its place, one for each value. */
const plain = (value: unknown, key: string, place: Place): unknown => {
  try {
    return named(value, key, [])
  } catch (thrown) {
    if (thrown instanceof Unsigned) return refuse(thrown.key, thrown.message, place)
    return refuse(key, `cannot be read: ${thrown instanceof Error ? thrown.message : 'it throws'}`, place)
  }
}

const refuse = (key: string, why: string, place: Place): null => {
  place.problems.push(`${place.name}: ${key} ${why}`)
  return null
}

class Unsigned extends Error {
  readonly key: string

  constructor(key: string, why: string) {
    super(why)
    this.key = key
  }
}

/** Names and plain data, never a function. @throws Unsigned */
const named = (value: unknown, key: string, around: readonly object[]): unknown => {
  if (typeof value === 'bigint' || typeof value === 'symbol') throw new Unsigned(key, `is a ${typeof value}`)
  if (typeof value === 'function') return 'inline'
  if (typeof value !== 'object' || value === null) return value
  if (isMachine(value)) return 'inline'
  if (around.includes(value)) throw new Unsigned(key, 'contains itself')
  // Said before the stack overflows, and of the place where it begins: the whole path would be longer than a screen.
  if (around.length >= depthMax) throw new Unsigned(key.split(/[.[]/, 1)[0] ?? key, `is nested deeper than ${depthMax} levels`)
  const inside = [...around, value]
  if (Array.isArray(value)) return value.map((part, index) => named(part, `${key}[${index}]`, inside))
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, named(part, `${key}.${name}`, inside)]))
}

const ids = (nodes: readonly AnyStateNode[]): string[] => nodes.map((node) => node.id)
const list = (value: unknown): unknown[] => (value === undefined ? [] : Array.isArray(value) ? value : [value])

const byName = ([a]: [string, unknown], [b]: [string, unknown]): number => (a < b ? -1 : 1)

/** Keys sorted, so that the order in which an author wrote them does not count. */
const canonical = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(canonical)
  if (!value || typeof value !== 'object') return value
  return Object.fromEntries(
    Object.entries(value)
      .sort(byName)
      .map(([key, part]) => [key, canonical(part)]),
  )
}
