import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { repository } from '../tidy/sources.ts'
import { mutants } from './mutants.ts'

test('[SHOW-PLANTED] there are at least 20 planted bugs, and each has exactly one place in the source; run.ts says who notices', () => {
  const places = mutants.map(({ name, file, find }) => [name, readFileSync(join(repository, 'src', file), 'utf8').split(find).length - 1])

  expect(places.filter(([, count]) => count !== 1)).toEqual([])
  expect(new Set(mutants.map(({ name }) => name)).size).toBeGreaterThanOrEqual(20)
})
