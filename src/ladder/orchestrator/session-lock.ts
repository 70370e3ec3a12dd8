/** A lock of the caller's own, which a session holds for each of its turns: for runtimes that share the store of their sessions, and not their journals. */
import { LadderError, wordsOf } from '../errors.ts'
import { inTime, type Timer, unanswered } from '../in-time.ts'

export type LockedSession = { orchestrator: string; sessionId: string }

/** Every owner names one turn, also after a crash: who asks again for what it holds is given it. */
export interface SessionLock {
  /** ms that it is given for, again and again while a turn is under way; whoever dies loses it after that. Default: 30,000. */
  readonly ttlMs?: number
  /** ms that a turn waits for it at most. Default: 30,000. */
  readonly maxWaitMs?: number
  /** @returns false where somebody else holds it */
  acquire(session: LockedSession, owner: string, ttlMs: number): boolean | Promise<boolean>
  /** @returns false where somebody else has come to hold it, or nobody does any more */
  renew(session: LockedSession, owner: string, ttlMs: number): boolean | Promise<boolean>
  /** Of somebody who does not hold it any more it changes nothing. */
  release(session: LockedSession, owner: string): unknown
}

export type CheckedLock = { lock: SessionLock; ttlMs: number; maxWaitMs: number }

const methods = ['acquire', 'renew', 'release'] as const

/** @returns nothing where the session's own actor is all that keeps its turns apart @throws LadderError ORCHESTRATOR_CONFIG */
export const checkedLock = (name: string, given: unknown): CheckedLock | undefined => {
  if (given === undefined || typeof given === 'boolean') return undefined
  const lock = given as SessionLock
  const missing = typeof given === 'object' && given !== null ? methods.filter((method) => typeof lock[method] !== 'function') : methods
  if (missing.length > 0)
    throw new LadderError('ORCHESTRATOR_CONFIG', `sessionLock of '${name}' is no lock`, {
      hint: `give true, false or an object with acquire(), renew() and release(); it has no ${missing.join(', ')}`,
    })
  const { ttlMs = 30_000, maxWaitMs = 30_000 } = lock
  for (const [option, value, least] of [
    ['ttlMs', ttlMs, 1],
    ['maxWaitMs', maxWaitMs, 0],
  ] as const)
    if (!Number.isInteger(value) || value < least)
      throw new LadderError('ORCHESTRATOR_CONFIG', `sessionLock.${option} of '${name}' is ${String(value)}`, {
        hint: `it is a whole number of milliseconds from ${least} on`,
      })
  return { lock, ttlMs, maxWaitMs }
}

/** @throws LadderError ORCHESTRATOR_FAILED where code of the lock does, or gives no answer */
export const asked = async <Value>(timer: Timer, what: string, work: () => Value | Promise<Value>): Promise<Value> => {
  try {
    return await inTime(timer, work, () => new Error(unanswered('it')))
  } catch (thrown) {
    throw new LadderError('ORCHESTRATOR_FAILED', `${what} of the session lock failed: ${wordsOf(thrown)}`, {
      cause: thrown,
      hint: 'see whether the lock can be reached: a turn does not run without it',
    })
  }
}

export const lostLock = ({ orchestrator, sessionId }: LockedSession): LadderError =>
  new LadderError('ORCHESTRATOR_LOCK_LOST', `the session '${sessionId}' of '${orchestrator}' was locked by somebody else in the middle of a turn`, {
    context: { sessionId },
  })
