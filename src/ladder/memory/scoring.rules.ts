/** Which of what was found comes first. Pure. */
import type { CheckedTier } from './definition.ts'

/** @property at ms since the epoch @property uses how often it was remembered */
type Found = { similarity: number; at: number; uses: number }

/** @param now ms since the epoch */
export const scoreOf = ({ similarity, at, uses }: Found, { name, weight, halfLifeMs }: CheckedTier, now: number): number => {
  if (name === 'episodic') return (1 - weight) * similarity + weight * 0.5 ** (Math.max(0, now - at) / halfLifeMs)
  if (name === 'procedural') return (1 - weight) * similarity + weight * (uses / (uses + 1))
  return similarity
}

/** From 1 for the newest to 0 for the oldest. */
export const recencyOf = (place: number, count: number): number => (count <= 1 ? 1 : 1 - place / (count - 1))
