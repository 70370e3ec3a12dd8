/** What a guard looks at in its context and event, found by asking it once more with a copy that notes each look. */

import { during, presentMoment } from '../../contracts/environment.ts'
import type { Read } from '../../contracts/inspection.ts'
import { shown } from './shown.ts'

const readMax = 20
const textMax = 200

type Args = { context: unknown; event: unknown }

/** @param ask evaluates the guard; what it answers, or throws, is not of interest */
export const readsOf = ({ context, event }: Args, ask: (args: Args) => unknown): Read[] => {
  const found = new Map<string, unknown>()
  const args = { context: watched(context, 'context', found), event: watched(event, 'event', found) }
  // It must draw nothing: the tree would be another one afterwards.
  const now = presentMoment()?.now() ?? 0
  try {
    during({ now: () => now, draw: () => new Uint8Array(32), scheduling: () => false, leftOf: () => undefined }, () => ask(args))
  } catch {
    // What it looked at before that is what there is to say.
  }
  const paths = [...found.keys()]
  return paths
    .filter((path) => !paths.some((other) => other.startsWith(`${path}.`) || other.startsWith(`${path}[`)))
    .slice(0, readMax)
    .map((path) => ({ path, value: shown(found.get(path), { textMax }) }))
}

const watched = (value: unknown, path: string, found: Map<string, unknown>): unknown => {
  if (typeof value !== 'object' || value === null) return value
  const prototype: unknown = Object.getPrototypeOf(value)
  if (!Array.isArray(value) && prototype !== Object.prototype && prototype !== null) return value
  return new Proxy(value, {
    get(target, key, receiver) {
      const got: unknown = Reflect.get(target, key, receiver)
      if (typeof key === 'symbol' || typeof got === 'function') return got
      const place = Array.isArray(target) && /^\d+$/.test(key) ? `${path}[${key}]` : `${path}.${key}`
      found.set(place, got)
      return watched(got, place, found)
    },
  })
}
