/** Kills every scenario in memory at a sixth of its commits, which the tested commit draws. */
import { test } from 'vitest'
import { choosePart } from '../../support/share.ts'
import { parts, survives } from './killed.ts'
import { scenarios } from './scenarios.ts'

const part = choosePart(import.meta.url, parts)

test.for(scenarios.map((scenario, place) => ({ name: scenario.name, scenario, place })))(
  '$name: killed at any of its commits it comes to the same report and the same trace',
  { timeout: 600_000 },
  ({ scenario, place }) => survives(scenario, place, part),
)
