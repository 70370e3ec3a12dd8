import { expect, test } from 'vitest'
import { createActor, SimulatedClock } from 'xstate'
import { paceMachine } from '../../../src/api/chat/pace.machine.ts'

const aPace = () => {
  const clock = new SimulatedClock()
  const actor = createActor(paceMachine, { clock })
  const shown: number[] = []
  actor.on('show', () => shown.push(clock.now()))
  actor.start()
  return {
    shown,
    changed: () => actor.send({ type: 'changed' }),
    flush: () => actor.send({ type: 'flush' }),
    pass: (ms: number) => clock.increment(ms),
  }
}

test('[CH-64] the first change is shown at once, those behind it at most every 150 ms', () => {
  const { shown, changed, pass } = aPace()
  for (let at = 0; at < 1_000; at += 10) {
    changed()
    pass(10)
  }
  for (let ms = 0; ms < 1_000; ms += 10) pass(10)
  expect(shown).toEqual([0, 150, 300, 450, 600, 750, 900, 1_050])
})

test('[CH-64] what waits is shown before anything that must not overtake it', () => {
  const { shown, changed, flush, pass } = aPace()
  changed()
  pass(10)
  changed()
  flush()
  expect(shown).toEqual([0, 10])
})

test('where nothing waits a flush shows nothing', () => {
  const { shown, changed, flush, pass } = aPace()
  flush()
  changed()
  flush()
  pass(500)
  flush()
  expect(shown).toEqual([0])
})
