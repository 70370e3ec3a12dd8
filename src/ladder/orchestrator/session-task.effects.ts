/** A piece of work of a session, as an actor: whatever it throws comes back as a result, so that the chart decides what happens next. */
import type { AnyActorLogic } from 'xstate'
import { fromTask, isRuntimeError } from '../../index.ts'
import { LadderError, type LadderErrorBody, wordsOf } from '../errors.ts'
import type { Timer } from '../in-time.ts'
import type { CheckpointStore } from '../stores/store.ts'
import type { CheckedOrchestrator } from './definition.ts'
import type { Ended, SessionRun } from './session.context.ts'

export type SessionScope = CheckedOrchestrator & {
  signature: string
  /** A session goes on before its runtime has started in full. */
  store: () => Promise<CheckpointStore>
  timer: () => Promise<Timer>
  /** Runs of turns, with their journals. */
  forget: (runs: readonly string[]) => Promise<void>
  /** Resolves when another runtime has taken over. */
  nextRuntime: () => Promise<unknown>
}

/** Work of a session, whatever it throws. Where its runtime ends in the middle of it, it is done again on the next one. */
export const sessionTask = <Value>(
  { nextRuntime }: Pick<SessionScope, 'nextRuntime'>,
  what: string,
  work: (run: SessionRun) => Promise<Value>,
): AnyActorLogic =>
  fromTask<Ended<Value>, SessionRun>(async ({ input }) => {
    for (;;)
      try {
        return { ended: 'completed', value: await work(input) }
      } catch (thrown) {
        if (!hasEnded(thrown)) return { ended: 'failed', error: sessionError(what, thrown) }
        await nextRuntime()
      }
  }) as AnyActorLogic

/** The runtime has, or the store that it has brought along. */
export const hasEnded = (thrown: unknown): boolean =>
  (isRuntimeError(thrown) && thrown.code === 'closed') || (thrown instanceof LadderError && hasEnded(thrown.cause))

const sessionError = (what: string, thrown: unknown): LadderErrorBody =>
  (thrown instanceof LadderError ? thrown : new LadderError('ORCHESTRATOR_FAILED', `${what} failed: ${wordsOf(thrown)}`, { cause: thrown })).toJSON()
