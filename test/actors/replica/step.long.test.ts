import { it } from 'vitest'
import { expectSameLives } from './two-lives.ts'

it('a step by table is the same as the step of XState for thousands of machines', () => {
  expectSameLives(import.meta.url)
})
