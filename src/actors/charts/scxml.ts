/**
 * A machine as SCXML (https://www.w3.org/TR/scxml/). Its root is the one state of the document, beside an end that stands for the end of the machine.
 * Guards and delays that only the author's code knows are values in the data model: whoever runs it sets `guards["name"]` and `delays["name"]`.
 * Actions are said by `log`; those that raise, send or cancel do so. Data is left out: context, params, input, output.
 */
import type { AnyStateMachine, AnyStateNode, StateValue } from 'xstate'
import { type ChartNode, chart, nodesOf } from './chart.ts'
import { actionName, guardName } from './names.ts'
import { ScxmlNames } from './scxml-names.ts'
import { element, literal, toXml, type XmlElement } from './xml.ts'

export const toScxml = (machine: AnyStateMachine): string => toXml(new ScxmlWriter(machine).document())

/** What SCXML has no word for: names as the author wrote them, descriptions, tags. */
const namespace = 'urn:statecast:chart'

type Transition = {
  target?: readonly AnyStateNode[] | undefined
  guard?: unknown
  actions: readonly unknown[]
  reenter?: boolean | undefined
  delay?: number | string | undefined
  description?: string | undefined
}

class ScxmlWriter {
  readonly #machine: AnyStateMachine
  readonly #names: ScxmlNames
  readonly #nodes: Map<string, ChartNode>
  readonly #guards = new Set<string>()
  readonly #delays = new Set<string>()

  constructor(machine: AnyStateMachine) {
    this.#machine = machine
    this.#names = new ScxmlNames(machine)
    this.#nodes = new Map([...nodesOf(chart(machine).root)].map((node) => [node.id, node]))
  }

