/**
 * A chart as Mermaid `stateDiagram-v2`, within what its layout draws without fault: an edge never leads from a composite into itself.
 * What belongs to a composite as a whole (its own handlers, entry, invoked actors) stands in a dashed box `name (anywhere)` inside it.
 */
import type { StateValue } from 'xstate'
import { activeNodes, type Chart, type ChartNode, type ChartTransition, nodesOf } from './chart.ts'
import { shownText } from './shown-text.ts'

type MermaidOptions = {
  /** Lights the innermost states of this value. */
  active?: StateValue
}

type Edge = { from: string; to: string; label: string }

export const toMermaid = (chart: Chart, { active }: MermaidOptions = {}): string => {
  const drawing = new Drawing(chart)
  const lit = active === undefined ? [] : [...activeNodes(chart.root, active)].filter((node) => node.states.length === 0)
  return drawing.draw(lit)
}

class Drawing {
  readonly #root: ChartNode
  readonly #nodes = new Map<string, ChartNode>()
  readonly #parents = new Map<string, ChartNode>()
  readonly #ids: Map<string, string>
  /** Composites that need their dashed box. */
  readonly #boxed = new Set<string>()
  /** Lines of text inside a state. */
  readonly #texts = new Map<string, string[]>()
  /** By the scope that must hold them: the parent of both ends, or '' for the outermost. */
  readonly #edges = new Map<string, Edge[]>()

