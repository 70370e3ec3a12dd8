/** Values that never change again: no copies are made of them, and what is computed of them is computed once. */

const made = new WeakSet<object>()
/** All of them. */
export const constants: Pick<WeakSet<object>, 'has'> = made
/** Levels of nesting, and parts; what is deeper, has more, or goes in circles, is none. */
const depthMax = 100
const partsMax = 100_000

/**
 * Freezes plain data, all of it, for what a context keeps and will never change: the record of a step that has ended, say. Snapshots, effects and digests then
 * cost no more where there is much of it. Whatever is or holds something else than objects, lists, texts, numbers, booleans, null and undefined stays
 * as it is; parts of it that are plain become constant.
 * @returns the same value
 */
export const constant = <Value>(value: Value): Value => {
  makeConstant(value, 0, { left: partsMax })
  return value
}

/** A record with more in it, constant too, where it was: what stood in it before is not gone through again. */
export const constantWith = <Value extends object>(record: Value, more: Partial<Value>): Value =>
  grown({ ...record, ...more }, made.has(record), Object.values(more))

/** The same of a list: with another item at a place, or behind its last. */
export const constantAt = <Item>(list: readonly Item[], index: number, item: Item): readonly Item[] => {
  // To spread a frozen list takes a hundredth of what its own methods do.
  const whole = [...list]
  whole[index] = item
  return grown(whole, made.has(list), [item])
}

const grown = <Value extends object>(whole: Value, wasConstant: boolean, more: readonly unknown[]): Value => {
  const walk = { left: partsMax }
  if (!wasConstant) makeConstant(whole, 0, walk)
  else if (more.every((part) => makeConstant(part, 1, walk))) made.add(Object.freeze(whole))
  return whole
}

/** @returns whether it is */
const makeConstant = (value: unknown, depth: number, walk: { left: number }): boolean => {
  if (typeof value !== 'object' || value === null) return typeof value !== 'function' && typeof value !== 'symbol' && typeof value !== 'bigint'
  if (made.has(value)) return true
  if (depth > depthMax || --walk.left < 0 || !isPlain(value)) return false
  let whole = true
  for (const key of Object.keys(value)) whole = makeConstant((value as Record<string, unknown>)[key], depth + 1, walk) && whole
  if (!whole) return false
  made.add(Object.freeze(value))
  return true
}

/** Its properties are values, and no method tells them. */
const isPlain = (value: object): boolean => {
  if (Object.getOwnPropertySymbols(value).length > 0) return false
  const prototype: unknown = Object.getPrototypeOf(value)
  if (Array.isArray(value)) return prototype === Array.prototype && !hasAccessor(value)
  return (prototype === Object.prototype || prototype === null) && !hasAccessor(value)
}

const hasAccessor = (value: object): boolean => {
  for (const key of Object.keys(value)) if (!('value' in (Object.getOwnPropertyDescriptor(value, key) as PropertyDescriptor))) return true
  return false
}
