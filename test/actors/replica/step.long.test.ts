import { it } from 'vitest'
import { expectSameLives } from './two-lives.ts'

it('a step by table is the same as the step of XState for ten thousand machines', () => {
  expectSameLives(10_000)
})
