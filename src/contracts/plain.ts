/** Plain data: JSON, and undefined, Date, Uint8Array and Error. It is what a journal gives back as it was. */

import { isRuntimeError } from './errors.ts'

/** Levels of nesting. */
export const depthMax = 100

/**
 * A copy to hand out: who changes it changes nothing here. Plain parts are copied, anything else (actors, instances of classes) is the same object.
 * Unlike a copy for the journal it refuses nothing.
 */
export const detached = <T>(value: T, depth = 0): T => {
  if (typeof value !== 'object' || value === null || depth > depthMax) return value
  if (Array.isArray(value)) return value.map((item) => detached(item, depth + 1)) as T
  const prototype: unknown = Object.getPrototypeOf(value)
  if (prototype === Object.prototype || prototype === null) {
    const copy: Record<string, unknown> = {}
    for (const key of Object.keys(value)) if (key !== '__proto__') copy[key] = detached((value as Record<string, unknown>)[key], depth + 1)
    return copy as T
  }
  if (prototype === Error.prototype || isRuntimeError(value)) return copyOfError(value as unknown as Error, depth) as T
  if (value instanceof Date) return new Date(value) as T
  return value instanceof Uint8Array ? (new Uint8Array(value) as T) : value
}

/** An error as a journal gives it back has nothing but properties of its own. */
const copyOfError = (error: Error, depth: number): Error => {
  const copy = Object.setPrototypeOf(new Error(error.message), Object.getPrototypeOf(error)) as Error
  for (const [key, property] of Object.entries(Object.getOwnPropertyDescriptors(error)))
    Object.defineProperty(copy, key, 'value' in property ? { ...property, value: detached(property.value, depth + 1) } : property)
  return copy
}
