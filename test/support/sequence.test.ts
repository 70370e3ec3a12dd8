import { expect, test } from 'vitest'
import { slowest } from '../sequence.ts'
import { long } from '../tiers.ts'

test('each file that the long tier starts first is one of its files', () => {
  expect(slowest.map((name) => `test/${name}.long.test.ts`).filter((file) => !long.includes(file))).toEqual([])
})
