/** Every scenario, with a process that dies at every third of its commits. On a NATS server at each of them, in two days: killed.nats.long.test.ts, sessions.nats.long.test.ts. */
import { expect, test } from 'vitest'
import { inMemory } from './lives.ts'
import { scenarios } from './scenarios.ts'
import { sweep } from './sweep.ts'

test.for(scenarios.map((scenario, place) => ({ name: scenario.name, scenario, place })))(
  '[WL-057, WL-083, WL-100, WL-101, WL-113, WL-125, WL-132, WL-133] $name: killed at a commit it comes to the same report and the same trace; nothing that was written down is paid or done again, and what may run once does not run twice',
  async ({ scenario, place }) => {
    // Where the commit is lost it is as with the one before it, but for what had been done meanwhile.
    const { died, doubted, calm } = await sweep(
      scenario,
      inMemory,
      ({ before, commit }) => (commit + place) % (before === 'acknowledgement' ? 3 : 12) === 0,
    )
    expect(died).toBeGreaterThan(calm.commits / 4)
    expect(doubted > 0).toBe(scenario.doubtful !== undefined)
  },
)
