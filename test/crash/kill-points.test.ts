/**
 * `kill -9` of a real process at each crash point of a turn with three steps, two tools side by side, steering and an approval; then another
 * process goes on. What is left is judged by check.ts, which shares no code with the runtime. Longer: `node test/crash/long.ts --kills 300`.
 */
import { afterAll, expect, test } from 'vitest'
import { diedAt, type Kill, type Plan, play, type Story, seeded, twoAtATime } from './runs.ts'

const timeout = 120_000
const violationsOf = ({ violations, folder }: Story) => violations.map((violation) => `${violation} (${folder})`)

/** Dies once at each of the first hits, each time in a life of its own, and is judged. */
const killedAt = async (name: string, hits: number, plan: Omit<Plan, 'kills'> = {}, kill: Kill = {}): Promise<void> => {
  const lives = Array.from({ length: hits }, (_, index) =>
    twoAtATime(async () => {
      const story = await play({ ...plan, kills: [{ ...kill, at: `${name}:${index + 1}:kill` }] })
      expect(violationsOf(story)).toEqual([])
      expect(diedAt(story.deaths[0]!, name, index + 1), `${name} was not hit ${index + 1} times: ${JSON.stringify(story.deaths)}`).toBe(true)
      expect(story.answered).toBe(3)
    }),
  )
  await Promise.all(lives)
}

test.concurrent('[K01] received, not appended', { timeout }, () => killedAt('K01', 3))
test.concurrent('[K02] append sent, not acknowledged', { timeout }, () => killedAt('K02', 3))
test.concurrent('[K03] acknowledged, the client not told', { timeout }, () => killedAt('K03', 3))
test.concurrent('[K04] read by the owner, the turn not started', { timeout }, () => killedAt('K04', 3))
test.concurrent('[K05] turn started, the model not called', { timeout }, () => killedAt('K05', 3))
test.concurrent('[K06] model called, no token', { timeout }, () => killedAt('K06', 3))
test.concurrent('[K07] in the middle of the stream', { timeout }, () => killedAt('K07', 3))
test.concurrent('[K08] model done, its answer not appended', { timeout }, () => killedAt('K08', 3))
test.concurrent('[K09] tool requested, not dispatched', { timeout }, () => killedAt('K09', 3))
test.concurrent('[K10] tool running, at its beginning and with another one in mid-work', { timeout }, () => killedAt('K10', 3))
test.concurrent('[K10] tool running, each in the middle of its work', { timeout }, async () => {
  const lives = ['charge', 'lookup', 'ship'].flatMap((inTool) =>
    (['approve', 'deny'] as const).map((inDoubt) =>
      twoAtATime(async () => {
        const story = await play({ kills: [{ inTool }], inDoubt })
        expect(violationsOf(story)).toEqual([])
        expect(story.deaths[0]?.signal).toBe('SIGKILL')
      }),
    ),
  )
  await Promise.all(lives)
})
test.concurrent('[K11] effect of a tool done, no reply', { timeout }, () => killedAt('K11', 3))
test.concurrent('[K12] reply of a tool in, not appended', { timeout }, () => killedAt('K12', 2))
test.concurrent('[K13] result of a tool appended', { timeout }, () => killedAt('K13', 2))
test.concurrent('[K14] final text there, not appended', { timeout }, () => killedAt('K14', 2))
test.concurrent('[K15] completed, subscribers not told', { timeout }, () => killedAt('K15', 2))
test.concurrent('[K16] in a snapshot write', { timeout }, () => killedAt('K16', 3))
test.concurrent('[K17] in a takeover, before and after the claim', { timeout }, () =>
  twoAtATime(async () => {
    const story = await play({ kills: [{ at: 'K10:2:kill' }, { at: 'K17:1:kill' }, { at: 'K17:2:kill' }] })
    expect(violationsOf(story)).toEqual([])
    expect([diedAt(story.deaths[0]!, 'K10', 2), diedAt(story.deaths[1]!, 'K17', 1), diedAt(story.deaths[2]!, 'K17', 2)]).toEqual([true, true, true])
    // The one that died before its claim left no trace of itself.
    expect(story.epochs).toBe(3)
  }),
)
test.concurrent('[K18] approval pending', { timeout }, () => killedAt('K18', 1))
test.concurrent('[K19] cancel received, not appended', { timeout }, () => killedAt('K19', 1, { scenario: 'cancel' }))
test.concurrent('[K20] draining', { timeout }, () => killedAt('K20', 1, {}, { drain: true }))
test.concurrent('a drain that is let be ends with 0, and the next process goes on', { timeout }, () =>
  twoAtATime(async () => {
    const story = await play({ kills: [{ drain: true }] })
    expect(violationsOf(story)).toEqual([])
    expect(story.deaths[0]).toMatchObject({ code: 0, stdout: expect.stringContaining('drained') })
  }),
)

const seed = Number(process.env.CRASH_SEED ?? Date.now() % 100_000)
const struck: string[] = []
afterAll(() => console.log(`random kills: CRASH_SEED=${seed}; ms after the start: ${struck.join(', ')}`))

test.concurrent('[SHOW-ONCE, SHOW-REPLAY] twenty kills at random instants, several in one life', { timeout }, async () => {
  const random = seeded(seed)
  const lives = [1, 2, 3, 2, 1, 3, 2, 4, 2].map((count) => {
    const plan: Plan = {
      kills: Array.from({ length: count }, () => ({ afterMs: 150 + Math.floor(random() * 350) })),
      scenario: random() < 0.25 ? 'cancel' : 'approve',
      inDoubt: random() < 0.5 ? 'approve' : 'deny',
    }
    return twoAtATime(async () => {
      const story = await play(plan)
      struck.push(plan.kills.map(({ afterMs }) => afterMs).join(' then '))
      expect(violationsOf(story), JSON.stringify(plan)).toEqual([])
    })
  })
  await Promise.all(lives)
})
