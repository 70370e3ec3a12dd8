/** Kills every scenario in memory at a fixed sixth of its commits; killed.long.test.ts at others. On a NATS server: killed.nats.long.test.ts, sessions.nats.long.test.ts. */
import { test } from 'vitest'
import { choosePart } from '../../support/share.ts'
import { parts, survives } from './killed.ts'
import { scenarios } from './scenarios.ts'

const part = choosePart(import.meta.url, parts)

test.for(scenarios.map((scenario, place) => ({ name: scenario.name, scenario, place })))(
  '[WL-057, WL-083, WL-100, WL-101, WL-113, WL-125, WL-132, WL-133] $name: killed at a commit it comes to the same report and the same trace; nothing that was written down is paid or done again, and what may run once does not run twice',
  ({ scenario, place }) => survives(scenario, place, part),
)
