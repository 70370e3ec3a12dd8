/** What of a value gets to another node: a context may hold anything, and a reader is given what can be written of it. */
import { errorFrom, errorParts } from '../actors/index.ts'
import { isRuntimeError } from '../contracts/errors.ts'
import { depthMax } from '../contracts/plain.ts'

const int64 = (value: bigint): boolean => BigInt.asIntN(64, value) === value

/** More parts than fit into a message: what knows itself in many ways has no end. */
const partsMax = 1_000_000

/** A copy as plain data. An actor is its name, as in a persisted snapshot of XState; a map is an object or a list of pairs; a function is left out. */
export const portable = (value: unknown): unknown => {
  let left = partsMax
  const copy = (part: unknown, above: readonly object[]): unknown => {
    if (typeof part === 'bigint') return int64(part) ? part : String(part)
    if (typeof part === 'function' || typeof part === 'symbol') return undefined
    if (typeof part !== 'object' || part === null) return part
    // Of a circle, once around.
    if (above.length > depthMax || above.includes(part) || --left < 0) return undefined
    const within = [...above, part]
    return ofObject(part, (inner) => copy(inner, within))
  }
  return copy(value, [])
}

const ofObject = (value: object, inner: (part: unknown) => unknown): unknown => {
  if (Array.isArray(value)) return Array.from(value, inner)
  if (value instanceof Date || value instanceof Uint8Array || isRuntimeError(value)) return value
  if (value instanceof Error) return errorFrom(errorParts(value, inner))
  if (value instanceof Map) {
    const entries = [...value].map(([key, part]) => [key, inner(part)] as const)
    return entries.every(([key]) => typeof key === 'string') ? Object.fromEntries(entries) : entries.map(([key, part]) => [inner(key), part])
  }
  if (value instanceof Set) return Array.from(value, inner)
  if (value instanceof RegExp) return String(value)
  if (ArrayBuffer.isView(value) && 'length' in value) return Array.from(value as Float64Array, inner)
  if (typeof (value as { toJSON?: unknown }).toJSON === 'function') return inner((value as { toJSON(): unknown }).toJSON())
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, inner(part)]))
}
