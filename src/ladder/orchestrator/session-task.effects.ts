/** A piece of work of a session, as an actor: whatever it throws comes back as a result, so that the chart decides what happens next. */
import type { AnyActorLogic } from 'xstate'
import { fromTask } from '../../index.ts'
import { LadderError, type LadderErrorBody, wordsOf } from '../errors.ts'
import type { CheckpointStore } from '../stores/store.ts'
import type { CheckedOrchestrator } from './definition.ts'
import type { Ended, SessionRun } from './session.context.ts'

export type SessionScope = CheckedOrchestrator & { signature: string; store: () => CheckpointStore }

/** Work of a session, whatever it throws. */
export const sessionTask = <Value>(what: string, work: (run: SessionRun, signal: AbortSignal) => Promise<Value>): AnyActorLogic =>
  fromTask<Ended<Value>, SessionRun>(async ({ input, signal }) => {
    try {
      return { ended: 'completed', value: await work(input, signal) }
    } catch (thrown) {
      return { ended: 'failed', error: sessionError(what, thrown) }
    }
  }) as AnyActorLogic

const sessionError = (what: string, thrown: unknown): LadderErrorBody =>
  (thrown instanceof LadderError ? thrown : new LadderError('ORCHESTRATOR_FAILED', `${what} failed: ${wordsOf(thrown)}`, { cause: thrown })).toJSON()
