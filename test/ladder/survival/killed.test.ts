/** Kills every scenario in memory at a sixth of its commits. `STATECAST_SWEEP=all` kills it at each; on a NATS server the long tier does, a part a commit. */
import { expect, test } from 'vitest'
import { choosePart } from '../../support/share.ts'
import { inMemory } from './lives.ts'
import { scenarios } from './scenarios.ts'
import { sweep } from './sweep.ts'

const part = choosePart(import.meta.url, 12)

test.for(scenarios.map((scenario, place) => ({ name: scenario.name, scenario, place })))(
  '[WL-057, WL-083, WL-100, WL-101, WL-113, WL-125, WL-132, WL-133] $name: killed at a commit it comes to the same report and the same trace; nothing that was written down is paid or done again, and what may run once does not run twice',
  async ({ scenario, place }) => {
    // Where the commit is lost it is as with the one before it, but for what had been done meanwhile. What is in doubt is so at few commits: every part covers those.
    const { died, doubted, calm } = await sweep(scenario, inMemory, ({ before, commit }) => {
      const isAcknowledged = before === 'acknowledgement'
      if (scenario.doubtful) return (commit + place) % (isAcknowledged ? 3 : 12) === 0
      return part.includes(commit + place) || (isAcknowledged && part.includes(commit + place + 6))
    })
    expect(died).toBeGreaterThan(calm.commits / 8)
    expect(doubted > 0).toBe(scenario.doubtful !== undefined)
  },
)
