/** Copies what crosses the edge of a root, so that the journal, the machine and the sender never share a mutable object. */
import { isRuntimeError, RuntimeError } from '../contracts/errors.ts'

export const depthMax = 100
/** Characters and bytes of one input together. */
export const inputSizeMax = 4 * 1024 * 1024

const refuse = (path: string, why: string, hint: string, code: 'bad_request' | 'too_large' = 'bad_request') =>
  new RuntimeError(code, `${path || 'the value'} ${why}`, { field: path, hint })

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
  const named = { ...error, ...(code === undefined ? {} : { code }), ...(cause === undefined ? {} : { cause }) }
  for (const [key, value] of Object.entries(named)) {
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

/** {@link plainCopy} with its size, roughly in bytes. */
export const measuredCopy = <T>(value: T): { copy: T; size: number } => {
  let size = 0
  const open: object[] = []
  const grow = (by: number, path: string): void => {
    size += by
    if (size > inputSizeMax)
      throw refuse(path, `is larger than ${inputSizeMax} characters and bytes`, 'store it elsewhere and pass a reference', 'too_large')
  }
  const copyText = (text: string, path: string): string => {
    grow(text.length + 1, path)
    return text.isWellFormed() ? text : text.toWellFormed()
  }
  const copyError = (error: Error, path: string): Error => {
    const depth = open.length
    const keep = (part: unknown, key: string): unknown => {
      try {
        return copy(part, `${path}.${key}`)
      } finally {
        open.length = depth
      }
    }
    if (!isRuntimeError(error)) return errorFrom(errorParts(error, keep))
    const { data, ...body } = error.toJSON()
    const kept = data && errorParts(Object.assign(new Error(), { data }), keep).properties.data
    return RuntimeError.from(kept ? { ...body, data: kept as Record<string, unknown> } : body)
  }
  const copyRecord = (part: object, path: string): Record<string, unknown> => {
    const prototype = Object.getPrototypeOf(part)
    if (prototype !== Object.prototype && prototype !== null && Object.getPrototypeOf(prototype) !== null)
      throw refuse(
        path,
        `is an instance of ${prototype.constructor?.name ?? 'a class'}, which would come back as something else`,
        'pass plain data instead',
      )
    const target: Record<string, unknown> = {}
    for (const key in part) {
      if (key === '__proto__') throw refuse(path, 'has a key named __proto__', 'rename the key')
      target[copyText(key, path)] = copy((part as Record<string, unknown>)[key], path === '' ? key : `${path}.${key}`)
    }
    return target
  }
  const copyObject = (part: object, path: string): unknown => {
    if (part instanceof Date) return new Date(part)
    if (part instanceof Error) return copyError(part, path)
    if (part instanceof Uint8Array) {
      grow(part.byteLength, path)
      return new Uint8Array(part)
    }
    if (!Array.isArray(part)) return copyRecord(part, path)
    grow(part.length, path)
    return Array.from(part, (item, index) => copy(item, `${path}[${index}]`))
  }
  const copy = (part: unknown, path: string): unknown => {
    if (typeof part === 'string') return copyText(part, path)
    grow(typeof part === 'number' ? 9 : 1, path)
    // Minus zero comes back from a journal as zero.
    if (typeof part === 'number') return part === 0 ? 0 : part
    if (typeof part === 'boolean' || part === undefined || part === null) return part
    if (typeof part !== 'object')
      throw refuse(path, `is a ${typeof part}, which cannot be journalled`, 'pass plain data: JSON, Date, Uint8Array, Error')
    if (open.length > depthMax) throw refuse(path, `is nested deeper than ${depthMax} levels`, 'flatten it')
    if (open.includes(part)) throw refuse(path, 'contains itself', 'break the circle before sending')
    open.push(part)
    const copied = copyObject(part, path)
    open.pop()
    return copied
  }
  return { copy: copy(value, '') as T, size }
}

/** Whether a value would come back from the journal as it is now; a machine whose context fails this is rebuilt from its log, not from snapshots. */
export const isPlain = (value: unknown): boolean => {
  try {
    plainCopy(value)
    return true
  } catch {
    return false
  }
}
