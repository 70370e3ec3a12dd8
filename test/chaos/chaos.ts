/** What chaos.test.ts and chaos.long.test.ts tell: three real nodes on a real server under load, harmed by a seeded plan. */
import { expect } from 'vitest'
import { seeded } from '../crash/runs.ts'
import { aPlan, type Plan } from './plan.ts'
import { type Played, play } from './play.ts'
import { report } from './report.ts'

export const timeout = 240_000
const load = { sessions: 12, servers: 1, thinkMs: 400 }

/** Plays a plan, says what came of it, and fails where the judge found anything. */
export const undamaged = async (plan: Plan): Promise<Played> => {
  const played = await play(plan, load)

  console.log(report(played).join('\n'))
  expect(played.violations.map((violation) => `${violation} (seed and story in ${played.folder})`)).toEqual([])
  return played
}

type Harm = Pick<Parameters<typeof aPlan>[0], 'kills' | 'freezes' | 'longestFreezeMs' | 'lostAcks' | 'others' | 'serverRestarts'>

/** Nothing is lost or doubled, however the nodes are harmed; and they were. */
export const survives = async (seed: number, harm: Harm): Promise<void> => {
  const played = await undamaged(aPlan({ seed, random: seeded(seed), nodes: 3, pauseMs: 1_500, ...harm }))

  expect(played.harms.filter(({ what }) => what === 'SIGKILL')).toHaveLength(harm.kills)
  expect(played.figures.messages).toBeGreaterThan(load.sessions)
}
