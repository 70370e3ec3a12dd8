/** What a schedule does outside of its chart: it reckons when it is due next, looks at the run before, and begins the next one. */
import type { AnyActorLogic } from 'xstate'
import { type Address, directoryOf, effect, fromTask, isRuntimeError } from '../../index.ts'
import { LadderError, wordsOf } from '../errors.ts'
import { isoOf } from './cadence.ts'
import type { CheckedSchedule, FiringInput } from './definition.ts'
import { awaitActor, beginActor, lookActor, reckonActor } from './schedule.chart.rules.ts'
import { attemptsMax, type Beginning, type Fallen, type Firing, type ScheduleState } from './schedule.context.ts'

/** How long one wait for the next commit of a run is, in ms; a word that was lost on the way costs that much. */
const lookMs = 30_000

export const scheduleActors = ({ name, run, cadence, input }: CheckedSchedule): Record<string, AnyActorLogic> => {
  const addressOf = (id: string): Address => ({ kind: run.name, id })
  const task = <Output>(work: Parameters<typeof fromTask<Output, ScheduleState>>[0]) => fromTask(work) as AnyActorLogic

  return {
    // An effect, since time zones change with the process: what it came to stands in the journal.
    [reckonActor]: task<Fallen>(async ({ input: { from, anchor, reckonedAt } }) => {
      const { fallen, next } = cadence.reckon({ from, anchor, now: reckonedAt })
      return { fallen: fallen.map((due) => ({ due, runId: `${name}:${isoOf(due)}` })), next }
    }),

    [lookActor]: task<{ ended: boolean }>(async ({ input: { last = '' }, self }) => ({
      ended: hasEnded(await directoryOf(self).read(addressOf(last), true)),
    })),

    [awaitActor]: task<void>(async ({ input: { last = '' }, self, signal }) => {
      const actors = directoryOf(self)
      effect(self).waits(true)
      for (;;) {
        // Before it looks, so that nothing falls in between.
        const next = actors.nextCommit(addressOf(last), lookMs)
        next.catch(() => undefined)
        if (hasEnded(await actors.read(addressOf(last), true))) return
        signal.throwIfAborted()
        await next
      }
    }),

    [beginActor]: task<Beginning>(async ({ input: { queue, attempts }, self }) => {
      const firing = queue[0] as Firing
      const actors = directoryOf(self)
      try {
        const given = typeof input === 'function' ? await (input as (firing: FiringInput) => unknown)(firingInput(name, firing)) : input
        await actors.create(addressOf(firing.runId), { ...(await run.runInput(firing.runId, given)), unattended: true })
        await actors.send(addressOf(firing.runId), { type: 'execute' }, { id: 'execute' }).catch(unlessEnded)
        return {}
      } catch (thrown) {
        const again = attempts < attemptsMax && isRuntimeError(thrown) && thrown.retryable
        return { error: failure(name, firing, thrown).toJSON(), ...(again && { again }) }
      }
    }),
  }
}

const firingInput = (name: string, { runId, due, by }: Firing): FiringInput => ({ name, runId, due: new Date(due), by })

/** One that was deleted does not run any more. */
const hasEnded = ({ snapshot, quarantine }: Awaited<ReturnType<ReturnType<typeof directoryOf>['read']>>): boolean =>
  quarantine !== undefined || snapshot === undefined || snapshot.status !== 'active' || (snapshot.tags ?? []).includes('settled')

const failure = (name: string, { runId }: Firing, thrown: unknown): LadderError =>
  thrown instanceof LadderError
    ? thrown
    : new LadderError('SCHEDULE_FAILED', `the schedule '${name}' could not begin ${runId}: ${wordsOf(thrown)}`, { cause: thrown, context: { runId } })

/** It has run already: it is not begun twice. */
const unlessEnded = (error: unknown): void => {
  if (!isRuntimeError(error) || error.code !== 'closed' || error.retryable) throw error
}
