import { expect, test } from 'vitest'
import { powerCuts } from './power-cut.ts'

test('[SHOW-IMAGES, INV-1, INV-16, INV-20] copies of the store at random moments, with the end of the log torn, hold every entry that was acknowledged', async () => {
  const { images, cut, garbled, violations } = await powerCuts(40, 5)

  expect(violations).toEqual([])
  expect(images).toBe(40)
  expect(Math.min(cut, garbled)).toBeGreaterThan(0)
})
