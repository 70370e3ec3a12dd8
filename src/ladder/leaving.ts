/** Callers who leave by their signal before a run has begun, or before its answer is read. */
import type { Report } from './envelope.ts'
import { LadderError, wordsOf } from './errors.ts'

/**
 * What code of an author comes to that may never end; where the signal aborts before that, rejects with what `left` makes of its reason. The work goes on, and
 * nobody hears of it. What needs a moment only still ends: a call that is aborted from the beginning is begun and cancelled, and not forgotten. A call
 * without a signal takes as many steps, so that none overtakes another.
 */
export const unlessAborted = <Value>(
  signal: AbortSignal | undefined,
  work: Promise<Value>,
  left: (reason: unknown) => unknown = (reason) => reason,
): Promise<Value> => {
  const { promise, resolve, reject } = Promise.withResolvers<Value>()
  const leave = (): void => reject(left(signal?.reason))
  const moment = signal && setTimeout(() => (signal.aborted ? leave() : signal.addEventListener('abort', leave)), 0)
  work.then(resolve, reject)
  return promise.finally(() => {
    clearTimeout(moment)
    signal?.removeEventListener('abort', leave)
  })
}

const cancelCodes = {
  agent: 'AGENT_CANCELLED',
  workflow: 'WORKFLOW_CANCELLED',
  supervisor: 'SUPERVISOR_CANCELLED',
  team: 'SUPERVISOR_CANCELLED',
  planner: 'PLANNER_CANCELLED',
  batch: 'BATCH_CANCELLED',
  orchestrator: 'ORCHESTRATOR_CANCELLED',
} as const

const places = {
  begun: { before: 'its input had been checked', hint: 'nothing was begun: execute it again' },
  delivered: { before: 'its answer had been checked for you', hint: 'the run has ended: execute it again under its runId' },
}

/** What a caller is told who leaves before a run began, or before its answer was read. */
export const leaving =
  ({ type, name }: { type: Report['type']; name: string }, place: keyof typeof places) =>
  (reason: unknown): LadderError => {
    const { before, hint } = places[place]
    const cancelledAt = place === 'delivered' ? {} : { cancelledAt: type === 'workflow' ? null : 0 }
    const context = { ...cancelledAt, reason: wordsOf(reason ?? 'aborted') }
    return new LadderError(cancelCodes[type as keyof typeof cancelCodes], `'${name}' was cancelled before ${before}`, { context, hint })
  }
