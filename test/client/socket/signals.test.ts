import { expect, test } from 'vitest'
import { pageSignals } from '../../../src/client/socket/signals.ts'

/** A window with a page in it. */
const aWindow = () => {
  const document = Object.assign(new EventTarget(), { visibilityState: 'visible' })
  const world = Object.assign(new EventTarget(), { document })
  let woken = 0
  const off = pageSignals(world)(() => void woken++)
  return { world, document, off, woken: () => woken }
}

test('[CH-07] a page that is looked at again, or online, is worth a new try', () => {
  const { world, document, woken } = aWindow()

  document.dispatchEvent(new Event('visibilitychange'))
  world.dispatchEvent(new Event('online'))

  expect(woken()).toBe(2)
})

test('one that is left is not, and none is after the end', () => {
  const { world, document, woken, off } = aWindow()
  document.visibilityState = 'hidden'
  document.dispatchEvent(new Event('visibilitychange'))
  off()

  document.visibilityState = 'visible'
  document.dispatchEvent(new Event('visibilitychange'))
  world.dispatchEvent(new Event('online'))

  expect(woken()).toBe(0)
})

test('in Node there is no page, and nothing to hear', () => {
  expect(pageSignals({})(() => undefined)).not.toThrow()
})
