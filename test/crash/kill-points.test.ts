/**
 * `kill -9` of a real process at each crash point of a turn with three steps, two tools side by side, steering and an approval; then another
 * process goes on. What is left is judged by check.ts, which shares no code with the runtime. Longer: `node test/crash/long.ts --kills 300`.
 */
import { afterAll, expect, test, vi } from 'vitest'
import { diedAt, type Kill, type Plan, play, type Story, seeded } from './runs.ts'

// As the machine that checks everything has two cores. A test that waits for its turn has not begun, and its time does not run.
vi.setConfig({ maxConcurrency: 2 })
const violationsOf = ({ violations, folder }: Story) => violations.map((violation) => `${violation} (${folder})`)

/** Dies once at each of the first hits, each time in a life of its own, and is judged. */
const killedAt = async (name: string, hits: number, plan: Omit<Plan, 'kills'> = {}, kill: Kill = {}): Promise<void> => {
  for (let hit = 1; hit <= hits; hit++) {
    const story = await play({ ...plan, kills: [{ ...kill, at: `${name}:${hit}:kill` }] })
    expect(violationsOf(story)).toEqual([])
    expect(diedAt(story.deaths[0]!, name, hit), `${name} was not hit ${hit} times: ${JSON.stringify(story.deaths)}`).toBe(true)
    expect(story.answered).toBe(3)
  }
}

test.concurrent('[K01] received, not appended', () => killedAt('K01', 3))
test.concurrent('[K02] append sent, not acknowledged', () => killedAt('K02', 3))
test.concurrent('[K03] acknowledged, the client not told', () => killedAt('K03', 3))
test.concurrent('[K04] read by the owner, the turn not started', () => killedAt('K04', 3))
test.concurrent('[K05] turn started, the model not called', () => killedAt('K05', 3))
test.concurrent('[K06] model called, no token', () => killedAt('K06', 3))
test.concurrent('[K07] in the middle of the stream', () => killedAt('K07', 3))
test.concurrent('[K08] model done, its answer not appended', () => killedAt('K08', 3))
test.concurrent('[K09] tool requested, not dispatched', () => killedAt('K09', 3))
test.concurrent('[K10] tool running, at its beginning and with another one in mid-work', () => killedAt('K10', 3))
test.concurrent('[K10] tool running, each in the middle of its work', async () => {
  for (const inTool of ['charge', 'lookup', 'ship'])
    for (const inDoubt of ['approve', 'deny'] as const) {
      const story = await play({ kills: [{ inTool }], inDoubt })
      expect(violationsOf(story)).toEqual([])
      expect(story.deaths[0]?.signal).toBe('SIGKILL')
    }
})
test.concurrent('[K11] effect of a tool done, no reply', () => killedAt('K11', 3))
test.concurrent('[K12] reply of a tool in, not appended', () => killedAt('K12', 2))
test.concurrent('[K13] result of a tool appended', () => killedAt('K13', 2))
test.concurrent('[K14] final text there, not appended', () => killedAt('K14', 2))
test.concurrent('[K15] completed, subscribers not told', () => killedAt('K15', 2))
test.concurrent('[K16] in a snapshot write', () => killedAt('K16', 3))
test.concurrent('[K17] in a takeover, before and after the claim', async () => {
  const story = await play({ kills: [{ at: 'K10:2:kill' }, { at: 'K17:1:kill' }, { at: 'K17:2:kill' }] })
  expect(violationsOf(story)).toEqual([])
  expect([diedAt(story.deaths[0]!, 'K10', 2), diedAt(story.deaths[1]!, 'K17', 1), diedAt(story.deaths[2]!, 'K17', 2)]).toEqual([true, true, true])
  // The one that died before its claim left no trace of itself.
  expect(story.epochs).toBe(3)
})
test.concurrent('[K18] approval pending', () => killedAt('K18', 1))
test.concurrent('[K19] cancel received, not appended', () => killedAt('K19', 1, { scenario: 'cancel' }))
test.concurrent('[K20] draining', () => killedAt('K20', 1, {}, { drain: true }))
test.concurrent('a drain that is let be ends with 0, and the next process goes on', async () => {
  const story = await play({ kills: [{ drain: true }] })
  expect(violationsOf(story)).toEqual([])
  expect(story.deaths[0]).toMatchObject({ code: 0, stdout: expect.stringContaining('drained') })
})

const seed = Number(process.env.CRASH_SEED ?? Date.now() % 100_000)
const struck: string[] = []
afterAll(() => console.log(`random kills: CRASH_SEED=${seed}; ms after the start: ${struck.join(', ')}`))

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
