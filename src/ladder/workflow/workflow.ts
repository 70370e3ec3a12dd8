/** `workflow()`: steps in an order, each written down when it has ended, so that a run goes on after any crash where it was. */

import type { AnyStateMachine } from 'xstate'
import { type Agent, now } from '../../index.ts'
import { checkedRunMiddleware } from '../around/middleware.ts'
import { wrapActors } from '../around/wrapped.effects.ts'
import type { Awaiting } from '../awaited.ts'
import type { LadderEvent, Report } from '../envelope.ts'
import type { LadderError } from '../errors.ts'
import { type AnyExecutable, Executable } from '../executable.ts'
import { speakerOf } from '../heard.ts'
import { type RunState, runActor } from '../run.rules.ts'
import type { Schema } from '../schema.ts'
import { Mirror } from '../stores/mirror.ts'
import { msOf } from '../times.rules.ts'
import { written } from '../written.ts'
import { checkedWorkflow, workflowKinds } from './check.ts'
import { workflowMachine } from './compile.rules.ts'
import { type AnyStep, type AnyWork, type AnyWorkflow, childrenOf, isWork, type WorkflowDefinition } from './definition.ts'
import { reportOf } from './report.rules.ts'
import { afterStep, atEnd } from './snapshot.rules.ts'
import { stepActors } from './step.effects.ts'
import type { WorkflowShape } from './workflow.chart.rules.ts'
import { begun, type RunContext, type StepEnd } from './workflow.context.ts'

export class Workflow<Input = unknown, Data = unknown> extends Executable<Input, Data> {
  readonly type = 'workflow'
  protected readonly driftCode = 'WORKFLOW_DRIFT'
  readonly name: string
  readonly version: string | undefined
  readonly description: string | undefined
  readonly machine: AnyStateMachine
  readonly agents: readonly Agent[]
  override readonly inside: readonly AnyExecutable[]
  readonly #definition: AnyWorkflow
  readonly #shape: WorkflowShape
  readonly #mirror: Mirror<RunContext, StepEnd> | undefined
  /** Steps that an executable runs inside of. */
  readonly #asking: readonly string[]

  constructor(given: AnyWorkflow) {
    super(given)
    const definition = checkedWorkflow(given)
    const { name, version, description } = definition
    const middleware = checkedRunMiddleware(name, definition.middleware)
    this.name = name
    this.version = version
    this.description = description
    this.#definition = definition
    this.#shape = { ...shapeOf(definition), ...(middleware.length > 0 && { wraps: true as const }) }
    const around = {
      of: 'workflow' as const,
      name,
      code: 'WORKFLOW_FAILED' as const,
      middleware,
      contextOf: (runId: string) => this.contextOf(runId),
      usageOf: (run: RunContext) => reportOf(this.#shape, run).usage,
      fit: (input: unknown) => this.fit(input),
    }
    const { snapshotStore: store } = definition
    this.#mirror = store && new Mirror({ ...this.mirrorParts('workflow', () => store), after: afterStep(this.#shape), atEnd: atEnd(this.#shape) })
    const asking = worksOf(definition).flatMap((step) => ('agent' in step ? [step] : []))
    const executables = asking.map((step) => step.agent)
    this.#asking = asking.map(({ name: step }) => step)
    this.inside = executables
    this.agents = [...new Set(executables.flatMap(({ agents }) => agents))]
    const runs = Object.fromEntries(executables.map((one) => [runActor(one.name), one.machine]))
    this.machine = workflowMachine(this.#shape, {
      actors: {
        ...stepActors(definition, (runId) => this.contextOf(runId), this.#mirror),
        ...runs,
        ...(middleware.length > 0 && wrapActors(around)),
      },
      begin: this.begin(),
      now,
      ended: (run) => this.ended(run),
    })
  }

  protected override ended(run: RunState): void {
    super.ended(run)
    this.#mirror?.ended(run as RunContext)
  }

  /** What an agent says in a step. */
  protected override alsoTold(event: LadderEvent, within: string): LadderEvent[] {
    const { rootRunId, delta = '' } = event
    const step = speakerOf(event, within, this.#asking)
    return step === undefined ? [] : [{ type: 'workflow.step.streaming', runId: within, rootRunId, workflow: this.name, step, delta }]
  }

  protected get takes(): Schema | undefined {
    return this.#definition.input
  }

  protected override get waits(): readonly Awaiting[] {
    return this.#definition.steps.flatMap((step) => ('waitFor' in step ? [{ type: step.waitFor, step: step.name, schema: step.schema }] : []))
  }

  protected begin(): { state: unknown } {
    return { state: this.#definition.state ?? {} }
  }

  protected reportOf(run: RunState): Report {
    return reportOf(this.#shape, run as RunContext)
  }

  protected refused(runId: string, error: LadderError): Report {
    return reportOf(this.#shape, { ...begun({ runId, input: undefined, state: {} }, now()), error: error.toJSON() })
  }
}

const worksOf = ({ steps }: AnyWorkflow): AnyWork[] => steps.flatMap((step) => (isWork(step) ? [step] : [...childrenOf(step)]))

const shapeOf = (definition: AnyWorkflow): WorkflowShape => {
  const { name, version, description, steps, maxSteps = 100 } = definition
  const all = steps.map((step) => step.name)
  return {
    name,
    maxSteps,
    ...(version !== undefined && { version }),
    ...(description !== undefined && { description }),
    steps: steps.map((step) => {
      const leads = Boolean(step.nextStep ?? step.onFailure ?? definition.nextStep)
      const works = isWork(step) ? [step] : childrenOf(step)
      const retried = works.filter(({ retry }) => retry !== false && { ...definition.retry, ...retry }.attempts !== undefined)
      return {
        name: step.name,
        retried: retried.map((one) => one.name),
        asks: Object.fromEntries(works.flatMap((one) => ('agent' in one ? [[one.name, one.agent.name]] : []))),
        hears: Object.fromEntries(works.flatMap((one) => ('agent' in one ? [[one.name, one.agent.awaits.map(({ type }) => type)]] : []))),
        ...restsOf(step),
        children: childrenOf(step).map((child) => child.name),
        goes: leads ? all : [],
        mayEnd: leads,
      }
    }),
  }
}

const restsOf = (step: AnyStep): Pick<WorkflowShape['steps'][number], 'rests'> => {
  if ('sleep' in step) return { rests: { ms: msOf(step.sleep) as number, reckons: false } }
  if ('sleepUntil' in step) return { rests: { reckons: true } }
  if ('waitFor' in step) return { rests: { event: step.waitFor, reckons: false, ...(step.timeoutMs !== undefined && { ms: step.timeoutMs }) } }
  return {}
}

/** @throws LadderError WORKFLOW_ERROR naming what is wrong with it */
export const workflow = <Input = unknown, State extends object = Record<string, unknown>, const Name extends string = string, Data = unknown>(
  definition: WorkflowDefinition<Input, State, Name, Data>,
): Workflow<Input, Data> => new Workflow(written<AnyWorkflow>(definition, 'workflow', workflowKinds, 'WORKFLOW_ERROR'))
