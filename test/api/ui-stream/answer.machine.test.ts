import { expect, test, vi } from 'vitest'
import { createActor, fromPromise, SimulatedClock } from 'xstate'
import { answerMachine } from '../../../src/api/ui-stream/answer.machine.ts'

const anAnswer = () => {
  const recorded = Promise.withResolvers<void>()
  const clock = new SimulatedClock()
  const machine = answerMachine.provide({ actors: { record: fromPromise(() => recorded.promise) } })
  const actor = createActor(machine, { clock }).start()
  return { actor, clock, recorded }
}

test('while a person is asked and somebody reads, it pauses once nothing else has begun, and goes on with the decision', () => {
  const { actor, clock } = anAnswer()
  actor.send({ type: 'reader.came' })
  actor.send({ type: 'waits' })
  clock.increment(40)
  actor.send({ type: 'goes.on' })
  clock.increment(40)
  expect(actor.getSnapshot().value).toEqual({ recording: 'working' })

  actor.send({ type: 'waits' })
  clock.increment(50)
  expect(actor.getSnapshot().value).toEqual({ recording: 'paused' })
  actor.send({ type: 'goes.on' })

  expect(actor.getSnapshot().value).toEqual({ recording: 'working' })
})

test('it is forgotten when a person is asked and the last reader has left, and not before', () => {
  const { actor, clock } = anAnswer()
  actor.send({ type: 'reader.came' })
  actor.send({ type: 'reader.came' })
  actor.send({ type: 'waits' })
  clock.increment(50)
  actor.send({ type: 'reader.left' })
  expect(actor.getSnapshot().value).toEqual({ recording: 'paused' })

  actor.send({ type: 'reader.left' })

  expect(actor.getSnapshot().value).toBe('forgotten')
})

test('it is recorded to its end also where nobody reads', async () => {
  const { actor, recorded } = anAnswer()
  expect(actor.getSnapshot().value).toEqual({ recording: 'working' })
  recorded.resolve()
  await vi.waitFor(() => expect(actor.getSnapshot().value).toBe('ended'))
})

test('what keeps it from being recorded is kept for its readers', async () => {
  const { actor, recorded } = anAnswer()
  recorded.reject(new Error('gone'))
  await vi.waitFor(() => expect(actor.getSnapshot().value).toBe('failed'))
  expect(actor.getSnapshot().context.error).toEqual(new Error('gone'))
})
