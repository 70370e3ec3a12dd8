/** Where two values differ, by what they hold: a state and the same state after a replay are never one object. */
import { Actor } from 'xstate'
import { sameBytes } from '../../contracts/bytes.ts'

export type ValueDifference = { place: string; values: [unknown, unknown] }

/**
 * The order of keys of an object does not count, that of a Map or a Set does, as it does in bytes. A property that is undefined is as good as none.
 * @param place of both, in the words of an author @param seen what was compared before: parts may know each other
 */
export const firstDifference = (a: unknown, b: unknown, place: string, seen = new Set<unknown>()): ValueDifference | undefined => {
  // Minus zero comes back from a journal as zero.
  if (a === b || Object.is(a, b)) return undefined
  const different = { place, values: [a, b] as [unknown, unknown] }
  // A reference to an actor is the actor of that name, in either tree.
  if (a instanceof Actor && b instanceof Actor) return a.id === b.id ? undefined : different
  // A function that is made anew each time is another object, and does the same.
  if (typeof a === 'function' && typeof b === 'function') return String(a) === String(b) ? undefined : different
  if (!isComparable(a) || !isComparable(b) || kindOf(a) !== kindOf(b)) return different
  if (seen.has(a)) return undefined
  seen.add(a)
  if (isBytes(a) && isBytes(b)) return sameBytes(bytesOf(a), bytesOf(b)) ? undefined : different
  const [left, right] = [insideOf(a), insideOf(b)]
  if (left.length !== right.length) return different
  for (const [index, part] of left.entries()) if (firstDifference(part, right[index], place, seen)) return different
  const [ours, others] = [a as Record<string, unknown>, b as Record<string, unknown>]
  for (const key of new Set([...Object.keys(a), ...Object.keys(b)])) {
    const found = firstDifference(ours[key], others[key], place === '' ? key : `${place}.${key}`, seen)
    if (found) return found
  }
  return undefined
}

/** Nothing can be seen of what these hold. */
const opaque = [Promise, WeakMap, WeakSet, WeakRef]

const isComparable = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !opaque.some((Class) => value instanceof Class)

/** Its class; a plain object may have none. */
const kindOf = (value: object): unknown => Object.getPrototypeOf(value) ?? Object.prototype

/** What an object holds besides its properties. */
const insideOf = (value: object): unknown[] => {
  if (Array.isArray(value)) return [value.length]
  if (value instanceof Map || value instanceof Set) return [...value]
  if (value instanceof RegExp) return [String(value), value.lastIndex]
  if (value instanceof Error) return [value.name, value.message, value.cause]
  return boxes.some((Class) => value instanceof Class) ? [value.valueOf()] : []
}

const boxes = [Date, Number, String, Boolean, BigInt, Symbol]

type Bytes = ArrayBuffer | ArrayBufferView
const isBytes = (value: object): value is Bytes => value instanceof ArrayBuffer || ArrayBuffer.isView(value)

const bytesOf = (value: Bytes): Uint8Array =>
  value instanceof ArrayBuffer ? new Uint8Array(value) : new Uint8Array(value.buffer, value.byteOffset, value.byteLength)
