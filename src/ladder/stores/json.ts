/** JSON that comes back as it was: what JSON would drop or change without a word is refused. */
import { LadderError, wordsOf } from '../errors.ts'

/** @param what in words, for the message @throws LadderError STORE_FAILED naming the place */
export const jsonText = (value: unknown, what: string): string => {
  const place = placeOfStrange(value, what, new Set())
  if (place !== undefined)
    throw new LadderError('STORE_FAILED', `${place} is no JSON`, {
      hint: 'keep plain data: texts, finite numbers, booleans, null, lists and objects of them',
    })
  return JSON.stringify(value)
}

/** Keys without a value are left out, as JSON does. */
const placeOfStrange = (value: unknown, place: string, above: Set<object>): string | undefined => {
  if (value === null || typeof value === 'string' || typeof value === 'boolean' || Number.isFinite(value)) return undefined
  if (typeof value !== 'object' || above.has(value)) return place
  const isList = Array.isArray(value)
  const prototype: unknown = Object.getPrototypeOf(value)
  if (!isList && prototype !== Object.prototype && prototype !== null) return place
  above.add(value)
  for (const [key, part] of Object.entries(value)) {
    if (part === undefined && !isList) continue
    const found = placeOfStrange(part, `${place}.${key}`, above)
    if (found !== undefined) return found
  }
  above.delete(value)
  return undefined
}

/** @throws LadderError STORE_FAILED where something else was put in its place */
export const jsonIn = (text: string, what: string): unknown => {
  try {
    return JSON.parse(text) as unknown
  } catch (cause) {
    throw new LadderError('STORE_FAILED', `${what} is damaged: ${wordsOf(cause)}`, { cause, hint: 'restore it from a backup, or delete the session' })
  }
}
