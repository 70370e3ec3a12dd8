/**
 * `kill -9` of a real process at each crash point of a turn with three steps, two tools side by side, steering and an approval; then another
 * process goes on. What is left is judged by check.ts, which shares no code with the runtime. The later hits of each: kill-points.long.test.ts; longer still:
 * `node test/crash/long.ts --kills 300`.
 */
import { expect, test, vi } from 'vitest'
import { killedAt, killedInTool, violationsOf } from './killed-at.ts'
import { diedAt, play } from './runs.ts'

// As the machine that checks everything has two cores. A test that waits for its turn has not begun, and its time does not run.
vi.setConfig({ maxConcurrency: 2 })
const once: [number, number] = [1, 1]

test.concurrent('[K01] received, not appended', () => killedAt('K01', once))
test.concurrent('[K02] append sent, not acknowledged', () => killedAt('K02', once))
test.concurrent('[K03] acknowledged, the client not told', () => killedAt('K03', once))
test.concurrent('[K04] read by the owner, the turn not started', () => killedAt('K04', once))
test.concurrent('[K05] turn started, the model not called', () => killedAt('K05', once))
test.concurrent('[K06] model called, no token', () => killedAt('K06', once))
test.concurrent('[K07] in the middle of the stream', () => killedAt('K07', once))
test.concurrent('[K08] model done, its answer not appended', () => killedAt('K08', once))
test.concurrent('[K09] tool requested, not dispatched', () => killedAt('K09', once))
test.concurrent('[K10] tool running', () => killedAt('K10', once))
test.concurrent('[K10] tool running, in the middle of its work', () => killedInTool('charge', 'approve'))
test.concurrent('[K11] effect of a tool done, no reply', () => killedAt('K11', once))
test.concurrent('[K12] reply of a tool in, not appended', () => killedAt('K12', once))
test.concurrent('[K13] result of a tool appended', () => killedAt('K13', once))
test.concurrent('[K14] final text there, not appended', () => killedAt('K14', once))
test.concurrent('[K15] completed, subscribers not told', () => killedAt('K15', once))
test.concurrent('[K16] in a snapshot write', () => killedAt('K16', once))
test.concurrent('[K17] in a takeover, before and after the claim', async () => {
  const story = await play({ kills: [{ at: 'K10:2:kill' }, { at: 'K17:1:kill' }, { at: 'K17:2:kill' }] })
  expect(violationsOf(story)).toEqual([])
  expect([diedAt(story.deaths[0]!, 'K10', 2), diedAt(story.deaths[1]!, 'K17', 1), diedAt(story.deaths[2]!, 'K17', 2)]).toEqual([true, true, true])
  // The one that died before its claim left no trace of itself.
  expect(story.epochs).toBe(3)
})
test.concurrent('[K18] approval pending', () => killedAt('K18', once))
test.concurrent('[K19] cancel received, not appended', () => killedAt('K19', once, { scenario: 'cancel' }))
test.concurrent('[K20] draining', () => killedAt('K20', once, {}, { drain: true }))
test.concurrent('a drain that is let be ends with 0, and the next process goes on', async () => {
  const story = await play({ kills: [{ drain: true }] })
  expect(violationsOf(story)).toEqual([])
  expect(story.deaths[0]).toMatchObject({ code: 0, stdout: expect.stringContaining('drained') })
})
