/** Which actors the embedded store finds to be woken, where a write that asks for it fails. */
import { expect, test } from 'vitest'
import type { Head } from '../../src/contracts/transport.ts'
import { Wakes } from '../../src/transport/embedded/wakes.ts'
import { anEnvironment, aSession } from './harness.ts'

/** An actor that the file has with this wake time. */
const stored = (wakeAt: number | null) => {
  const head: Head = { address: aSession(), seq: 1, wakeAt, at: 1 }
  const wakes = new Wakes([head], anEnvironment().log)
  return {
    wakes,
    due: (until: number) =>
      wakes
        .due(
          until,
          10,
          () => true,
          () => head,
        )
        .map(({ seq }) => seq),
  }
}

test.each([900, null])('the wake time in the file is still found where the write that asks for %s fails', (wakeAt) => {
  const { wakes, due } = stored(50)

  // The write is on its way, and fails: nothing tells the index.
  wakes.wanted(aSession(), wakeAt)

  expect(due(100)).toEqual([1])
  expect(due(49)).toEqual([])
})

test('an earlier wake time that is being written is looked for, and counts only once it stands in the file', () => {
  const { wakes, due } = stored(500)

  wakes.wanted(aSession(), 50)

  expect(due(100)).toEqual([])
  expect(due(500)).toEqual([1])
})

test('a wake time that is written replaces the one before', () => {
  const { wakes, due } = stored(50)

  wakes.reached(aSession(), 900)
  expect(due(100)).toEqual([])
  wakes.reached(aSession(), null)
  expect(due(10_000)).toEqual([])
})
