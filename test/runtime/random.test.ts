/** Anything may happen in any order; for longer: random.long.test.ts. */
import { test } from 'vitest'
import { anyOrder } from './random.ts'

test('any order of messages, decisions, stops, resets, crashes: one outcome each, every call paired, replay identical [INV-2, INV-7, INV-13, INV-15]', () =>
  anyOrder(import.meta.url))
