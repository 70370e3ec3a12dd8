/** What is equal to what was there before is the same object: who draws it looks at nothing else. */

/** Plain data; what a server says again is equal and not the same. */
const isSame = (a: unknown, b: unknown): boolean =>
  Object.is(a, b) || (typeof a === 'object' && typeof b === 'object' && a !== null && b !== null && JSON.stringify(a) === JSON.stringify(b))

export const share = <T extends object>(before: T | undefined, now: T): T => {
  if (before === undefined) return now
  const keys = Object.keys(now)
  const isEqual = keys.length === Object.keys(before).length && keys.every((key) => isSame(before[key as keyof T], now[key as keyof T]))
  return isEqual ? before : now
}

export const shareList = <T>(before: readonly T[], now: readonly T[]): readonly T[] =>
  before.length === now.length && now.every((one, place) => one === before[place]) ? before : now

/** A copy of a map with one entry changed; undefined takes it out. */
export const withEntry = <Key, Value>(map: ReadonlyMap<Key, Value>, key: Key, value: Value | undefined): ReadonlyMap<Key, Value> => {
  if (map.get(key) === value) return map
  const copy = new Map(map)
  if (value === undefined) copy.delete(key)
  else copy.set(key, value)
  return copy
}
