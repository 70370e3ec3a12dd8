/** Identity and chance that come out the same in every run of a test. */
import type { Ids, Random } from '../contracts/environment.ts'

/** `run-a1b2-000001`, `m-a1b2-000002`, …: in the order in which they were asked for. Keep one across restarts, or ids repeat. */
export const seededIds = (seed: number | string = 1): Ids => {
  let count = 0
  return { next: (prefix) => `${prefix}-${seed}-${String(++count).padStart(6, '0')}` }
}

/** Mulberry32: good enough to choose by, the same numbers for the same seed. */
export const seededRandom = (seed = 1): Random => {
  let state = seed >>> 0
  return {
    next: () => {
      state = (state + 0x6d2b79f5) >>> 0
      let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
      mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
      return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
    },
  }
}
