/** What a batch remembers of many items. */
import { expect, test } from 'vitest'
import { type BatchRun, begun, due, itemEnded, started } from '../../../src/ladder/batch/batch.context.ts'

/** Objects below a value, but for those of another one, and how many parts these have. */
const partsOf = (value: unknown, known: ReadonlySet<object> = new Set(), found = new Set<object>()): Set<object> => {
  if (typeof value !== 'object' || value === null || found.has(value) || known.has(value)) return found
  found.add(value)
  for (const part of Object.values(value)) partsOf(part, known, found)
  return found
}

test('an item among thousands changes as little of what the run remembers as one among a few', () => {
  const goOn = (run: BatchRun): BatchRun => ({ ...run, ...started(run, due(run, 10), 1) })
  const end = (run: BatchRun): BatchRun => ({ ...run, ...itemEnded(run, run.running[0] as number, { data: 'done', reports: [] }, 2) })
  let run = goOn(begun({ runId: 'r', input: Array.from({ length: 4_000 }, (_, n) => ({ n })) }, 0))
  for (let ended = 0; ended < 2_000; ended++) run = goOn(end(run))

  const after = goOn(end(run))

  const made = [...partsOf(after, partsOf(run))]
  expect(made.reduce((sum, part) => sum + Object.keys(part).length, 0)).toBeLessThan(200)
  expect(after).toMatchObject({ open: 1_999, failed: 0, next: 2_011, running: Array.from({ length: 10 }, (_, n) => 2_001 + n) })
})