  document(): XmlElement {
    const { root } = this.#machine
    const id = this.#names.state(root.id)
    const end = this.#names.unique('end')
    const state = this.#state(root)
    const done = `done.state.${id}`
    state.children.push(element('transition', { event: done, cond: this.#names.exactly(done)[0], target: end }))
    const attributes = {
      xmlns: 'http://www.w3.org/2005/07/scxml',
      'xmlns:sc': namespace,
      version: '1.0',
      datamodel: 'ecmascript',
      name: id.replace(/\W/g, '_'),
      initial: id,
    }
    const data = [this.#values('guards', this.#guards, 'false'), this.#values('delays', this.#delays, '"1s"')].filter((one) => one !== undefined)
    return element('scxml', attributes, [data.length > 0 ? element('datamodel', {}, data) : undefined, state, element('final', { id: end })])
  }

  /** One object with a value for each name; all are what they are until somebody says otherwise. */
  #values(id: string, names: Set<string>, value: string): XmlElement | undefined {
    const fields = [...names].map((name) => `${literal(name)}: ${value}`)
    return names.size === 0 ? undefined : element('data', { id, expr: `{${fields.join(', ')}}` })
  }

  #state(node: AnyStateNode): XmlElement {
    const drawn = this.#nodes.get(node.id) as ChartNode
    const id = this.#names.state(node.id)
    const original = { 'sc:original': id === node.id ? undefined : node.id, 'sc:key': node.key, 'sc:description': drawn.description }
    if (node.type === 'history') return this.#history(node, drawn, { id, type: drawn.history, ...original })
    const tags = drawn.tags.length > 0 ? drawn.tags.join(' ') : undefined
    const hooks = [...this.#hook('onentry', this.#entry(node)), ...this.#hook('onexit', this.#exit(node))]
    if (node.type === 'final') return element('final', { id, ...original, 'sc:tags': tags }, hooks)
    const actions = node.type === 'compound' ? node.initial.actions : []
    const initial = drawn.initial === undefined ? undefined : this.#names.state(drawn.initial)
    const first = actions.length > 0 ? element('initial', {}, [element('transition', { target: initial }, this.#contents(actions))]) : undefined
    return element(node.type === 'parallel' ? 'parallel' : 'state', { id, initial: first ? undefined : initial, ...original, 'sc:tags': tags }, [
      first,
      ...hooks,
      ...node.invoke.map((invoke, index) => this.#invoke(invoke.id, drawn.invoke[index]?.src ?? '')),
      ...this.#transitions(node),
      ...Object.values(node.states).map((child) => this.#state(child)),
    ])
  }

  /** SCXML wants to be told where it leads when there is no history yet: as in XState, to what its parent enters first. */
  #history(node: AnyStateNode, drawn: ChartNode, attributes: Record<string, string | undefined>): XmlElement {
    const parent = node.parent as AnyStateNode
    const entered = parent.type === 'parallel' ? Object.values(parent.states).filter(({ type }) => type !== 'history') : parent.initial.target
    const targets = drawn.transitions[0]?.targets ?? entered.map(({ id }) => id)
    return element('history', attributes, [element('transition', { target: this.#targets(targets) })])
  }

  #hook = (name: string, content: XmlElement[]): XmlElement[] => (content.length > 0 ? [element(name, {}, content)] : [])

  #entry(node: AnyStateNode): XmlElement[] {
    const timers = delayed(node).map(([type, delay]) =>
      element('send', { event: this.#names.event(type), id: this.#names.event(type), ...this.#delay(delay) }),
    )
    return [...this.#contents(list(node.config.entry)), ...timers]
  }

  #exit(node: AnyStateNode): XmlElement[] {
    const timers = delayed(node).map(([type]) => element('cancel', { sendid: this.#names.event(type) }))
    return [...timers, ...this.#contents(list(node.config.exit))]
  }

  #delay(delay: number | string): Record<string, string> {
    const known = typeof delay === 'number' ? delay : (this.#machine.implementations.delays as Record<string, unknown>)[delay]
    if (typeof known === 'number') return { delay: `${known}ms` }
    this.#delays.add(String(delay))
    return { delayexpr: `delays[${literal(String(delay))}]` }
  }

  #invoke(id: string, src: string): XmlElement {
    return element('invoke', {
      id: this.#names.actor(id),
      type: `${namespace}:actor`,
      src: `${namespace}:actor:${encodeURIComponent(wellFormed(src))}`,
      'sc:original': src,
    })
  }

  /** The longer name of an event first: so XState chooses among those that fit, and SCXML goes by the order in the document. */
  #transitions(node: AnyStateNode): XmlElement[] {
    const events = [...node.transitions].sort(([a], [b]) => b.length - a.length)
    return [
      ...(node.always ?? []).map((one) => this.#transition(node, undefined, one)),
      ...events.flatMap(([type, all]) => all.map((one) => this.#transition(node, type, one))),
    ]
  }

  #transition(node: AnyStateNode, type: string | undefined, { target, guard, actions, reenter, description }: Transition): XmlElement {
    const event = type === undefined ? undefined : this.#names.event(type)
    const conditions = [...(event === undefined ? [] : this.#names.exactly(event)), ...(guard === undefined ? [] : [this.#condition(guard)])]
    const [targets, inside] = this.#whereTo(node, target ?? [], reenter ?? false)
    const original = {
      'sc:original': type === event || type === undefined || type.startsWith('xstate.') ? undefined : type,
      'sc:description': description,
    }
    const cond = conditions.length > 0 ? conditions.join(' && ') : undefined
    return element('transition', { event, cond, target: targets, type: inside ? 'internal' : undefined, ...original }, this.#contents(actions))
  }

  /** @returns the targets, and whether the source stays active. What leads to its own source without entering it anew begins it again inside. */
  #whereTo(node: AnyStateNode, targets: readonly AnyStateNode[], reenter: boolean): [string | undefined, boolean] {
    if (targets.length === 0) return [undefined, false]
    const stays = !reenter && targets.every((target) => target === node || isInside(target, node))
    const reached = targets.flatMap((target) => (stays && target === node ? entered(node) : [target]))
    return reached.length === 0 ? [undefined, false] : [this.#targets(reached.map(({ id }) => id)), stays && node.type === 'compound']
  }

  #targets = (ids: string[]): string => ids.map((id) => this.#names.state(id)).join(' ')

  #condition(guard: unknown): string {
    const { guards, stateValue } = typeof guard === 'function' ? (guard as unknown as { guards?: unknown[]; stateValue?: StateValue }) : {}
    if (Array.isArray(guards)) {
      const parts = guards.map((part) => this.#condition(part))
      const { name } = guard as { name: string }
      return name === 'not' ? `!(${parts.join()})` : `(${parts.join(name === 'or' ? ' || ' : ' && ')})`
    }
    if (stateValue !== undefined) return this.#isIn(stateValue)
    this.#guards.add(guardName(guard))
    return `guards[${literal(guardName(guard))}]`
  }

  #isIn(value: StateValue): string {
    const ids =
      typeof value === 'string' && value.startsWith('#') ? [this.#machine.getStateNodeById(value.slice(1)).id] : innermost(this.#machine.root, value)
    return `(${ids.map((id) => `In('${this.#names.state(id)}')`).join(' && ')})`
  }

  #contents = (actions: readonly unknown[]): XmlElement[] => actions.flatMap((action) => this.#content(action))

  #content(action: unknown): XmlElement[] {
    const name = actionName(action)
    const known = typeof action === 'function' ? action : (this.#machine.implementations.actions as Record<string, unknown>)[name]
    return [element('log', { label: 'action', expr: literal(name) }), ...this.#builtin(known)]
  }

  /** What XState's own actions do, where that is written down; what a function works out is said by its name alone. */
  #builtin(action: unknown): XmlElement[] {
    const { type, event, delay, id, sendId, to } = (typeof action === 'function' ? action : {}) as Record<string, unknown>
    const name = typeof event === 'object' && event !== null && 'type' in event ? this.#names.event(String(event.type)) : undefined
    if (type === 'xstate.cancel' && typeof sendId === 'string') return [element('cancel', { sendid: sendId })]
    if (name === undefined) return []
    if (type === 'xstate.raise' && delay === undefined) return [element('raise', { event: name })]
    const later = typeof delay === 'number' || typeof delay === 'string' ? this.#delay(delay) : undefined
    if (type === 'xstate.raise') return later ? [element('send', { event: name, id: typeof id === 'string' ? id : undefined, ...later })] : []
    if (type === 'xstate.sendTo' && typeof to === 'string') return [element('send', { event: name, target: `#_${this.#names.actor(to)}`, ...later })]
    return []
  }
}

/** The timers of a state, each once. */
const delayed = (node: AnyStateNode): [string, number | string][] =>
  [...node.transitions].flatMap(([type, [first]]): [string, number | string][] => {
    const { delay } = (first ?? {}) as Transition
    return delay === undefined ? [] : [[type, delay]]
  })

/** What is entered with a state. */
const entered = (node: AnyStateNode): readonly AnyStateNode[] => {
  if (node.type === 'compound') return node.initial.target
  return node.type === 'parallel' ? Object.values(node.states).filter(({ type }) => type !== 'history') : []
}

const isInside = (node: AnyStateNode, outer: AnyStateNode): boolean => {
  for (let around = node.parent; around; around = around.parent) if (around === outer) return true
  return false
}

/** Ids of the innermost states that a value names. */
const innermost = (node: AnyStateNode, value: StateValue): string[] =>
  (typeof value === 'string' ? [[value, {}] as const] : Object.entries(value)).flatMap(([key, inner]) => {
    const child = node.states[key]
    if (!child) return []
    return typeof inner === 'string' || (inner && Object.keys(inner).length > 0) ? innermost(child, inner) : [child.id]
  })

const list = (value: unknown): unknown[] => (value === undefined ? [] : Array.isArray(value) ? value : [value])
const wellFormed = (text: string): string => text.replace(/\p{Cs}/gu, '�')
