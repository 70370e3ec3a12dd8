/** Names that are also kinds of actors, and short marks of what was written. Pure. */

/** @param charsMax fewer than 32 where other kinds are called after it */
export const isKindName = (name: unknown, charsMax = 32): name is string =>
  typeof name === 'string' && name.length <= charsMax && /^[a-z][a-z0-9-]*$/.test(name)

/** FNV-1a: where it begins, and how each number changes it. 32 bits. */
export const fnvBegin = 0x811c9dc5
export const fnvNext = (hash: number, unit: number): number => Math.imul(hash ^ unit, 0x01000193) >>> 0

/** Of numbers, in 8 hex digits. */
export const fnv1a = (units: Iterable<number>): string => {
  let hash = fnvBegin
  for (const unit of units) hash = fnvNext(hash, unit)
  return hash.toString(16).padStart(8, '0')
}
