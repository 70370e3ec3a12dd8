/** The code of a planner as actors: whether a plan can be followed, what capabilities do, and what its author says of steps. */
import type { AnyActorLogic } from 'xstate'
import { effect, fromTask } from '../../index.ts'
import { withCalls } from '../calling/calls.ts'
import type { Called } from '../calling/work.context.ts'
import { inShort, LadderError, type LadderErrorBody, wordsOf } from '../errors.ts'
import { Executable } from '../executable.ts'
import { fitted, jsonIn } from '../schema.ts'
import type { AnyPlanner, Capability, StepOutcome } from './definition.ts'
import { faultIn, Plan, referencesIn, resolved } from './plan.rules.ts'
import { outputActor, validateActor } from './planner.chart.rules.ts'
import { completedIn, type Judged, outputsOf, type PlannerRun, type StepRun } from './planner.context.ts'

/** What a caller brought along for a run of this process. */
type CallerContext = (runId: string) => Readonly<Record<string, unknown>>
export type Checked = { plan: Plan } | { error: LadderErrorBody }
export type Done = ({ output: unknown } | { error: LadderErrorBody }) & Called

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
export const codeLogic = (scope: Scope, { use, input: schema }: Capability): AnyActorLogic =>
  stepTask<Done>(scope, async (run, caller) => {
    const { step, outputs } = run
    try {
      const given = resolved(step.input, outputs)
      const value = schema ? await fitted(schema, given, `the input of the step '${step.id}'`, { step: step.id }) : given
      // What it takes itself, where nothing else was said.
      const refused = use instanceof Executable && !schema ? await use.refuses(value) : undefined
      if (refused) throw refused
      return { output: use instanceof Executable ? value : await use(value, { ...caller, step }) }
    } catch (thrown) {
      return { error: stepError(run, thrown) }
    }
  })

const stepError = ({ step: { id, capability } }: StepRun, thrown: unknown): LadderErrorBody =>
  (thrown instanceof LadderError
    ? thrown
    : new LadderError('STEP_FAILED', `the step '${id}' failed: ${wordsOf(thrown)}`, { cause: thrown, context: { step: id, capability } })
  ).toJSON()

/** @throws what is told as the end of the run */
export const judgeLogic = (scope: Scope): AnyActorLogic =>
  stepTask<Judged>(scope, async (run, caller) => {
    const { step, output, error } = run
    const said = await scope.definition.onStep?.({ ...caller, step, ...(error ? { error } : { output: structuredClone(output) }) })
    if (said === undefined || said === null) return { decision: null }
    if (said === 'continue' || said === 'abort' || said === 'replan') return { decision: said }
    if (typeof said === 'object' && typeof said.replan === 'string') return { decision: 'replan', feedback: said.replan }
    throw new Error(`it answered ${inShort(said)}: 'continue', 'abort', 'replan' or { replan: '…' }`)
  })

type Caller = Pick<StepOutcome, 'context' | 'runId' | 'key' | 'signal'>

/** A piece of an author's code in a step: what it calls stands below that. */
const stepTask = <End extends object>(
  { definition: { name }, contextOf }: Scope,
  doing: (run: StepRun, caller: Caller) => Promise<End>,
): AnyActorLogic =>
  fromTask<End, StepRun>(({ input: run, self, signal, emit }) => {
    const { plannerRunId, caller, inside, step } = run
    const given = { context: contextOf(caller), runId: plannerRunId, key: effect(self).key, signal }
    return withCalls({ runId: plannerRunId, input: undefined, inside }, { name, work: step.id, self, signal, emit }, () => doing(run, given))
  }) as AnyActorLogic
