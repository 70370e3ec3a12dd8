/** What the actions about the lock of the caller mean. */
import { assign, type EventObject, sendTo } from 'xstate'
import { errorBody, type LadderErrorBody } from '../errors.ts'
import { turnActor } from './session.chart.rules.ts'
import { type Held, type SessionRun, turned } from './session.context.ts'
import { errorOf, madeOf } from './session.events.rules.ts'
import { lostLock } from './session-lock.ts'

type Turn = NonNullable<SessionRun['turn']>

/** @param tell emits a word of the turn that is under way, where it is to be told */
export const lockActions = (
  name: string,
  now: () => number,
  tell: (type: string, more: () => object, when: (run: SessionRun) => boolean) => unknown,
) => {
  const turning = (change: (turn: Turn, event: EventObject, run: SessionRun) => Partial<Turn>) =>
    assign(({ context, event }: { context: SessionRun; event: EventObject }) =>
      context.turn ? turned(context, change(context.turn, event, context)) : {},
    )
  const locked = ({ sessionId, turn }: SessionRun): LadderErrorBody =>
    errorBody('ORCHESTRATOR_LOCKED', `the session '${sessionId}' of '${name}' is locked by somebody else`, {
      context: { sessionId, waitedMs: turn?.lockWait ? now() - turn.lockWait.since : 0 },
    })
  return {
    /** Once, however often it is asked for. */
    tellHeld: tell(
      'lock.waiting',
      () => ({ lock: 'session', waitedMs: 0 }),
      ({ turn }) => turn?.lockWait === undefined,
    ),
    waitForLock: turning(({ lockWait }, event) => ({
      lockWait: lockWait ?? { since: now(), until: now() + madeOf<Held>(event).maxWaitMs },
    })),
    giveUp: turning((_, __, run) => ({ error: locked(run) })),
    noteLease: turning(({ lease }) => ({ lease: { ttlMs: lease?.ttlMs ?? 0, until: now() + (lease?.ttlMs ?? 0) } })),
    loseLock: turning((_, __, { sessionId }) => ({ lease: undefined, error: lostLock({ orchestrator: name, sessionId }).toJSON() })),
    tellTurnOfLoss: sendTo(turnActor, { type: 'cancel', reason: 'the lock of its session was lost' }),
    noteSettled: turning(() => ({ isSettled: true })),
    noteReleased: turning((_, event) => {
      const error = errorOf(event)
      return { lease: undefined, ...(error && { lockWarning: error.message }) }
    }),
  }
}
