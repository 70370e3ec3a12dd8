/**
 * Time, chance and ids for guards, assigns, contexts and every other function of a machine. Inside of a transition they come out the same in every replay;
 * anywhere else, in a test with plain XState too, they are the real ones.
 */

import { hexOf } from '../contracts/bytes.ts'
import { presentMoment } from '../contracts/environment.ts'

/** ms since the epoch; inside of a transition the time of its commit, which no replay changes. Use it instead of `Date.now()`. */
export const now = (): number => presentMoment()?.now() ?? Date.now()

/** 0 <= n < 1. Use it instead of `Math.random()`. */
export const random = (): number => {
  const bytes = presentMoment()?.draw()
  if (!bytes) return Math.random()
  const view = new DataView(bytes.buffer, bytes.byteOffset)
  // 53 bits, as many as a number holds.
  return (view.getUint32(0) * 2 ** 21 + (view.getUint32(4) >>> 11)) / 2 ** 53
}

/** A UUID of version 4 that nobody else has. Use it instead of `randomUUID()`. */
export const uuid = (): string => {
  const bytes = presentMoment()?.draw().slice(0, 16)
  if (!bytes) return crypto.randomUUID()
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x40
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80
  return hexOf(bytes).replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
}
