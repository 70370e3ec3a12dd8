import { expect, test, vi } from 'vitest'
import { createActor, fromPromise } from 'xstate'
import { errandMachine } from '../../../src/api/openai/errand.machine.ts'
import { actorClock } from '../../../src/contracts/environment.ts'
import { virtualClock } from '../../../src/testing/index.ts'

const anErrand = (input: { patienceMs?: number; keepMs?: number | null } = {}) => {
  const clock = virtualClock()
  const outcome = Promise.withResolvers<void>()
  const stop = vi.fn().mockResolvedValue(undefined)
  const remove = vi.fn().mockResolvedValue(undefined)
  const machine = errandMachine.provide({
    actors: {
      wait: fromPromise(() => outcome.promise),
      deny: fromPromise<void>(async () => undefined),
      stop: fromPromise<void>(stop),
      remove: fromPromise<void>(remove),
    },
  })
  const actor = createActor(machine, { input: { patienceMs: 0, keepMs: 0, ...input }, clock: actorClock(clock) })
  const stays = vi.fn()
  actor.on('stays', stays)
  return { actor: actor.start(), clock, outcome, stop, remove, stays }
}

test('the session is deleted when its answer is there and nobody reads it any more', async () => {
  const { actor, clock, outcome, remove, stop } = anErrand()

  outcome.resolve()
  await clock.advance(0)
  expect(remove).not.toHaveBeenCalled()

  actor.send({ type: 'left' })
  await clock.advance(0)
  expect(remove).toHaveBeenCalledOnce()
  expect(stop).not.toHaveBeenCalled()
  expect(actor.getSnapshot().status).toBe('done')
})

test('what is to stay is not deleted', async () => {
  const { actor, clock, outcome, remove } = anErrand({ keepMs: null })

  outcome.resolve()
  actor.send({ type: 'left' })
  await clock.advance(0)

  expect(remove).not.toHaveBeenCalled()
  expect(actor.getSnapshot().status).toBe('done')
})

test('a turn that cannot be stopped yet is tried again, and one whose reader comes back in time is not stopped', async () => {
  const { actor, clock, stop } = anErrand({ patienceMs: 1_000 })
  stop.mockRejectedValueOnce(new Error('not now'))

  actor.send({ type: 'left' })
  await clock.advance(900)
  actor.send({ type: 'joined' })
  await clock.advance(10_000)
  expect(stop).not.toHaveBeenCalled()

  actor.send({ type: 'left' })
  await clock.advance(2_000)
  expect(stop).toHaveBeenCalledTimes(2)
})

test('a session that cannot be deleted is tried a few times, and then it is said that it stays', async () => {
  const { actor, clock, outcome, remove, stays } = anErrand()
  remove.mockRejectedValue(new Error('busy'))

  outcome.resolve()
  actor.send({ type: 'left' })
  await clock.advance(60_000)

  expect(remove).toHaveBeenCalledTimes(6)
  expect(stays).toHaveBeenCalledOnce()
  expect(actor.getSnapshot().status).toBe('done')
})
