import { it } from 'vitest'
import { partToday } from '../../support/share.ts'
import { expectSameLives } from './two-lives.ts'

/** 9,000 in three days, others each time. */
const machines = 9_000 / partToday(3).of

it(`a step by table is the same as the step of XState for ${machines} machines`, () => {
  expectSameLives(machines)
})
