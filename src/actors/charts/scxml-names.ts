/** Ids and events in the letters that SCXML allows. */
import type { AnyStateMachine } from 'xstate'
import { nodesIn } from '../state-nodes.ts'
import { literal } from './xml.ts'

/** XState's own events under the names that SCXML has for them, or would have: it knows of no failed or speaking actor. */
const ownEvents = [
  ['xstate.done.actor.', 'done.invoke.'],
  ['xstate.error.actor.', 'error.invoke.'],
  ['xstate.snapshot.', 'snapshot.invoke.'],
  ['xstate.done.state.', 'done.state.'],
  ['xstate.after.', 'after.'],
] as const

export class ScxmlNames {
  /** States and invoked actors share one space of ids: in XML none may be there twice. */
  readonly #states = new Map<string, string>()
  readonly #actors = new Map<string, string>()
  readonly #taken = new Set<string>()
  /** The events of the machine, as SCXML calls them. */
  readonly #events: string[]

  constructor(machine: AnyStateMachine) {
    const nodes = [...nodesIn(machine.root)]
    for (const { id } of nodes) this.#states.set(id, this.unique(idOf(id)))
    for (const { invoke } of nodes) for (const { id } of invoke) if (!this.#actors.has(id)) this.#actors.set(id, this.unique(idOf(id)))
    this.#events = [
      ...nodes.flatMap((node) => [...node.transitions.keys()].map((type) => this.event(type))),
      ...[...this.#states.values()].map((id) => `done.state.${id}`),
      ...[...this.#actors.values()].map((id) => `done.invoke.${id}`),
    ]
  }

  unique(wanted: string): string {
    let id = wanted
    for (let count = 2; this.#taken.has(id); count++) id = `${wanted}_${count}`
    this.#taken.add(id)
    return id
  }

  state = (id: string): string => this.#states.get(id) ?? idOf(id)
  actor = (id: string): string => this.#actors.get(id) ?? idOf(id)

  event(type: string): string {
    for (const [prefix, name] of ownEvents)
      if (type.startsWith(prefix)) {
        const rest = type.slice(prefix.length)
        return name + (name === 'done.state.' ? this.state(rest) : name === 'after.' ? tokens(rest) : (this.#actors.get(rest) ?? tokens(rest)))
      }
    return tokens(type)
  }

  /** Says that no other event of this machine is meant: to SCXML `a` is also the beginning of `a.b`, to XState it is not. */
  exactly(event: string): string[] {
    const ambiguous = !event.endsWith('*') && this.#events.some((other) => other.startsWith(`${event}.`))
    return ambiguous ? [`_event.name === ${literal(event)}`] : []
  }
}

/** Letters, digits, `_`, `-` and `.`, a letter first. */
const idOf = (text: string): string => plain(text, /[^A-Za-z0-9_.-]/g).replace(/^(?![A-Za-z_])/, '_')

/** Words with dots between them, `*` alone or as the last one. */
const tokens = (text: string): string => {
  if (text === '*') return text
  const words = text.split('.')
  const open = words.at(-1) === '*'
  const name = (open ? words.slice(0, -1) : words).map((word) => plain(word, /[^A-Za-z0-9_-]/g) || '_').join('.')
  return open ? `${name}.*` : name
}

const plain = (text: string, others: RegExp): string => text.replace(others, (character) => `_${character.charCodeAt(0).toString(16)}_`)
