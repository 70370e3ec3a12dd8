/** Executable content of SCXML as actions of XState: what is in one `<onentry>`, `<onexit>` or `<transition>` runs until something in it fails. */
import { log, stateIn } from 'xstate'
import { type Data, type DataModel, eventProcessor, type Sight, session } from './data-model.ts'
import { type Element, elementsOf, textOf } from './parse-xml.ts'

type Anything = any
export type Context = { data: Data; sends: number }

/** A state may have dots in its name, which XState takes for a path. */
export const refTo = (id: string): string => `#${id.replaceAll('.', '\\.')}`

class Refused extends Error {
  readonly event: { type: string; sendid: string | undefined }
  constructor(type: string, sendid: string | undefined) {
    super(type)
    this.event = { type, sendid }
  }
}

/** JSON where it is JSON, else a text with its white space made even. */
const literalOf = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return text.trim().replace(/\s+/g, ' ')
  }
}

/** What `<content>`, `<param>` and `namelist` make of an event's data. */
export const payloadOf = (element: Element, see: (expression: string) => unknown): unknown => {
  const [content] = elementsOf(element, 'content')
  if (content) return content.attributes.expr === undefined ? literalOf(textOf(content)) : see(content.attributes.expr)
  const names = (element.attributes.namelist ?? '').split(/\s+/).filter(Boolean)
  const params = elementsOf(element, 'param').map(({ attributes: { name, expr, location } }) => [name, see(expr ?? location ?? 'undefined')])
  return names.length + params.length > 0 ? Object.fromEntries([...names.map((name) => [name, see(name)]), ...params]) : undefined
}

const millisecondsIn = (delay: string): number => Number.parseFloat(delay) * (delay.trim().endsWith('ms') ? 1 : 1000)

export class Content {
  readonly #model: DataModel
  /** Of `enqueueActions`. */
  readonly #args: Anything
  readonly #sight: Sight
  #sends: number

  constructor(model: DataModel, args: Anything) {
    const { data, sends } = args.context as Context
    this.#model = model
    this.#args = args
    this.#sight = { data: { ...data }, event: args.event, isActive: (id) => args.check(stateIn(refTo(id) as never)) }
    this.#sends = sends
  }

  run(elements: Element[]): void {
    const { enqueue } = this.#args
    try {
      for (const element of elements) this.#execute(element)
    } catch (error) {
      const event = error instanceof Refused ? error.event : { type: 'error.execution', data: String(error) }
      enqueue.raise({ ...event, kind: 'platform' })
    }
  }

  #see(expression: string): unknown {
    return this.#model.evaluate(expression, this.#sight)
  }

  /** An attribute, or the value of the expression that stands for it. */
  #given({ attributes }: Element, name: string): string | undefined {
    const expression = attributes[`${name}expr`]
    return expression === undefined ? attributes[name] : String(this.#see(expression))
  }

  #store(): void {
    this.#args.enqueue.assign({ data: { ...this.#sight.data }, sends: this.#sends })
  }

  #assign(location: string, value: unknown): void {
    this.#model.assign(location, value, this.#sight)
    this.#store()
  }

  #execute(element: Element): unknown {
    const { attributes } = element
    const { enqueue } = this.#args
    switch (element.name) {
      case 'data':
        return this.#declare(element)
      case 'assign':
        return this.#assign(attributes.location as string, attributes.expr === undefined ? literalOf(textOf(element)) : this.#see(attributes.expr))
      case 'script':
        this.#model.execute(textOf(element), this.#sight)
        return this.#store()
      case 'raise':
        return enqueue.raise({ type: attributes.event, kind: 'internal' })
      case 'send':
        return this.#send(element)
      case 'cancel':
        return enqueue.cancel(this.#given(element, 'sendid'))
      case 'log':
        return enqueue(log(`${attributes.label ?? ''}: ${String(this.#see(attributes.expr || 'undefined'))}`))
      case 'if':
        return this.#choose(element)
      case 'foreach':
        return this.#repeat(element)
      case 'donedata':
        // Its value is computed by the state's output, which has no way to say that this fails.
        return payloadOf(element, (expression) => this.#see(expression))
      default:
        throw new Error(`<${element.name}> is not known here`)
    }
  }

  /** With late binding a state may be entered again, which changes nothing. */
  #declare(element: Element): void {
    const { id = '', expr } = element.attributes
    const { data } = this.#sight
    if (id in data) return
    data[id] = undefined
    this.#store()
    if (expr !== undefined) data[id] = this.#see(expr)
    else if (element.children.length > 0) data[id] = literalOf(textOf(element))
    this.#store()
  }

  #choose({ attributes, children }: Element): void {
    let isTaken = Boolean(this.#see(attributes.cond as string))
    for (const child of children) {
      if (typeof child === 'string') continue
      const isBranch = child.name === 'elseif' || child.name === 'else'
      if (isBranch && isTaken) return
      if (isBranch) isTaken = child.name === 'else' || Boolean(this.#see(child.attributes.cond as string))
      else if (isTaken) this.#execute(child)
    }
  }

  #repeat(element: Element): void {
    const { array = '', item = '', index } = element.attributes
    const list = this.#see(array)
    if (!Array.isArray(list)) throw new TypeError(`${array} is not a list`)
    const names = index === undefined ? [item] : [item, index]
    if (!names.every((name) => /^[A-Za-z_$][\w$]*$/.test(name))) throw new TypeError(`${names.join()} cannot be names`)
    for (const [place, value] of [...list].entries()) {
      this.#sight.data[item] = value
      if (index !== undefined) this.#sight.data[index] = place
      this.#store()
      for (const child of elementsOf(element)) this.#execute(child)
    }
  }

  #send(element: Element): void {
    const { enqueue, self } = this.#args
    const { id, idlocation } = element.attributes
    const own = `send.${++this.#sends}`
    this.#store()
    if (idlocation !== undefined) this.#assign(idlocation, own)
    const sendid = id ?? (idlocation === undefined ? undefined : own)
    const target = this.#given(element, 'target')
    const type = this.#given(element, 'type') ?? eventProcessor
    if (type !== eventProcessor && type !== 'scxml') throw new Refused('error.execution', sendid)
    const event = { type: this.#given(element, 'event'), sendid, data: payloadOf(element, (expression) => this.#see(expression)) }
    const delay = millisecondsIn(this.#given(element, 'delay') ?? '0')
    if (target === '#_internal') enqueue.raise({ ...event, kind: 'internal' })
    else if (target === undefined || target === session)
      // Without a delay as well, an event to oneself comes from outside: later than all that the machine does by itself.
      enqueue.sendTo(self, { ...event, kind: 'external', origin: session, origintype: eventProcessor }, { id: id ?? own, delay })
    else throw new Refused(target.startsWith('#_scxml_') ? 'error.communication' : 'error.execution', sendid)
  }
}
