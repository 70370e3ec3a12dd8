/** Every scenario, with a process that dies at every sixth of its commits, others each day. On a NATS server at each of them, in three days: killed.nats.long.test.ts, sessions.nats.long.test.ts. */
import { expect, test } from 'vitest'
import { isToday } from '../../support/share.ts'
import { inMemory } from './lives.ts'
import { scenarios } from './scenarios.ts'
import { sweep } from './sweep.ts'

test.for(scenarios.map((scenario, place) => ({ name: scenario.name, scenario, place })))(
  '[WL-057, WL-083, WL-100, WL-101, WL-113, WL-125, WL-132, WL-133] $name: killed at a commit it comes to the same report and the same trace; nothing that was written down is paid or done again, and what may run once does not run twice',
  async ({ scenario, place }) => {
    // Where the commit is lost it is as with the one before it, but for what had been done meanwhile. What is in doubt is so at few commits: those are not left to the day.
    const { died, doubted, calm } = await sweep(scenario, inMemory, ({ before, commit }) => {
      const isAcknowledged = before === 'acknowledgement'
      return scenario.doubtful ? (commit + place) % (isAcknowledged ? 3 : 12) === 0 : isToday(commit + place, isAcknowledged ? 6 : 12)
    })
    expect(died).toBeGreaterThan(calm.commits / 8)
    expect(doubted > 0).toBe(scenario.doubtful !== undefined)
  },
)
