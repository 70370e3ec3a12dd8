/** Which executables may run inside of which. Pure. */
type Holder<One> = { readonly inside: readonly One[] }

/** It and all that may run inside of it, at any depth. */
export const withInside = <One extends Holder<One>>(one: One, seen = new Set<One>()): Set<One> => {
  if (!seen.has(one)) {
    seen.add(one)
    for (const inner of one.inside) withInside(inner, seen)
  }
  return seen
}
