/** Anything may happen in any order, for longer and under other seeds. */
import { test } from 'vitest'
import { anyOrder } from './random.ts'

test(
  'any order of messages, decisions, stops, resets, crashes: one outcome each, every call paired, replay identical [INV-2, INV-7, INV-13, INV-15]',
  { timeout: 1_200_000 },
  () => anyOrder(import.meta.url),
)
