/** The code of a planner as actors: whether a plan can be followed, what capabilities do, and what its author says of steps. */
import type { AnyActorLogic, AnyActorRef } from 'xstate'
import { effect, fromTask } from '../../index.ts'
import { LadderError, type LadderErrorBody, wordsOf } from '../errors.ts'
import { Executable } from '../executable.ts'
import { fitted, jsonIn } from '../schema.ts'
import type { AnyPlanner, Capability } from './definition.ts'
import { faultIn, Plan, referencesIn, resolved } from './plan.rules.ts'
import { outputActor, validateActor } from './planner.chart.rules.ts'
import { completedIn, type Judged, outputsOf, type PlannerRun, type StepRun } from './planner.context.ts'

/** What a caller brought along for a run of this process. */
type CallerContext = (runId: string) => Readonly<Record<string, unknown>>
export type Checked = { plan: Plan } | { error: LadderErrorBody }
export type Done = { output: unknown } | { error: LadderErrorBody }

type Scope = { definition: AnyPlanner; contextOf: CallerContext }

export const plannerActors = (scope: Scope, nodesMax: number): Record<string, AnyActorLogic> => {
  const { name, output } = scope.definition
  return {
    [validateActor]: fromTask<Checked, PlannerRun>(({ input: run }) => checkedPlan(scope, run, nodesMax)) as AnyActorLogic,
    ...(output && {
      [outputActor]: fromTask<unknown, PlannerRun>(async ({ input: run }) => {
        if (!run.plan) throw new Error(`'${name}' has followed no plan`)
        return await output(outputsOf(run), { input: structuredClone(run.input), plan: run.plan })
      }) as AnyActorLogic,
    }),
  }
}

const checkedPlan = async ({ definition: { name, capabilities } }: Scope, run: PlannerRun, nodesMax: number): Promise<Checked> => {
  const known = capabilities as Record<string, Capability>
  try {
    const { proposed } = run
    const plan = await fitted(Plan, typeof proposed === 'string' ? jsonIn(proposed) : proposed, `the plan of '${name}'`)
    const fault = faultIn(plan, { capabilities: Object.keys(known), completed: completedIn(run), nodesMax })
    if (fault) throw new LadderError('PLANNER_PLAN_INVALID', `the plan of '${name}' cannot be followed: ${fault}`, { context: { plan } })
    for (const { id, capability, input } of plan.steps) {
      const schema = known[capability]?.input
      // What is given the result of another step is known when that has ended.
      if (schema && referencesIn(input).length === 0) await fitted(schema, input, `the input of the step '${id}'`, { step: id })
    }
    return { plan }
  } catch (thrown) {
    if (thrown instanceof LadderError && thrown.code === 'PLANNER_PLAN_INVALID') return { error: thrown.toJSON() }
    const context = thrown instanceof LadderError ? thrown.context : {}
    const error = new LadderError('PLANNER_PLAN_INVALID', `the plan of '${name}' cannot be followed: ${wordsOf(thrown)}`, { cause: thrown, context })
    return { error: error.toJSON() }
  }
}

/** Of an executable: what it is given. Of a function: what it comes to. */
export const codeLogic = ({ contextOf }: Scope, { use, input: schema }: Capability): AnyActorLogic =>
  fromTask<Done, StepRun>(async ({ input: run, self, signal }) => {
    const { step, outputs } = run
    try {
      const given = resolved(step.input, outputs)
      const value = schema ? await fitted(schema, given, `the input of the step '${step.id}'`, { step: step.id }) : given
      // What it takes itself, where nothing else was said.
      const refused = use instanceof Executable && !schema ? await use.refuses(value) : undefined
      if (refused) throw refused
      return { output: use instanceof Executable ? value : await use(value, { ...callerOf(run, contextOf, self, signal), step }) }
    } catch (thrown) {
      return { error: stepError(run, thrown) }
    }
  }) as AnyActorLogic

const stepError = ({ step: { id, capability } }: StepRun, thrown: unknown): LadderErrorBody =>
  (thrown instanceof LadderError
    ? thrown
    : new LadderError('STEP_FAILED', `the step '${id}' failed: ${wordsOf(thrown)}`, { cause: thrown, context: { step: id, capability } })
  ).toJSON()

/** @throws what is told as the end of the run */
export const judgeLogic = ({ definition: { onStep }, contextOf }: Scope): AnyActorLogic =>
  fromTask<Judged, StepRun>(async ({ input: run, self, signal }) => {
    const { step, output, error } = run
    const said = await onStep?.({ ...callerOf(run, contextOf, self, signal), step, ...(error ? { error } : { output: structuredClone(output) }) })
    if (said === undefined || said === null) return { decision: null }
    if (said === 'continue' || said === 'abort' || said === 'replan') return { decision: said }
    if (typeof said === 'object' && typeof said.replan === 'string') return { decision: 'replan', feedback: said.replan }
    throw new Error(`it answered ${JSON.stringify(said)?.slice(0, 80)}: 'continue', 'abort', 'replan' or { replan: '…' }`)
  }) as AnyActorLogic

const callerOf = ({ plannerRunId, caller }: StepRun, contextOf: CallerContext, self: AnyActorRef, signal: AbortSignal) => ({
  context: contextOf(caller),
  runId: plannerRunId,
  key: effect(self).key,
  signal,
})
