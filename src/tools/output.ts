/** What a tool returned, as plain JSON that a journal can hold, or a typed refusal that says why not. */
import { isRuntimeError, messageOf, RuntimeError } from '../contracts/errors.ts'
import { depthMax } from '../contracts/plain.ts'

/**
 * Copies a result into plain JSON: `undefined` alone becomes null and is dropped from objects, `toJSON` is honoured, numbers that JSON
 * lacks become null as in `JSON.stringify`. Sizes are counted on the way, so a result of 100 MB is refused without being written out.
 * @throws RuntimeError tool_output
 */
export const plainJson = (name: string, value: unknown, bytesMax: number): unknown => {
  const copier = new Copier(name, bytesMax)
  try {
    return copier.copy(value, '', 0)
  } catch (thrown) {
    if (isRuntimeError(thrown) && thrown.code === 'tool_output') throw thrown
    throw refused(name, `the result could not be read: ${messageOf(thrown).slice(0, 500)}`, 'return plain data', thrown)
  }
}

const refused = (name: string, problem: string, hint: string, cause?: unknown): RuntimeError =>
  new RuntimeError('tool_output', `tool "${name}": ${problem}`, { hint, cause })

class Copier {
  private readonly name: string
  private readonly bytesMax: number
  private bytes = 0
  /** The objects around the one at hand: meeting one again is a circle. */
  private readonly ancestors = new Set<object>()

  constructor(name: string, bytesMax: number) {
    this.name = name
    this.bytesMax = bytesMax
  }

  copy(value: unknown, key: string, depth: number): unknown {
    switch (typeof value) {
      case 'string':
        return this.text(value)
      case 'boolean':
        return this.count(value)
      case 'number':
        // A minus zero would be another value after it has been in the journal.
        return this.count(!Number.isFinite(value) ? null : value === 0 ? 0 : value)
      case 'undefined':
        return this.count(null)
      case 'object':
        return value === null ? this.count(null) : this.object(value, key, depth)
      default:
        throw refused(this.name, `${place(key)} is a ${typeof value}`, 'return plain data: text, numbers, booleans, lists and objects')
    }
  }

  private object(value: object, key: string, depth: number): unknown {
    if (isBinary(value)) throw refused(this.name, `${place(key)} is binary data`, 'return base64 text, or write a file and return its path')
    if (this.ancestors.has(value)) throw refused(this.name, `${place(key)} contains itself`, 'return a tree, not a graph')
    if (depth >= depthMax) throw refused(this.name, `the result is nested more than ${depthMax} levels deep`, 'return a flatter result')
    this.ancestors.add(value)
    const copied = this.members(value, key, depth)
    this.ancestors.delete(value)
    return copied
  }

  private members(value: object, key: string, depth: number): unknown {
    const { toJSON } = value as { toJSON?: unknown }
    if (typeof toJSON === 'function') return this.copy(toJSON.call(value, key), key, depth + 1)
    if (Array.isArray(value)) return this.list(value, key, depth)
    const prototype: unknown = Object.getPrototypeOf(value)
    // A second realm (node:vm) has an Object.prototype of its own; what lies one step below null is a plain object all the same.
    if (prototype !== null && Object.getPrototypeOf(prototype) !== null)
      throw refused(
        this.name,
        `${place(key)} is a ${value.constructor?.name ?? 'class instance'}`,
        'return a plain object, or give the class a toJSON()',
      )
    return this.record(value as Record<string, unknown>, key, depth)
  }

  private list(value: unknown[], key: string, depth: number): unknown[] {
    const copied: unknown[] = []
    this.add(2)
    for (let index = 0; index < value.length; index++) {
      if (index > 0) this.add(1)
      copied.push(this.copy(value[index], `${key}[${index}]`, depth + 1))
    }
    return copied
  }

  private record(value: Record<string, unknown>, key: string, depth: number): Record<string, unknown> {
    const copied: Record<string, unknown> = {}
    let isFirst = true
    this.add(2)
    for (const name of Object.keys(value)) {
      const inner = value[name]
      if (inner === undefined) continue
      if (name === '__proto__') throw refused(this.name, `${place(key)} has a key "__proto__"`, 'drop that key')
      this.add(isFirst ? 1 : 2)
      isFirst = false
      this.text(name)
      copied[name] = this.copy(inner, key === '' ? name : `${key}.${name}`, depth + 1)
    }
    return copied
  }

  private text(value: string): string {
    // A character is a byte or more: a text that is too long is refused before it is written out to be measured.
    this.add(value.length + 2)
    this.add(Buffer.byteLength(JSON.stringify(value)) - value.length - 2)
    return value
  }

  private count<Value extends number | boolean | null>(value: Value): Value {
    this.add(String(value).length)
    return value
  }

  private add(bytes: number): void {
    this.bytes += bytes
    if (this.bytes > this.bytesMax)
      throw refused(
        this.name,
        `the result has at least ${this.bytes} bytes; at most ${this.bytesMax} are allowed`,
        'return less (a part, a page, a summary) or raise outputBytesMax',
      )
  }
}

const place = (key: string): string => (key === '' ? 'the result' : `"${key.slice(0, 120)}" of the result`)

const isBinary = (value: object): boolean =>
  ArrayBuffer.isView(value) ||
  value instanceof ArrayBuffer ||
  value instanceof SharedArrayBuffer ||
  (typeof Blob !== 'undefined' && value instanceof Blob)
