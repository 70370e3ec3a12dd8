/** Looking for what may have got lost. */
import { expect, test, vi } from 'vitest'
import { pollOutcome } from '../../src/runtime/outcome-poller.ts'
import { virtualClock } from '../../src/testing/index.ts'

test('without a sign it looks after 5, 15 and 35 seconds, and then once a minute at least', async () => {
  const clock = virtualClock()
  const seconds: number[] = []
  const begin = clock.now()
  const looking = pollOutcome(clock, async () => void seconds.push((clock.now() - begin) / 1000))

  await clock.advance(200_000)
  looking.stop()
  await clock.advance(200_000)

  expect(seconds).toEqual([5, 15, 35, 75, 135, 195])
})

test('a sign is looked into at once; one that comes meanwhile is not lost, however many come with it', async () => {
  const clock = virtualClock()
  const gate = Promise.withResolvers<void>()
  const look = vi.fn(() => gate.promise)
  const looking = pollOutcome(clock, look)

  for (let sign = 0; sign < 100; sign++) looking.now()
  expect(look).toHaveBeenCalledOnce()
  gate.resolve()
  await clock.advance(0)
  expect(look).toHaveBeenCalledTimes(2)

  // What a look found nothing of may be written a moment later.
  await clock.advance(100)
  expect(look).toHaveBeenCalledTimes(3)
  looking.stop()
  looking.now()
  await clock.advance(100_000)
  expect(look).toHaveBeenCalledTimes(3)
})
