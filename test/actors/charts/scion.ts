/** SCION, an interpreter of SCXML that shares nothing with XState: it reads our documents and says which states are active. */
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { compileFunction, createContext, runInContext } from 'node:vm'
import { xmlText } from '../../../src/actors/charts/shown-text.ts'
import { literal } from '../../../src/actors/charts/xml.ts'

type Session = {
  start(): unknown
  gen(event: { name: string }): void
  getFullConfiguration(): string[]
  on(name: string, listener: (problem: unknown) => void): void
}
type Model = { prepare(done: (error: unknown, factory: unknown) => void, options?: object): void }
type Scion = {
  documentStringToModel(url: null, document: string, done: (error: unknown, model: Model) => void): void
  core: { Statechart: new (factory: unknown, options: object) => Session }
}

/** What its bundle expects of the build that nobody needs any more: generators in the dress of 2015. */
const regeneratorRuntime = {
  mark: <Value>(value: Value): Value => value,
  wrap: (step: (state: Frame) => unknown): Iterator<unknown> => {
    const frame = new Frame()
    return { next: () => frame.advance(step) }
  },
}

class Frame {
  prev: number | string = 0
  next: number | string = 0
  #inner: Iterator<unknown> | undefined
  #ended = false

  stop(): undefined {
    this.#ended = true
  }

  delegateYield(inner: Iterator<unknown>, _: string, next: number): typeof goOn {
    this.#inner = inner
    this.next = next
    return goOn
  }

  advance(step: (state: Frame) => unknown): IteratorResult<unknown> {
    for (;;) {
      const inner = this.#inner?.next()
      if (inner && !inner.done) return inner
      this.#inner = undefined
      const value = step(this)
      if (this.#ended) return { done: true, value: undefined }
      if (value !== goOn) return { done: false, value }
    }
  }
}
const goOn = Symbol('go on')

/** A clock that stands still until it is told. */
export class VirtualTimers {
  #now = 0
  #last = 0
  readonly #timers = new Map<number, { at: number; run: () => void }>()

  readonly setTimeout = (run: () => void, ms = 0): number => {
    this.#timers.set(++this.#last, { at: this.#now + ms, run })
    return this.#last
  }
  readonly clearTimeout = (id: number): void => void this.#timers.delete(id)

  advance(ms: number): void {
    const end = this.#now + ms
    for (;;) {
      const [due] = [...this.#timers].filter(([, { at }]) => at <= end).sort(([a, one], [b, other]) => one.at - other.at || a - b)
      if (!due) break
      this.#now = due[1].at
      this.#timers.delete(due[0])
      due[1].run()
    }
    this.#now = end
  }
}

/** Where it evaluates expressions: its bundle takes a frame of a page for that. */
const page = {
  body: { appendChild: () => undefined },
  createElement: () => {
    const contentWindow: Record<string, unknown> = createContext({})
    contentWindow.eval = (code: string): unknown => runInContext(code, contentWindow)
    return { contentWindow }
  },
}

/** What it invokes never says anything: the tests do that. */
const invokers = { 'urn:statecast:chart:actor': (): void => undefined }

const bundle = compileFunction(readFileSync(createRequire(import.meta.url).resolve('scxml/dist/scxml.js'), 'utf8'), [
  'module',
  'exports',
  'regeneratorRuntime',
  'setTimeout',
  'clearTimeout',
  'console',
  'document',
])
const errorOf = (problem: unknown): Error => (problem instanceof Error ? problem : new Error(String(problem)))

export type Played = {
  send(event: string): void
  advance(ms: number): void
  /** Ids of all active states, in alphabetical order. */
  active(): string[]
  /** What the engine had to complain about. */
  problems: string[]
}

/** @param guards what the named guards say @throws what SCION refuses to read */
export const playScxml = async (document: string, guards: Record<string, boolean> = {}): Promise<Played> => {
  const timers = new VirtualTimers()
  // Without a delay it is not a timer: so its bundle does something soon.
  const soonOrLater = (run: () => void, ms = 0): number => {
    if (ms > 0) return timers.setTimeout(run, ms)
    queueMicrotask(run)
    return 0
  }
  const module = { exports: {} as Scion }
  const quiet = { log: () => undefined, warn: () => undefined, error: () => undefined }
  bundle(module, module.exports, regeneratorRuntime, soonOrLater, timers.clearTimeout, quiet, page)
  const scion = module.exports
  const said = `{${Object.entries(guards)
    .map(([name, value]) => `${literal(name)}: ${value}`)
    .join(', ')}}`
  const set = document
    .replace(/<data id="guards" expr="[^"]*"\/>/, () => `<data id="guards" expr="${xmlText(said)}"/>`)
    // It invokes nothing, so nobody is there to be sent anything.
    .replace(/<send [^>]*target="#_[^>]*\/>/g, '')
  const model = await new Promise<Model>((done, fail) =>
    scion.documentStringToModel(null, set, (error, made) => (error ? fail(errorOf(error)) : done(made))),
  )
  const factory = await new Promise<unknown>((done, fail) =>
    model.prepare((error, made) => (error ? fail(errorOf(error)) : done(made)), { console: quiet }),
  )
  const problems: string[] = []
  const session = new scion.core.Statechart(factory, { console: quiet, invokers })
  session.on('onError', (problem) => problems.push(JSON.stringify(problem)))
  session.start()
  return {
    send: (event) => session.gen({ name: event }),
    advance: (ms) => timers.advance(ms),
    active: () => session.getFullConfiguration().sort(),
    problems,
  }
}
