/** Time that a run may work: a person who is asked takes as long as they take, and none of that counts. */
import { presentMoment } from '../../contracts/environment.ts'
import type { Profile } from '../../contracts/profile.ts'

/** ms that are left of the limit of a run which waits for a person; null once it goes on. Runs whose profile an earlier build made have none: all of their time counts. */
export type WorkTime = { workLeftMs?: number | null }

/** ms since the epoch of the commit; undefined where a chart is walked outside of an actor. */
export const commitTime = (): number | undefined => presentMoment()?.now()

/** It begins to wait for a person. @param timer of the limit, whose rest is kept */
export const workPauses = (
  { workLeftMs }: WorkTime,
  { turnTimeMs }: Pick<Profile, 'turnTimeMs'>,
  actor: object,
  { type }: { type: string },
): WorkTime => {
  const left = turnTimeMs !== undefined && typeof workLeftMs !== 'number' ? presentMoment()?.leftOf(actor, type) : undefined
  return left === undefined ? {} : { workLeftMs: left }
}

/** It waits for a person, and its time stands still. */
export const isPaused = ({ workLeftMs }: WorkTime): boolean => typeof workLeftMs === 'number'

/** ms until the timer of a run that waits for a person fires again in vain: an actor with work to do always has a time at which it wakes. */
export const pausedMs = 86_400_000

/** The event of a timer of a state, by which XState also cancels it. */
export const timerOf = (delay: string, state: string): { type: string } => ({ type: `xstate.after.${delay}.${state}` })
