/** The author's code of a supervisor as it is called: what it is given, and what is made of what it throws. */
import type { AnyActorRef } from 'xstate'
import { effect } from '../../index.ts'
import { LadderError, type LadderErrorBody, wordsOf } from '../errors.ts'
import { readBy } from '../history.rules.ts'
import type { AnySupervisor, CheckedIntent, SupervisorContext } from './definition.ts'
import type { SupervisorRun } from './supervisor.context.ts'

/** What a caller brought along for a run of this process. */
type CallerContext = (runId: string) => Readonly<Record<string, unknown>>
export type CodeInput = { run: SupervisorRun; attempt: number }
export type Code = SupervisorContext<never, never>
export type Scope = { definition: AnySupervisor; intents: readonly CheckedIntent[]; contextOf: CallerContext }

export const supervisorError = (thrown: unknown, what: string): LadderErrorBody =>
  (thrown instanceof LadderError ? thrown : new LadderError('SUPERVISOR_FAILED', `${what} failed: ${wordsOf(thrown)}`, { cause: thrown })).toJSON()

export const codeContext = (
  { definition, contextOf }: Scope,
  { run, signal, self }: { run: SupervisorRun; signal: AbortSignal; self: AnyActorRef },
): Code => {
  const { runId, input, state, iterations, feedback, inside, history, known } = run
  const { goal, maxIterations = 10 } = definition
  return {
    input: structuredClone(input) as never,
    state: structuredClone(state) as never,
    context: known ? Object.freeze({ ...contextOf(inside?.rootRunId ?? runId), ...known }) : contextOf(inside?.rootRunId ?? runId),
    goal,
    history: readBy(history, 'agents'),
    iteration: iterations.length,
    maxIterations,
    iterations,
    feedback,
    runId,
    key: effect(self).key,
    signal,
  }
}
