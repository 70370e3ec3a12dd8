/** What a session does with the lock of its caller. */
import type { AnyActorLogic } from 'xstate'
import { releaseActor, renewActor } from './session.chart.rules.ts'
import type { Held, SessionRun } from './session.context.ts'
import { asked, lostLock } from './session-lock.ts'
import { hasEnded, type SessionScope, sessionTask } from './session-task.effects.ts'

const ownerOf = ({ turn }: SessionRun): string => turn?.request.id ?? ''

/** Does it under the lock, where there is one. @returns `isHeld` where it could not be had */
export const underLock = async <Value>(scope: SessionScope, run: SessionRun, work: () => Promise<Value>): Promise<Value | Held> => {
  if (!scope.sessionLock) return work()
  const { lock, ttlMs, maxWaitMs } = scope.sessionLock
  const session = { orchestrator: scope.name, sessionId: run.sessionId }
  if (!(await asked(await scope.timer(), 'acquire()', () => lock.acquire(session, ownerOf(run), ttlMs)))) return { isHeld: true, maxWaitMs }
  try {
    return await work()
  } catch (thrown) {
    // On the next runtime the same work asks for it again.
    if (!hasEnded(thrown)) await asked(await scope.timer(), 'release()', () => lock.release(session, ownerOf(run))).catch(() => undefined)
    throw thrown
  }
}

/** @returns whether it is held still */
const renewed = async ({ sessionLock, name, timer }: SessionScope, run: SessionRun): Promise<boolean> => {
  if (!sessionLock) return true
  const { lock, ttlMs } = sessionLock
  return await asked(await timer(), 'renew()', () => lock.renew({ orchestrator: name, sessionId: run.sessionId }, ownerOf(run), ttlMs))
}

/** Nothing is stored by a turn whose place somebody else may have taken. @throws LadderError ORCHESTRATOR_LOCK_LOST, ORCHESTRATOR_FAILED */
export const requireLock = async (scope: SessionScope, run: SessionRun): Promise<void> => {
  if (run.turn?.lease && !(await renewed(scope, run))) throw lostLock({ orchestrator: scope.name, sessionId: run.sessionId })
}

export const lockActors = (scope: SessionScope): Record<string, AnyActorLogic> => ({
  [renewActor]: sessionTask(scope, 'to renew a lock', (run) => renewed(scope, run)),
  [releaseActor]: sessionTask(scope, 'to release a lock', async (run) => {
    const { sessionLock, name, timer } = scope
    await asked(await timer(), 'release()', () => sessionLock?.lock.release({ orchestrator: name, sessionId: run.sessionId }, ownerOf(run)))
  }),
})
