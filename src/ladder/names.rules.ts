/** Names that are also kinds of actors, and short marks of what was written. Pure. */

/** @param charsMax fewer than 32 where other kinds are called after it */
export const isKindName = (name: unknown, charsMax = 32): name is string =>
  typeof name === 'string' && name.length <= charsMax && /^[a-z][a-z0-9-]*$/.test(name)

/** FNV-1a: 32 bits of numbers, in 8 hex digits. */
export const fnv1a = (units: Iterable<number>): string => {
  let hash = 0x811c9dc5
  for (const unit of units) hash = Math.imul(hash ^ unit, 0x01000193) >>> 0
  return hash.toString(16).padStart(8, '0')
}
