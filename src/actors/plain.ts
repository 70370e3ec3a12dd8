/** Copies what crosses the edge of a root, so that the journal, the machine and the sender never share a mutable object. */
import { RuntimeError } from '../contracts/errors.ts'

export const depthMax = 100
/** Characters and bytes of one input together. */
export const inputSizeMax = 4 * 1024 * 1024

const refuse = (path: string, why: string, hint: string, code: 'bad_request' | 'too_large' = 'bad_request') =>
  new RuntimeError(code, `${path || 'the value'} ${why}`, { field: path, hint })

/**
 * A deep copy of plain data: JSON, and undefined, Date, Uint8Array and Error.
 * @throws RuntimeError bad_request (functions, class instances, circles, `__proto__` …), too_large; both name the place
 */
export const plainCopy = <T>(value: T): T => {
  let size = 0
  const open: object[] = []
  const copy = (part: unknown, path: string): unknown => {
    switch (typeof part) {
      case 'string':
        size += part.length
        if (size > inputSizeMax)
          throw refuse(path, `is larger than ${inputSizeMax} characters`, 'store it elsewhere and pass a reference', 'too_large')
        return part
      case 'number':
      case 'boolean':
      case 'undefined':
        return part
      case 'object':
        break
      default:
        throw refuse(path, `is a ${typeof part}, which cannot be journalled`, 'pass plain data: JSON, Date, Uint8Array, Error')
    }
    if (part === null) return null
    if (open.length > depthMax) throw refuse(path, `is nested deeper than ${depthMax} levels`, 'flatten it')
    if (open.includes(part)) throw refuse(path, 'contains itself', 'break the circle before sending')
    if (part instanceof Date) return new Date(part)
    if (part instanceof Uint8Array) {
      size += part.byteLength
      if (size > inputSizeMax) throw refuse(path, `is larger than ${inputSizeMax} bytes`, 'store it elsewhere and pass a reference', 'too_large')
      return new Uint8Array(part)
    }
    if (part instanceof Error) return part
    open.push(part)
    let result: unknown
    if (Array.isArray(part)) {
      result = part.map((item, index) => copy(item, `${path}[${index}]`))
    } else {
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
        target[key] = copy((part as Record<string, unknown>)[key], path === '' ? key : `${path}.${key}`)
      }
      result = target
    }
    open.pop()
    return result
  }
  return copy(value, '') as T
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
