import { expect, test } from 'vitest'
import { inChild } from '../../bench/child.ts'
import type { Awake } from '../../bench/memory/measured.ts'
import { withFolder } from '../../bench/workload.ts'

// May only fall, as the counts beside it (0018: 550 bytes more). The goal is 8 KiB; a bare actor of XState with the same two texts is 4.6 thousand bytes of it.
const limitBytes = 13_450
/** What was compiled meanwhile is counted as well. */
const tolerance = 1.05

const program = new URL('../../bench/memory/measured.ts', import.meta.url)

const measured = () =>
  withFolder((folder) => inChild<Awake>(program, { question: 'awake', folder, sessions: 2_000 }, { flags: ['--expose-gc'], timeoutMs: 60_000 }))

test('a live session at rest takes no more of the heap than it did', async () => {
  // One process in two compiles some code in the middle and measures 300 bytes more; a session that has grown shows in each.
  const bytes: number[] = []
  while (bytes.length < 4 && !bytes.some((one) => one <= limitBytes * tolerance)) bytes.push((await measured()).bytes)

  expect(Math.min(...bytes)).toBeLessThanOrEqual(limitBytes * tolerance)
})
