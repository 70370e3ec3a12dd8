import { expect, test } from 'vitest'
import { boundedOutput } from '../../../src/tools/shell/bounded-output.ts'

/** What is kept of pieces, and what the text says is missing. */
const outputOf = (sizes: readonly number[], bytesMax: number) => {
  const output = boundedOutput(bytesMax)
  for (const size of sizes) output.add(Buffer.alloc(size, 'x'))
  const text = output.text()
  return { kept: text.split('x').length - 1, left: Number(/… \((\d+) bytes left out\) …/.exec(text)?.[1] ?? 0), truncated: output.truncated() }
}

test.each([
  ['one piece', [500_000]],
  ['many small pieces', Array.from({ length: 5_000 }, () => 100)],
  ['many large pieces', Array.from({ length: 40 }, () => 65_536)],
  ['pieces of all sizes', Array.from({ length: 300 }, (_, index) => index * 37)],
])('the number of bytes left out is all that was written without what is kept, in %s', (_, sizes) => {
  const { kept, left, truncated } = outputOf(sizes, 1_000)

  expect({ kept, left, truncated }).toEqual({ kept: 1_000, left: sizes.reduce((sum, size) => sum + size) - 1_000, truncated: true })
})

test.each([[[]], [[1_000]], [[400, 600]], [[1, 999]]])('output of %j bytes that fits is kept whole', (sizes) => {
  expect(outputOf(sizes, 1_000)).toEqual({ kept: sizes.reduce((sum, size) => sum + size, 0), left: 0, truncated: false })
})
