/**
 * `kill -9` of a real process at each crash point of a turn with three steps, two tools side by side, steering and an approval; then another
 * process goes on, up to the next crash point. What is left is judged by check.ts, which shares no code with the runtime. Each crash point alone, and
 * its later hits: kill-points.long.test.ts. Longer still: `node test/crash/long.ts --kills 300`.
 */
import { expect, test, vi } from 'vitest'
import { killedAt, killedInTool, violationsOf } from './killed-at.ts'
import { diedAt, play, type Story } from './runs.ts'

// As the machine that checks everything has two cores. A test that waits for its turn has not begun, and its time does not run.
vi.setConfig({ maxConcurrency: 2 })

/** One story: each process is killed at the next of these points, and the last one ends. A start costs more than what happens up to the kill. */
const lives = (...names: string[]) => {
  let told: Promise<Story> | undefined
  const story = () => (told ??= play({ kills: names.map((name) => ({ at: `${name}:1:kill` })) }))
  return async (name: string): Promise<void> => {
    const { deaths, answered, ...rest } = await story()
    const death = deaths[names.indexOf(name)]
    expect(death && diedAt(death, name, 1), `${name} was not hit: ${JSON.stringify(deaths)}`).toBe(true)
    expect(violationsOf(rest)).toEqual([])
    expect(answered).toBe(3)
  }
}
const inReceiving = lives('K01', 'K02', 'K03', 'K04')
const inModel = lives('K05', 'K06', 'K07', 'K08')
const inTools = lives('K09', 'K10', 'K11', 'K12', 'K13')
const inEnding = lives('K16', 'K18', 'K14', 'K15')

test.concurrent('[K01] received, not appended', () => inReceiving('K01'))
test.concurrent('[K02] append sent, not acknowledged', () => inReceiving('K02'))
test.concurrent('[K03] acknowledged, the client not told', () => inReceiving('K03'))
test.concurrent('[K04] read by the owner, the turn not started', () => inReceiving('K04'))
test.concurrent('[K05] turn started, the model not called', () => inModel('K05'))
test.concurrent('[K06] model called, no token', () => inModel('K06'))
test.concurrent('[K07] in the middle of the stream', () => inModel('K07'))
test.concurrent('[K08] model done, its answer not appended', () => inModel('K08'))
test.concurrent('[K09] tool requested, not dispatched', () => inTools('K09'))
test.concurrent('[K10] tool running', () => inTools('K10'))
test.concurrent('[K10] tool running, in the middle of its work', () => killedInTool('charge', 'approve'))
test.concurrent('[K11] effect of a tool done, no reply', () => inTools('K11'))
test.concurrent('[K12] reply of a tool in, not appended', () => inTools('K12'))
test.concurrent('[K13] result of a tool appended', () => inTools('K13'))
test.concurrent('[K14] final text there, not appended', () => inEnding('K14'))
test.concurrent('[K15] completed, subscribers not told', () => inEnding('K15'))
test.concurrent('[K16] in a snapshot write', () => inEnding('K16'))
test.concurrent('[K17] in a takeover, before and after the claim', async () => {
  const story = await play({ kills: [{ at: 'K10:2:kill' }, { at: 'K17:1:kill' }, { at: 'K17:2:kill' }] })
  expect(violationsOf(story)).toEqual([])
  expect([diedAt(story.deaths[0]!, 'K10', 2), diedAt(story.deaths[1]!, 'K17', 1), diedAt(story.deaths[2]!, 'K17', 2)]).toEqual([true, true, true])
  // The one that died before its claim left no trace of itself.
  expect(story.epochs).toBe(3)
})
test.concurrent('[K18] approval pending', () => inEnding('K18'))
test.concurrent('[K19] cancel received, not appended', () => killedAt('K19', [1, 1], { scenario: 'cancel' }))
test.concurrent('[K20] draining', () => killedAt('K20', [1, 1], {}, { drain: true }))
test.concurrent('a drain that is let be ends with 0, and the next process goes on', async () => {
  const story = await play({ kills: [{ drain: true }] })
  expect(violationsOf(story)).toEqual([])
  expect(story.deaths[0]).toMatchObject({ code: 0, stdout: expect.stringContaining('drained') })
})
