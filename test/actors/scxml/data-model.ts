/** The data model `ecmascript` of SCXML: expressions of a document, evaluated over the context of its machine. */
import { compileFunction } from 'node:vm'

type Anything = any
export type Data = Record<string, unknown>
/** What an expression sees. */
export type Sight = { data: Data; event: Anything; isActive: (id: string) => boolean }

export const eventProcessor = 'http://www.w3.org/TR/scxml/#SCXMLEventProcessor'
export const session = '#_scxml_session'

/** Kept, since a document may ask whether two of them are the same. */
const events = new WeakMap<object, unknown>()
/** Events of XState by their names in SCXML, with the fields that each of them has there. */
const eventOf = (event: Anything): unknown => {
  if (event.type === 'xstate.init') return undefined
  if (!events.has(event)) events.set(event, made(event))
  return events.get(event)
}
const made = ({ type, kind, sendid, origin, origintype, data, output }: Anything): unknown => ({
  name: type.replace(/^xstate\.done\./, 'done.'),
  type: kind ?? (type.startsWith('xstate.') ? 'platform' : 'external'),
  sendid,
  origin,
  origintype,
  invokeid: undefined,
  data: data ?? output,
})

export class DataModel {
  readonly #declared: Set<string>
  readonly #fixed: Data
  readonly #compiled = new Map<string, (scope: object, value?: unknown) => unknown>()
  #sight: Sight = { data: {}, event: undefined, isActive: () => false }

  /** @param declared what the document declares: it is there from the beginning, at first without a value @param name of the document */
  constructor(declared: string[], name: string | undefined) {
    this.#declared = new Set(declared)
    const location = { location: session }
    this.#fixed = { _sessionid: session.replace('#_scxml_', ''), _name: name, _ioprocessors: { [eventProcessor]: location, scxml: location } }
  }

  /** @throws whatever the expression throws */
  evaluate(expression: string, sight: Sight): unknown {
    return this.#run(`return (${expression.trim().replace(/;$/, '')}\n)`, sight)
  }

  /** Statements, which may add to the data. */
  execute(script: string, sight: Sight): void {
    this.#run(script, sight)
  }

  /** @throws ReferenceError for a place that is not there */
  assign(location: string, value: unknown, sight: Sight): void {
    const [root = ''] = location.trim().split(/[.[]/, 1)
    if (!this.#declared.has(root) && !(root in sight.data)) throw new ReferenceError(`there is no ${root}`)
    this.#run(`${location} = $value`, sight, value)
  }

  #run(code: string, sight: Sight, value?: unknown): unknown {
    let compiled = this.#compiled.get(code)
    if (!compiled) {
      compiled = compileFunction(`with ($scope) { ${code}\n }`, ['$scope', '$value']) as (scope: object, value?: unknown) => unknown
      this.#compiled.set(code, compiled)
    }
    // Functions that a script has left in the data see what is there when they are called.
    this.#sight = sight
    return compiled(this.#scope, value)
  }

  readonly #scope = new Proxy(
    {},
    {
      has: (_, name) => typeof name === 'string' && name !== '$value' && (this.#isOurs(name) || !(name in globalThis)),
      get: (_, name) => (typeof name === 'string' ? this.#read(name) : undefined),
      set: (_, name, value) => {
        if (typeof name !== 'string' || this.#isSystem(name)) throw new TypeError(`${String(name)} cannot be changed`)
        this.#sight.data[name] = value
        return true
      },
    },
  )

  #isSystem(name: string): boolean {
    return name in this.#fixed || name === '_event' || name === 'In'
  }

  #isOurs(name: string): boolean {
    return this.#isSystem(name) || name in this.#sight.data || this.#declared.has(name)
  }

  #read(name: string): unknown {
    const { data, event, isActive } = this.#sight
    if (name === '_event') return eventOf(event)
    if (name === 'In') return isActive
    if (!this.#isOurs(name)) throw new ReferenceError(`${name} is not defined`)
    return name in this.#fixed ? this.#fixed[name] : data[name]
  }
}
