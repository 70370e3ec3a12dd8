/** Plain data: JSON, and undefined, Date, Uint8Array and Error. It is what a journal gives back as it was. */

import { constants } from './constant.ts'
import { isRuntimeError } from './errors.ts'

/** Levels of nesting. */
export const depthMax = 100

/** More parts than that are no tree: where parts know each other there are more ways from one to another than anybody can go. */
const treeMax = 100_000

type Walk = { left: number; copies?: Map<object, unknown> }

/**
 * A copy to hand out: who changes it changes nothing here. Plain parts are copied, anything else (actors, instances of classes, constants) is the same object.
 * Unlike a copy for the journal it refuses nothing.
 */
export const detached = <T>(value: T): T => {
  if (typeof value !== 'object' || value === null) return value
  const walk: Walk = { left: treeMax }
  const copy = copyOf(value, walk, 0)
  // Then each part is copied once.
  return (walk.left < 0 ? copyOf(value, { left: Number.POSITIVE_INFINITY, copies: new Map() }, 0) : copy) as T
}

const copyOf = (value: unknown, walk: Walk, depth: number): unknown => {
  if (typeof value !== 'object' || value === null || depth > depthMax || constants.has(value)) return value
  const before = walk.copies?.get(value)
  if (before !== undefined) return before
  if (--walk.left < 0) return undefined
  if (Array.isArray(value)) {
    const copy: unknown[] = value.slice()
    walk.copies?.set(value, copy)
    for (let index = 0; index < copy.length; index++) copy[index] = copyOf(copy[index], walk, depth + 1)
    return copy
  }
  const prototype: unknown = Object.getPrototypeOf(value)
  if (prototype === Object.prototype || prototype === null) {
    const copy: Record<string, unknown> = {}
    walk.copies?.set(value, copy)
    for (const key of Object.keys(value)) if (key !== '__proto__') copy[key] = copyOf((value as Record<string, unknown>)[key], walk, depth + 1)
    return copy
  }
  if (prototype === Error.prototype || isRuntimeError(value)) return copyOfError(value as Error, walk, depth)
  if (value instanceof Date) return new Date(value)
  return value instanceof Uint8Array ? new Uint8Array(value) : value
}

/** An error as a journal gives it back has nothing but properties of its own. */
const copyOfError = (error: Error, walk: Walk, depth: number): Error => {
  const copy = Object.setPrototypeOf(new Error(error.message), Object.getPrototypeOf(error)) as Error
  walk.copies?.set(error, copy)
  for (const [key, property] of Object.entries(Object.getOwnPropertyDescriptors(error)))
    Object.defineProperty(copy, key, 'value' in property ? { ...property, value: copyOf(property.value, walk, depth + 1) } : property)
  return copy
}
