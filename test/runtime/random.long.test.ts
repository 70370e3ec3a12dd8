/** Anything may happen in any order, for longer and under another seed, or the one in `SEED`. */
import { test } from 'vitest'
import { anyOrder } from './random.ts'

const seed = Number(process.env.SEED ?? 20_261_122)

test(
  `any order of messages, decisions, stops, resets, crashes: one outcome each, every call paired, replay identical [INV-2, INV-7, INV-13, INV-15] (seed ${seed})`,
  { timeout: 1_200_000 },
  () => anyOrder(300, seed),
)