  constructor({ root }: Chart) {
    this.#root = root
    for (const node of nodesOf(root)) {
      this.#nodes.set(node.id, node)
      for (const child of node.states) this.#parents.set(child.id, node)
    }
    this.#ids = mermaidIds([...this.#nodes.keys()])
    for (const node of this.#nodes.values()) this.#read(node)
  }

  draw(lit: ChartNode[]): string {
    // Mermaid splits regions only inside a state, and a machine without states is one itself.
    const wrapped = this.#root.type !== 'compound'
    const body = wrapped ? [`[*] --> ${this.#id(this.#root.id)}`, ...this.#state(this.#root)] : this.#inside(this.#root)
    const lines = [...body, ...this.#drawEdges('')]
    if (this.#boxed.size > 0)
      lines.push('classDef anywhere fill:none,stroke-dasharray:4 4', `class ${[...this.#boxed].map((id) => this.#box(id)).join(',')} anywhere`)
    if (lit.length > 0)
      lines.push('classDef active fill:#2563eb,stroke:#1e40af,color:#ffffff', `class ${lit.map(({ id }) => this.#id(id)).join(',')} active`)
    return `stateDiagram-v2\n${lines.map((line) => `  ${line}\n`).join('')}`
  }

  #read(node: ChartNode): void {
    const texts = [
      ...(node.entry.length > 0 ? [`entry ${actions(node.entry)}`] : []),
      ...node.invoke.map(({ id, src }) => plain(id === src || /^\d+\./.test(id) ? `invoke ${src}` : `invoke ${src} as ${id}`)),
    ]
    for (const transition of node.transitions) {
      const outward = transition.targets.filter((target) => target !== node.id)
      if (outward.length === 0) texts.push(`${label(transition)}${staying(transition)}`)
      for (const target of outward) this.#edge(node, target, transition)
    }
    if (node.exit.length > 0) texts.push(`exit ${actions(node.exit)}`)
    if (node.states.length > 0 && texts.length > 0) this.#boxed.add(node.id)
    this.#texts.set(node.id, texts)
  }

  #edge(node: ChartNode, target: string, transition: ChartTransition): void {
    const inward = this.#contains(node.id, target)
    if (inward) this.#boxed.add(node.id)
    const to = this.#contains(target, node.id) ? this.#firstInside(target) : this.#id(target)
    const scopeOf = (id: string) => this.#parents.get(id)?.id
    // A nested state named in an outer composite would be moved there by Mermaid; only the outermost level may name states of any depth.
    const inner = inward ? (scopeOf(target) === node.id ? node.id : '') : scopeOf(target) === scopeOf(node.id) ? (scopeOf(node.id) ?? '') : ''
    const parallel = this.#nodes.get(inner)?.type === 'parallel'
    const scope = parallel || inner === this.#root.id ? '' : inner
    const edges = this.#edges.get(scope) ?? []
    edges.push({ from: inward ? this.#box(node.id) : this.#id(node.id), to, label: label(transition) })
    this.#edges.set(scope, edges)
  }

  /** Leading back to a state around the source means entering it anew: what is entered first is where the arrow can point. */
  #firstInside(id: string): string {
    const initial = this.#nodes.get(id)?.initial
    if (initial !== undefined) return this.#id(initial)
    this.#boxed.add(id)
    return this.#box(id)
  }

  #contains(outer: string, inner: string): boolean {
    for (let node = this.#parents.get(inner); node; node = this.#parents.get(node.id)) if (node.id === outer) return true
    return false
  }

  #state(node: ChartNode): string[] {
    const id = this.#id(node.id)
    const name = node.type === 'history' ? (node.history === 'deep' ? 'H*' : 'H') : quoted(node.key)
    const head = `state "${name}" as ${id}`
    if (node.states.length > 0) return [`${head} {`, ...this.#inside(node).map((line) => `  ${line}`), '}']
    return [head, ...this.#lines(node, id), ...(node.type === 'final' ? [`${id} --> [*]`] : [])]
  }

  #inside(node: ChartNode): string[] {
    const box = this.#boxed.has(node.id)
      ? [`state "${quoted(node.key)} (anywhere)" as ${this.#box(node.id)}`, ...this.#lines(node, this.#box(node.id))]
      : []
    const children = node.states.map((child) => this.#state(child))
    if (node.type === 'parallel') {
      const regions = box.length > 0 ? [box, ...children] : children
      return regions.flatMap((region, index) => (index === 0 ? region : ['--', ...region]))
    }
    const first =
      node.initial === undefined ? [] : [`[*] --> ${this.#id(node.initial)}${node.initialActions ? ` : ${actions(node.initialActions)}` : ''}`]
    return [...first, ...children.flat(), ...box, ...(node === this.#root ? [] : this.#drawEdges(node.id))]
  }

  #lines = (node: ChartNode, id: string): string[] => (this.#texts.get(node.id) ?? []).map((text) => `${id} : ${text}`)
  #drawEdges = (scope: string): string[] => (this.#edges.get(scope) ?? []).map((edge) => `${edge.from} --> ${edge.to} : ${edge.label}`)
  #id = (id: string): string => this.#ids.get(id) ?? id
  #box = (id: string): string => `${this.#id(id)}__anywhere`
}

/** `EVENT [guard] / action, action` */
const label = ({ event, guard, actions: names }: ChartTransition): string =>
  plain(`${event === '*' ? 'any event' : event}${guard === undefined ? '' : ` [${guard}]`}${names.length === 0 ? '' : ` ${actions(names)}`}`)

const actions = (names: string[]): string => `/ ${plain(names.join(', '))}`

/** What is to be said of a transition that leads nowhere else; one without actions keeps an event from the handlers around. */
const staying = ({ targets, actions: names }: ChartTransition): string =>
  targets.length > 0 ? ' (enters again)' : names.length === 0 ? ' (ignored)' : ''

/** Text after a colon: `;` and line ends would cut it, `::` and a last colon confuse the parser, `<` is HTML, `%%` a comment. */
const plain = (text: string): string =>
  shownText(text.replace(/[;\r\n]+/g, ','))
    .replace(/:+(?=:|\s*$)/g, '')
    .replace(/</g, '‹')
    .replace(/>/g, '›')
    .replace(/%%+/g, '%')

const quoted = (text: string): string => plain(text).replace(/"/g, "'") || '(empty)'

/** Letters, digits and `_` only, none twice, none a word of the language. */
const mermaidIds = (ids: string[]): Map<string, string> => {
  const taken = new Set<string>()
  const unique = (id: string): string => {
    const base = id.replace(/[^A-Za-z0-9]/g, '_').replace(/^(?=\d)|^(?=(?:state|note|end|class|classDef|direction|fork|join|choice|as)$)/i, 's_')
    let name = base
    for (let count = 2; taken.has(name); count++) name = `${base}_${count}`
    taken.add(name)
    return name
  }
  return new Map(ids.map((id) => [id, unique(id)]))
}
