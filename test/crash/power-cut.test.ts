import { expect, test } from 'vitest'
import { powerCuts } from './power-cut.ts'

test('[SHOW-IMAGES, INV-1, INV-16, INV-20] where the power goes at a random moment and what was not synced is lost or torn, every acknowledged entry is there', async () => {
  const { images, lossy, torn, syncs, violations } = await powerCuts(15, 5)

  expect(violations).toEqual([])
  expect(images).toBe(15)
  expect(Math.min(lossy, torn, syncs)).toBeGreaterThan(0)
})
