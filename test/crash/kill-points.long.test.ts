/** `kill -9` of a real process at each crash point alone, at its later hits, which kill-points.test.ts leaves out, and at random instants. */
import { afterAll, expect, test, vi } from 'vitest'
import { chooseSeeds } from '../support/seeds.ts'
import { killedAt, killedInTool, violationsOf } from './killed-at.ts'
import { type Plan, play, seeded } from './runs.ts'

// As the machine that checks everything has two cores. A test that waits for its turn has not begun, and its time does not run.
vi.setConfig({ maxConcurrency: 2 })

const points = ['K01', 'K02', 'K03', 'K04', 'K05', 'K06', 'K07', 'K08', 'K09', 'K10', 'K11', 'K12', 'K13', 'K14', 'K15', 'K16', 'K18']
test.concurrent.each(points)('[%s] the next process finishes alone what was cut off', (name) => killedAt(name, [1, 1]))

test.concurrent('[K01] received, not appended: the later times', () => killedAt('K01', [2, 3]))
test.concurrent('[K02] append sent, not acknowledged: the later times', () => killedAt('K02', [2, 3]))
test.concurrent('[K03] acknowledged, the client not told: the later times', () => killedAt('K03', [2, 3]))
test.concurrent('[K04] read by the owner, the turn not started: the later times', () => killedAt('K04', [2, 3]))
test.concurrent('[K05] turn started, the model not called: the later times', () => killedAt('K05', [2, 3]))
test.concurrent('[K06] model called, no token: the later times', () => killedAt('K06', [2, 3]))
test.concurrent('[K07] in the middle of the stream: the later times', () => killedAt('K07', [2, 3]))
test.concurrent('[K08] model done, its answer not appended: the later times', () => killedAt('K08', [2, 3]))
test.concurrent('[K09] tool requested, not dispatched: the later times', () => killedAt('K09', [2, 3]))
test.concurrent('[K10] tool running, at its beginning and with another one in mid-work: the later times', () => killedAt('K10', [2, 3]))
test.concurrent('[K11] effect of a tool done, no reply: the later times', () => killedAt('K11', [2, 3]))
test.concurrent('[K12] reply of a tool in, not appended: the later times', () => killedAt('K12', [2, 2]))
test.concurrent('[K13] result of a tool appended: the later times', () => killedAt('K13', [2, 2]))
test.concurrent('[K14] final text there, not appended: the later times', () => killedAt('K14', [2, 2]))
test.concurrent('[K15] completed, subscribers not told: the later times', () => killedAt('K15', [2, 2]))
// How often one is written depends on how busy the machine is: twice at least.
test.concurrent('[K16] in a snapshot write: the later times', () => killedAt('K16', [2, 2]))

test.concurrent('[K10] tool running, each in the middle of its work', async () => {
  for (const inTool of ['charge', 'lookup', 'ship']) for (const inDoubt of ['approve', 'deny'] as const) await killedInTool(inTool, inDoubt)
})

const { seed } = chooseSeeds(import.meta.url)
const struck: string[] = []
afterAll(() => console.log(`random kills, ms after the start: ${struck.join(', ')}`))

test.concurrent('[SHOW-ONCE, SHOW-REPLAY] twenty kills at random instants, several in one life', async () => {
  const random = seeded(seed)
  for (const count of [1, 2, 3, 2, 1, 3, 2, 4, 2]) {
    const plan: Plan = {
      kills: Array.from({ length: count }, () => ({ afterMs: 150 + Math.floor(random() * 350) })),
      scenario: random() < 0.25 ? 'cancel' : 'approve',
      inDoubt: random() < 0.5 ? 'approve' : 'deny',
    }
    const story = await play(plan)
    struck.push(plan.kills.map(({ afterMs }) => afterMs).join(' then '))
    expect(violationsOf(story), JSON.stringify(plan)).toEqual([])
  }
})
