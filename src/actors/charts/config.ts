/** A machine as its author wrote it, in JSON: names stand for functions, so that `createMachine` takes it back. */
import type { AnyStateMachine, AnyStateNode } from 'xstate'
import { actionName, guardName } from './names.ts'

type Json = string | number | boolean | null | Json[] | { [key: string]: Json }
type ConfigDocument = {
  /** What `createMachine` takes. */
  config: { [key: string]: Json }
  /**
   * Places where the author has written a function instead of a name, in the words of the path, as `states.a.on.go.guard`. A name was made up for
   * each from what it does: the chart is the same, the signature is not.
   */
  unnamed: string[]
}

/**
 * Functions that map data have no place in JSON: those of `params` become the word `inline`, as in the signature; those of `context`, `input`,
 * `output` and `types` are left out. With the implementations of the original, the machine made of it has the same chart and signature, as long
 * as nothing is `unnamed`.
 */
export const toConfig = (machine: AnyStateMachine): ConfigDocument => {
  const writer = new ConfigWriter()
  const config = writer.node(machine.root, '')
  if (machine.version !== undefined) config.version = machine.version
  return { config, unnamed: writer.unnamed }
}

type Parts = Record<string, unknown>
type Written = { [key: string]: Json }

/** Functions and types of TypeScript: they say what data is there, not what happens. */
const ofData = new Set(['context', 'input', 'output', 'types', 'schemas'])

class ConfigWriter {
  readonly unnamed: string[] = []

  node(node: AnyStateNode, path: string): Written {
    const config = node.config as Parts
    const at = (key: string): string => (path === '' ? key : `${path}.${key}`)
    const written: Written = path === '' && node.machine.config.id ? { id: node.machine.id } : {}
    for (const [key, value] of Object.entries(config)) {
      if (value === undefined) continue
      if (key === 'states') written.states = this.#states(node, at)
      else if (key === 'entry' || key === 'exit') written[key] = this.#actions(value, at(key))
      else if (key === 'on' || key === 'after') written[key] = this.#byEvent(value as Parts, at(key))
      else if (key === 'always' || key === 'onDone' || key === 'route') written[key] = this.#transitions(value, at(key))
      else if (key === 'invoke')
        written.invoke = list(value).map((invoke, index) => this.#invoke(node, invoke as Parts, index, at(`invoke.${index}`)))
      else if (key === 'initial' && typeof value === 'object') written.initial = this.#transition(value as Parts, at(key))
      else if (!ofData.has(key)) written[key] = jsonOf(value)
      else if (key !== 'types' && key !== 'schemas' && isPlain(value)) written[key] = jsonOf(value)
    }
    return written
  }

  #states(node: AnyStateNode, at: (key: string) => string): Written {
    return Object.fromEntries(Object.entries(node.states).map(([key, child]) => [key, this.node(child, at(`states.${key}`))]))
  }

  #byEvent = (events: Parts, path: string): Written =>
    Object.fromEntries(Object.entries(events).map(([event, value]) => [event, this.#transitions(value, `${path}.${event}`)]))

  /** What has no target, and nothing else, keeps an event from the states around: in JSON it is `{}`. */
  #transitions(value: unknown, path: string): Json {
    if (value === undefined || value === null) return {}
    if (typeof value === 'string') return value
    if (Array.isArray(value)) return value.map((one, index) => this.#transitions(one, `${path}.${index}`))
    return this.#transition(value as Parts, path)
  }

  #transition(value: Parts, path: string): Written {
    const written: Written = {}
    for (const [key, part] of Object.entries(value)) {
      if (part === undefined) continue
      if (key === 'guard') written.guard = this.#guard(part, `${path}.guard`)
      else if (key === 'actions') written.actions = this.#actions(part, `${path}.actions`)
      else written[key] = jsonOf(part)
    }
    return written
  }

  #actions = (value: unknown, path: string): Json =>
    Array.isArray(value) ? value.map((one, index) => this.#action(one, `${path}.${index}`)) : this.#action(value, path)
  #action = (action: unknown, path: string): Json => (typeof action === 'function' ? this.#named(actionName(action), path) : jsonOf(action))
  #guard = (guard: unknown, path: string): Json => (typeof guard === 'function' ? this.#named(guardName(guard), path) : jsonOf(guard))

  #named(name: string, path: string): string {
    this.unnamed.push(path)
    return name
  }

  /** Logic that stands in place gets the name that XState gives it, under which it is found in the implementations. */
  #invoke(node: AnyStateNode, invoke: Parts, index: number, path: string): Written {
    const written: Written = {}
    for (const [key, part] of Object.entries(invoke)) {
      if (part === undefined) continue
      if (key === 'src') written.src = typeof part === 'string' ? part : jsonOf(node.invoke[index]?.src)
      else if (key === 'onDone' || key === 'onError' || key === 'onSnapshot') written[key] = this.#transitions(part, `${path}.${key}`)
      else if (key !== 'input' || isPlain(part)) written[key] = jsonOf(part)
    }
    if (typeof invoke.src !== 'string') this.unnamed.push(`${path}.src`)
    return written
  }
}

const list = (value: unknown): unknown[] => (Array.isArray(value) ? value : [value])

const isPlain = (value: unknown): boolean =>
  typeof value !== 'function' && (typeof value !== 'object' || value === null || Object.values(value).every(isPlain))

/** Plain data; a function in it becomes the word that stands for it in the signature. */
const jsonOf = (value: unknown): Json => {
  if (typeof value === 'function') return 'inline'
  if (Array.isArray(value)) return value.map(jsonOf)
  if (typeof value === 'object' && value !== null)
    return Object.fromEntries(Object.entries(value).flatMap(([key, part]) => (part === undefined ? [] : [[key, jsonOf(part)]])))
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? value : null
}
