/** Copies what crosses the edge of a root, so that the journal, the machine and the sender never share a mutable object. */
import { constants } from '../../contracts/constant.ts'
import { definedOf } from '../../contracts/defined.ts'
import { isRuntimeError, RuntimeError } from '../../contracts/errors.ts'
import { depthMax } from '../../contracts/plain.ts'

/** Characters and bytes of one input together. */
export const inputSizeMax = 4 * 1024 * 1024

/** What of an error that is not ours stands in a journal: its name, message, cause and plain properties. Its class and its stack do not. */
export type ErrorParts = { name: string; message: string; properties: Record<string, unknown> }

export const errorFrom = ({ name, message, properties }: ErrorParts): Error => {
  const error = Object.assign(new Error(message), properties)
  const hide = (key: string, value: unknown) => Object.defineProperty(error, key, { value, configurable: true, writable: true, enumerable: false })
  if (name !== 'Error') hide('name', name)
  if ('cause' in properties) hide('cause', properties.cause)
  // A stack would differ in a replay.
  hide('stack', `${name}: ${message}`)
  return error
}

/** @param keep copies one property, or throws for what cannot be kept */
export const errorParts = (error: Error, keep: (value: unknown, key: string) => unknown = (value) => value): ErrorParts => {
  const { code, cause } = error as Error & { code?: unknown }
  const properties: Record<string, unknown> = {}
  const hidden = definedOf({ code, cause })
  for (const [key, value] of [...Object.entries(error), ...Object.entries(hidden)]) {
    if (key === 'name' || key === 'message' || key === 'stack' || key === '__proto__') continue
    try {
      properties[key] = keep(value, key)
    } catch {
      // An error that lost a property says more than a refusal to store it.
    }
  }
  return { name: String(error.name), message: String(error.message).toWellFormed(), properties }
}

/**
 * A deep copy of plain data: JSON, and undefined, Date, Uint8Array and Error; it is what the journal would give back.
 * @throws RuntimeError bad_request (functions, class instances, circles, `__proto__` …), too_large; both name the place
 */
export const plainCopy = <T>(value: T): T => measuredCopy(value).copy

/** A copy that nobody else holds, and its size, roughly in bytes. */
export type Measured<T> = { copy: T; size: number }

/** {@link plainCopy} with its size, and where half a character was replaced first: a journal is UTF-8, which has none. */
export const measuredCopy = <T>(value: T): Measured<T> & { replacedAt: string | undefined } => {
  const copier = new Copier()
  try {
    return { copy: copier.copy(value) as T, size: copier.size, replacedAt: copier.replacedAt }
  } catch (thrown) {
    throw isRuntimeError(thrown) ? thrown : copier.unreadable(thrown)
  }
}

/** {@link plainCopy} for what somebody outside has written, who can be told. @throws RuntimeError bad_request for half a character, too */
export const wholeCopy = <T>(value: T): Measured<T> => {
  const { copy, size, replacedAt: field } = measuredCopy(value)
  if (field === undefined) return { copy, size }
  throw new RuntimeError('bad_request', `${field || 'the value'} has half a character in it (a lone surrogate)`, {
    field,
    hint: 'send well-formed Unicode: a text that was cut between two UTF-16 units ends in such a half',
  })
}

/** What was found to be plain for ever: how large it is, and the deepest place at which it was found. */
const looked = new WeakMap<object, { size: number; depth: number }>()

/** One copy in the making. It keeps the keys on the way, and makes a path of them only for an error. */
class Copier {
  size = 0
  replacedAt: string | undefined
  readonly #open: object[] = []
  readonly #keys: (string | number)[] = []
  readonly #exact: boolean

  /** @param exact refuses what can be written down and comes back as something else: a Buffer, an error of its own class, what a pattern has matched */
  constructor(exact = false) {
    this.#exact = exact
  }

