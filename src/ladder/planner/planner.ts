/** `planner()`: a model plans over what is registered, and the plan is followed step by step, whatever becomes of the process. */

import type { AnyStateMachine } from 'xstate'
import { type Agent as CoreAgent, now } from '../../index.ts'
import { agent } from '../agent/agent.ts'
import { endCalls } from '../calling/calls.effects.ts'
import type { Report, Result } from '../envelope.ts'
import { LadderError } from '../errors.ts'
import { type AnyExecutable, Executable } from '../executable.ts'
import { anything } from '../given.ts'
import { type ExecuteOptions, executeKinds } from '../options.ts'
import { type RunState, runActor } from '../run.rules.ts'
import { jsonSchemaOf, type Schema } from '../schema.ts'
import type { Streamed } from '../streamed.ts'
import { written } from '../written.ts'
import { plannerMachine } from './compile.rules.ts'
import { type AnyPlanner, type Capability, checkPlanner, type PlannerDefinition, plannerKinds } from './definition.ts'
import { Plan } from './plan.rules.ts'
import { type PlannerShape, stepActor } from './planner.chart.rules.ts'
import { begun, type PlannerRun } from './planner.context.ts'
import { codeLogic, judgeLogic, plannerActors } from './planner.effects.ts'
import { questionFor } from './question.rules.ts'
import { reportOf } from './report.rules.ts'
import { stepMachine } from './step.compile.rules.ts'

/** @property approvedPlan is followed in the place of one that a model makes */
export type PlannerOptions = ExecuteOptions & { approvedPlan?: Plan }

export class Planner<Input = unknown, Data = Record<string, unknown>> extends Executable<Input, Data> {
  readonly type = 'planner'
  protected readonly driftCode = 'PLANNER_DRIFT'
  readonly name: string
  readonly version: string | undefined
  readonly description: string | undefined
  readonly machine: AnyStateMachine
  readonly agents: readonly CoreAgent[]
  override readonly inside: readonly AnyExecutable[]
  readonly #definition: AnyPlanner
  readonly #shape: PlannerShape

  constructor(definition: AnyPlanner) {
    super(definition)
    checkPlanner(definition)
    const { name, version, description, mode = 'sequential', maxConcurrency = 4, maxSteps, replan, planOnly = false, onStep, output } = definition
    const capabilities = Object.entries(definition.capabilities as Record<string, Capability>)
    const planning = plannerAgent(definition)
    const executables = [planning, ...capabilities.flatMap(([, { use }]) => (use instanceof Executable ? [use as AnyExecutable] : []))]
    const nodesMax = maxSteps === undefined ? 100 : 4 * maxSteps
    this.name = name
    this.version = version
    this.description = description
    this.#definition = definition
    this.inside = executables
    this.agents = [...new Set(executables.flatMap(({ agents }) => agents))]
    this.#shape = {
      name,
      planner: planning.name,
      concurrency: mode === 'dag' ? maxConcurrency : 1,
      maxSteps,
      maxReplans: replan?.maxReplans ?? 0,
      waits: planOnly,
      isJudged: onStep !== undefined,
      isConcluded: output !== undefined,
      ...(executables.some(({ awaits }) => awaits.length > 0) && { tells: true as const }),
      capabilities: capabilities.map(([one, { use, description: what }]) => ({
        name: one,
        description: what,
        ...(use instanceof Executable && { executable: use.name }),
      })),
      ...(version !== undefined && { version }),
      ...(description !== undefined && { description }),
    }
    const scope = { definition, contextOf: (runId: string) => this.contextOf(runId) }
    const steps = this.#shape.capabilities.map((capability) => {
      const given = (definition.capabilities as Record<string, Capability>)[capability.name] as Capability
      const parts = {
        code: codeLogic(scope, given),
        judge: judgeLogic(scope),
        endCalls,
        ...(given.use instanceof Executable && { run: given.use.machine }),
      }
      return [stepActor(capability.name), stepMachine(this.#shape, capability, parts)] as const
    })
    const told = {
      isSequential: mode === 'sequential',
      nodesMax,
      capabilities: capabilities.map(([one, { use, description: what, input }]) => {
        const taken = input ?? (use instanceof Executable ? use.schema : undefined)
        const schema = taken && jsonSchemaOf(taken)
        return { name: one, description: what, ...(schema !== undefined && { input: schema }) }
      }),
    }
    this.machine = plannerMachine(this.#shape, {
      actors: { [runActor(planning.name)]: planning.machine, ...plannerActors(scope, nodesMax), ...Object.fromEntries(steps) },
      question: (run) => questionFor(told, run),
      now,
      ended: (run) => this.ended(run),
    })
  }

  override execute(input: Input, options: PlannerOptions = {}): Promise<Result<Data>> {
    return super.execute(input, options)
  }

  override stream(input: Input, options: PlannerOptions = {}): Streamed<Result<Data>> {
    return super.stream(input, options)
  }

  /**
   * Lets a run that awaits approval follow its plan, or another one that was made of it, and waits for what comes of it. One that cannot be followed is
   * refused: the result has the error, and the plan before still waits.
   * @throws LadderError APPROVAL_UNKNOWN when the run waits for nobody, and on drift; RuntimeError not_found
   */
  async approve(runId: string, plan?: Plan, options: Omit<ExecuteOptions, 'runId' | 'history'> = {}): Promise<Result<Data>> {
    await this.#requireAwaiting(runId)
    return await this.goingOn(runId, approval(plan), options)
  }

  /** The same, without waiting. @throws LadderError APPROVAL_UNKNOWN; RuntimeError not_found */
  async release(runId: string, plan?: Plan): Promise<void> {
    await this.#requireAwaiting(runId)
    await this.actor(runId).send(approval(plan))
  }

  async #requireAwaiting(runId: string): Promise<void> {
    const snapshot = await this.known(runId, this.actor(runId).snapshot())
    if (!snapshot.matches('awaiting-approval'))
      throw new LadderError('APPROVAL_UNKNOWN', `no plan of the run ${runId} waits for approval`, {
        context: { runId },
        hint: 'it was approved before, or its run has ended: look() says how it is',
      })
  }

  protected get takes(): Schema | undefined {
    return this.#definition.input
  }

  protected override get callKinds() {
    return { ...executeKinds, approvedPlan: anything }
  }

  protected begin({ approvedPlan }: PlannerOptions): object {
    return approvedPlan === undefined ? {} : { given: approvedPlan }
  }

  protected reportOf(run: RunState): Report {
    return reportOf(this.#shape, run as PlannerRun)
  }

  protected refused(runId: string, error: LadderError): Report {
    return reportOf(this.#shape, { ...begun({ runId, input: undefined }, now()), error: error.toJSON() })
  }
}

const approval = (plan: Plan | undefined) => ({ type: 'plan.approve', ...(plan && { plan }) })

const plannerAgent = ({ name, agent: own, model, instructions, repair = 0 }: AnyPlanner): AnyExecutable =>
  own ??
  agent({
    name: `${name}-plan`,
    output: Plan,
    repair,
    maxTrips: 1 + repair,
    ...(model !== undefined && { model }),
    ...(instructions !== undefined && { instructions }),
  })

/** @throws LadderError LADDER_CONFIG naming what is wrong with it */
export const planner = <Input = string, Inputs extends Record<string, unknown> = Record<string, unknown>, Data = Record<string, unknown>>(
  definition: PlannerDefinition<Input, Inputs, Data>,
): Planner<Input, Data> => new Planner(written<AnyPlanner>(definition, 'planner', plannerKinds))
