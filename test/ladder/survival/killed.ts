/** Kills a scenario in memory at a part of its commits: what killed.test.ts tells of a fixed part, and killed.long.test.ts of the part of the commit. */
import { expect } from 'vitest'
import type { Part } from '../../support/share.ts'
import { inMemory } from './lives.ts'
import type { Scenario } from './scenario.ts'
import { sweep } from './sweep.ts'

/** How many parts cover every commit. */
export const parts = 12

/** @param place of the scenario among the others */
export const survives = async (scenario: Scenario, place: number, part: Part): Promise<void> => {
  // Where the commit is lost it is as with the one before it, but for what had been done meanwhile. What is in doubt is so at few commits: every part covers those.
  const { died, doubted, calm } = await sweep(scenario, inMemory, ({ before, commit }) => {
    const isAcknowledged = before === 'acknowledgement'
    if (scenario.doubtful) return (commit + place) % (isAcknowledged ? 3 : 12) === 0
    return part.includes(commit + place) || (isAcknowledged && part.includes(commit + place + parts / 2))
  })
  expect(died).toBeGreaterThan(calm.commits / 8)
  expect(doubted > 0).toBe(scenario.doubtful !== undefined)
}
