import { expect, test } from 'vitest'
import { needsProgram } from '../support/programs.ts'
import { chooseSeeds } from '../support/seeds.ts'
import { powerCuts } from './power-cut.ts'

const { seed, cases } = chooseSeeds(import.meta.url)

test('[SHOW-IMAGES, INV-1, INV-16, INV-20] where the power goes at a random moment and what was not synced is lost or torn, every acknowledged entry is there', async () => {
  needsProgram('cc', 'gcc')
  const { images, lossy, torn, syncs, violations } = await powerCuts(cases, seed)

  expect(violations).toEqual([])
  expect(images).toBe(cases)
  expect(Math.min(lossy, torn, syncs)).toBeGreaterThan(0)
})
