/** The author's code of a step as it is called: what it is given, and what it may call. */
import type { AnyActorLogic, AnyActorRef } from 'xstate'
import { type EffectInfo, effect, fromTask } from '../../index.ts'
import { type Calls, withCalls } from '../calling/calls.ts'
import { LadderError } from '../errors.ts'
import { readBy } from '../history.rules.ts'
import { recordOf } from '../kept.rules.ts'
import { callerOf } from '../run.rules.ts'
import type { Mirror } from '../stores/mirror.ts'
import type { AnyWorkflow, StepContext } from './definition.ts'
import type { RunContext, StepEnd } from './workflow.context.ts'

type CodeInput = { run: RunContext; attempt: number }
export type Code = StepContext<never, never>
/** What a caller brought along for a run of this process. */
export type CallerContext = (runId: string) => Readonly<Record<string, unknown>>
/** @property names of all pieces of work, in their order */
export type Scope = {
  definition: AnyWorkflow
  names: readonly string[]
  contextOf: CallerContext
  mirror: Mirror<RunContext, StepEnd> | undefined
}

export const codeOf = (
  scope: Scope,
  step: string,
  doing: (given: { run: RunContext; code: Code; info: EffectInfo }) => Promise<StepEnd>,
): AnyActorLogic =>
  fromTask<StepEnd, CodeInput>(async ({ input: { run, attempt }, self, signal, emit }) => {
    const end = await withCalls(run, { name: scope.definition.name, work: step, self, signal, emit }, (calls) =>
      doing({ run, info: effect(self), code: codeContext({ run, step, attempt, signal, self, scope, calls }) }),
    )
    await scope.mirror?.settled(run, step, end, { signal, emit })
    return end
  }) as AnyActorLogic

/** Code that says a number, or how its step ends without one, and calls nobody. */
export const reckoning = (scope: Scope, step: string, doing: (code: Code) => Promise<number | StepEnd>): AnyActorLogic =>
  fromTask<number | StepEnd, CodeInput>(({ input: { run, attempt }, self, signal }) =>
    doing(codeContext({ run, step, attempt, signal, self, scope, calls: undefined })),
  ) as AnyActorLogic

type Given = {
  run: RunContext
  step: string
  attempt: number
  signal: AbortSignal
  self: AnyActorRef
  scope: Scope
  calls: Calls | undefined
}

/** Each attempt begins with a state of its own: what a failed one did to it is gone. */
const codeContext = ({ run, step, attempt, signal, self, scope: { names, contextOf }, calls }: Given): Code => {
  const { runId, input, state, history } = run
  const { asks } = run.going[step] ?? {}
  let steps: Code['steps'] | undefined
  return {
    // Nobody else has it: an effect is given a copy.
    input: frozen(input) as never,
    state: structuredClone(asks ? asks.state : state) as never,
    context: contextOf(callerOf(run)),
    history: readBy(history, 'agents'),
    // There may be a thousand of them, and most code asks for none.
    get steps() {
      steps ??= frozen(recordOf(run.steps, names))
      return steps
    },
    runId,
    attempt,
    key: effect(self).key,
    signal,
    run: async (executable, value, options) => {
      if (calls) return calls.stream(executable, value, options).result
      throw new LadderError('LADDER_CONFIG', `the step '${step}' runs something where it only says until when it sleeps`, {
        hint: 'call it in a step before',
      })
    },
  }
}

/** Records of steps stay frozen, so that each is gone through once. Bytes cannot be. */
const frozen = <Value>(value: Value): Value => {
  if (typeof value !== 'object' || value === null || ArrayBuffer.isView(value) || Object.isFrozen(value)) return value
  Object.freeze(value)
  for (const inner of Object.values(value)) frozen(inner)
  return value
}
