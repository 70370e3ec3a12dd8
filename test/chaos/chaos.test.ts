/**
 * Three real nodes on a real server under load, harmed by a seeded plan; an independent judge reads what is left. Longer: chaos.long.test.ts, or
 * `node test/chaos/long.ts --kills 500 --lost-acks 200`.
 */
import { beforeAll, expect, test } from 'vitest'
import { natsServer } from '../../scripts/nats-server.ts'
import { seeded } from '../crash/runs.ts'
import { natsFetchMs } from '../support/nats.ts'
import { aPlan } from './plan.ts'
import { type Played, play } from './play.ts'
import { report } from './report.ts'

beforeAll(() => natsServer(), natsFetchMs)

const timeout = 240_000
const load = { sessions: 12, servers: 1, thinkMs: 400 }
const findings = (played: Played) => played.violations.map((violation) => `${violation} (seed and story in ${played.folder})`)

test('[INV-1] [INV-5] [INV-7] nodes are killed, frozen and cut off, and no message is lost or doubled, no tool marked once repeated', {
  timeout,
}, async () => {
  const seed = 11
  const plan = aPlan({
    seed,
    random: seeded(seed),
    nodes: 3,
    kills: 2,
    freezes: 1,
    longestFreezeMs: 4_000,
    lostAcks: 2,
    others: 0,
    serverRestarts: 0,
    pauseMs: 1_500,
  })

  const played = await play(plan, load)

  console.log(report(played).join('\n'))
  expect(findings(played)).toEqual([])
  expect(played.harms.filter(({ what }) => what === 'SIGKILL')).toHaveLength(2)
  expect(played.figures.messages).toBeGreaterThan(load.sessions)
})