  copy(part: unknown): unknown {
    if (typeof part === 'string') return this.#text(part)
    this.#grow(typeof part === 'number' ? 9 : 1)
    // Minus zero comes back from a journal as zero.
    if (typeof part === 'number') return part === 0 ? 0 : part
    if (typeof part === 'boolean' || part === undefined || part === null) return part
    if (typeof part !== 'object')
      throw this.#refusal(`is a ${typeof part}, which cannot be journalled`, 'pass plain data: JSON, Date, Uint8Array, Error')
    if (this.#open.length > depthMax) throw this.#refusal(`is nested deeper than ${depthMax} levels`, 'flatten it')
    if (this.#open.includes(part)) throw this.#refusal('contains itself', 'break the circle before sending')
    if (this.#exact && constants.has(part)) return this.#constant(part)
    this.#open.push(part)
    const copied = this.#object(part)
    this.#open.pop()
    return copied
  }

  /** Who only asks whether it is plain needs no copy, and asks once of what never changes again. */
  #constant(part: object): object {
    const depth = this.#open.length
    const known = looked.get(part)
    if (known && known.depth >= depth) {
      this.#grow(known.size)
      return part
    }
    const before = this.size
    this.#open.push(part)
    this.#object(part)
    this.#open.pop()
    if (this.replacedAt === undefined) looked.set(part, { size: this.size - before, depth })
    return part
  }

  #at(key: string | number, part: unknown): unknown {
    this.#keys.push(key)
    const copied = this.copy(part)
    this.#keys.pop()
    return copied
  }

  #object(part: object): unknown {
    const prototype = Object.getPrototypeOf(part)
    if (prototype === Object.prototype || prototype === null) return this.#record(part as Record<string, unknown>)
    if (this.#exact && !isExact(part, prototype)) throw this.#refusal('would come back as something else', 'pass plain data instead')
    if (Array.isArray(part)) {
      this.#grow(part.length)
      return Array.from(part, (item, index) => this.#at(index, item))
    }
    if (part instanceof Date) return new Date(part)
    if (part instanceof Error) return this.#error(part)
    if (part instanceof Uint8Array) {
      this.#grow(part.byteLength)
      return new Uint8Array(part)
    }
    // A plain object of another realm.
    if (Object.getPrototypeOf(prototype) === null) return this.#record(part as Record<string, unknown>)
    const name = prototype.constructor?.name ?? 'a class'
    throw this.#refusal(`is an instance of ${name}, which would come back as something else`, 'pass plain data instead')
  }

  #record(part: Record<string, unknown>): Record<string, unknown> {
    const target: Record<string, unknown> = {}
    for (const key in part) {
      if (key === '__proto__') throw this.#refusal('has a key named __proto__', 'rename the key')
      target[this.#text(key)] = this.#at(key, part[key])
    }
    return target
  }

  #error(error: Error): Error {
    const [depth, length] = [this.#open.length, this.#keys.length]
    const keep = (part: unknown, key: string): unknown => {
      try {
        return this.#at(key, part)
      } finally {
        this.#open.length = depth
        this.#keys.length = length
      }
    }
    if (!isRuntimeError(error)) return errorFrom(errorParts(error, keep))
    const { data, ...body } = error.toJSON()
    const kept = data && errorParts(Object.assign(new Error(), { data }), keep).properties.data
    return RuntimeError.from(kept ? { ...body, data: kept as Record<string, unknown> } : body)
  }

  #text(text: string): string {
    this.#grow(text.length + 1)
    if (text.isWellFormed()) return text
    this.replacedAt ??= this.#path()
    return text.toWellFormed()
  }

  #grow(by: number): void {
    this.size += by
    if (this.size > inputSizeMax)
      throw this.#refusal(`is larger than ${inputSizeMax} characters and bytes`, 'store it elsewhere and pass a reference', 'too_large')
  }

  #path(): string {
    return this.#keys.reduce<string>((before, key) => (typeof key === 'number' ? `${before}[${key}]` : before === '' ? key : `${before}.${key}`), '')
  }

  /** To read it runs code that throws: a getter, a proxy. */
  unreadable(thrown: unknown): RuntimeError {
    return this.#refusal(`cannot be read: ${thrown instanceof Error ? thrown.message : 'it throws'}`, 'pass plain data, without getters that throw')
  }

  #refusal(why: string, hint: string, code: 'bad_request' | 'too_large' = 'bad_request'): RuntimeError {
    const path = this.#path()
    return new RuntimeError(code, `${path || 'the value'} ${why}`, { field: path, hint })
  }
}

const exactPrototypes: ReadonlySet<unknown> = new Set([Array.prototype, Date.prototype, Uint8Array.prototype, Error.prototype])

const isExact = (part: object, prototype: unknown): boolean =>
  (exactPrototypes.has(prototype) || isRuntimeError(part)) && (!Array.isArray(part) || Object.keys(part).length === part.length)

/** Whether a value would come back from the journal as it is now; a machine whose context fails this is rebuilt from its log, not from snapshots. */
export const isPlain = (value: unknown): boolean => {
  try {
    const copier = new Copier(true)
    copier.copy(value)
    return copier.replacedAt === undefined
  } catch {
    return false
  }
}
