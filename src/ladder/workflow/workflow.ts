/** `workflow()`: steps in an order, each written down when it has ended, so that a run goes on after any crash where it was. */
import type { AnyStateMachine } from 'xstate'
import { isRuntimeError, now, type Runtime, uuid } from '../../index.ts'
import { type LadderEvent, noUsage, type Report, type Result } from '../envelope.ts'
import { LadderError } from '../errors.ts'
import { type Handlers, Streamed } from '../streamed.ts'
import { workflowMachine } from './compile.rules.ts'
import { type AnyStep, type AnyWorkflow, checkWorkflow, childrenOf, type WorkflowDefinition } from './definition.ts'
import { reportOf } from './report.rules.ts'
import { stepActors } from './step.effects.ts'
import type { WorkflowShape } from './workflow.chart.rules.ts'
import type { RunContext } from './workflow.context.ts'

export type ExecuteOptions = {
  /** Names the run: executing it again attaches to it, and never begins it twice. Default: a new one. */
  runId?: string
  /** For the code of steps; never stored, so a run that goes on elsewhere does without it. */
  context?: Readonly<Record<string, unknown>>
  /** Cancels the run when it aborts. */
  signal?: AbortSignal
  /** Hears events of this run, by their type or `*`. */
  on?: Handlers
}

/** What runs on a runtime that has it: `createRuntime({ extensions: [ladder({ executables: [fulfil] })] })`. */
export class Workflow<Input = unknown, Data = unknown> {
  readonly type = 'workflow'
  readonly name: string
  readonly version: string | undefined
  /** An ordinary machine, to be drawn, replayed and checked like any other. */
  readonly machine: AnyStateMachine
  readonly #definition: AnyWorkflow
  readonly #shape: WorkflowShape
  readonly #contexts = new Map<string, Readonly<Record<string, unknown>>>()
  #runtime: Runtime | undefined

  constructor(definition: AnyWorkflow) {
    checkWorkflow(definition)
    const { name, version } = definition
    this.name = name
    this.version = version
    this.#definition = definition
    this.#shape = shapeOf(definition)
    this.machine = workflowMachine(this.#shape, { actors: stepActors(definition, (runId) => this.#contexts.get(runId) ?? nothing), now })
  }

  bind(runtime: Runtime | undefined): void {
    this.#runtime = runtime
  }

  /** @returns what became of it, whatever that is @throws LadderError WORKFLOW_DRIFT before anything runs; WORKFLOW_ERROR on no runtime */
  execute(input: Input, options: ExecuteOptions = {}): Promise<Result<Data>> {
    return this.stream(input, options).result
  }

  /** The same, heard as it happens. */
  stream(input: Input, { runId = uuid(), ...options }: ExecuteOptions = {}): Streamed<Result<Data>> {
    return this.#run(runId, { type: 'execute' }, options, input)
  }

  /**
   * Goes on with a run that failed or was cancelled, from the step that it stopped at; one that is under way is waited for, one that has completed answers again.
   * @throws LadderError WORKFLOW_DRIFT; RuntimeError not_found
   */
  resume(runId: string, options: Omit<ExecuteOptions, 'runId'> = {}): Promise<Result<Data>> {
    return this.#run(runId, { type: 'resume' }, options).result
  }

  /** Tells a run what a step of it may wait for. What comes before that step is not kept. @throws RuntimeError closed when the run has ended, bad_request, drift */
  async send(runId: string, event: { type: string } & Record<string, unknown>, options: { id?: string } = {}): Promise<void> {
    await this.#bound().actor(this.name, runId).send(event, options)
  }

  #run(runId: string, event: { type: 'execute' | 'resume' }, options: Omit<ExecuteOptions, 'runId'>, input?: Input): Streamed<Result<Data>> {
    const leave = new AbortController()
    const streamed = new Streamed<Result<Data>>(options.on)
    const work = async (): Promise<Result<Data>> => {
      const given = event.type === 'execute' ? this.#parsed(input) : { value: undefined }
      if (given.error) return this.#refused(runId, given.error)
      return await this.#settle(runId, event, { ...options, input: given.value, leave: leave.signal, hear: (told) => streamed.tell(told) })
    }
    streamed.follow(work().finally(() => leave.abort()))
    return streamed
  }

  async #settle(runId: string, event: { type: 'execute' | 'resume' }, how: Settling): Promise<Result<Data>> {
    const runtime = this.#bound()
    const { context, signal, leave, hear, input } = how
    if (context) this.#contexts.set(runId, Object.freeze({ ...context }))
    const actor = runtime.actor(this.name, runId, event.type === 'execute' ? { runId, input, state: this.#definition.state ?? {} } : undefined)
    const heard = actor.on('*', (told) => hear(told as LadderEvent))
    try {
      if (event.type === 'resume') await actor.snapshot()
      await actor.send(event, event.type === 'execute' ? { id: 'execute' } : {}).catch(unlessEnded)
      const cancel = (): void => void actor.send({ type: 'cancel', reason: String(signal?.reason ?? 'aborted') }).catch(() => undefined)
      if (signal?.aborted) cancel()
      signal?.addEventListener('abort', cancel, { signal: leave })
      const snapshot = await actor.waitFor((at) => at.status !== 'active' || at.hasTag('settled'))
      return this.#resultOf(snapshot.context as RunContext)
    } catch (error) {
      throw isRuntimeError(error) && error.code === 'drift' ? drifted(this.name, runId, error) : error
    } finally {
      heard.unsubscribe()
      this.#contexts.delete(runId)
    }
  }

  #bound(): Runtime {
    if (this.#runtime) return this.#runtime
    throw new LadderError('WORKFLOW_ERROR', `no runtime has the workflow '${this.name}'`, {
      hint: 'start one with createRuntime({ extensions: [ladder({ executables: [it] })] })',
    })
  }

  #parsed(input: unknown): { value?: unknown; error?: LadderError } {
    const read = this.#definition.input?.safeParse(input)
    if (!read) return { value: input }
    if (read.success) return { value: read.data }
    const error = new LadderError('SCHEMA_VALIDATION_FAILED', `the input of '${this.name}' does not fit its schema: ${read.error.message}`, {
      cause: read.error,
    })
    return { error }
  }

  #resultOf(run: RunContext): Result<Data> {
    const report = reportOf(this.#shape, run)
    return { ...(run.error ? { error: LadderError.from(run.error) } : { data: run.data as Data }), usage: report.usage, report }
  }

  /** Nothing of it is stored: it never began. */
  #refused(runId: string, error: LadderError): Result<Data> {
    const at = now()
    const report: Report = reportOf(this.#shape, {
      runId,
      input: undefined,
      state: {},
      steps: {},
      going: {},
      branches: {},
      given: {},
      visits: {},
      visited: 0,
      startedAt: at,
      endedAt: at,
      error: error.toJSON(),
    })
    return { error, usage: noUsage, report }
  }
}

type Settling = Pick<ExecuteOptions, 'context' | 'signal'> & { input: unknown; leave: AbortSignal; hear: (told: LadderEvent) => void }

const nothing = Object.freeze({})

/** A run that has completed takes no events any more, and still has its result. */
const unlessEnded = (error: unknown): void => {
  if (!isRuntimeError(error) || error.code !== 'closed') throw error
}

const drifted = (name: string, runId: string, cause: Error): LadderError =>
  new LadderError('WORKFLOW_DRIFT', `the run ${runId} of '${name}' was begun by other steps than it has now`, {
    cause,
    context: { runId },
    hint: 'let runs end before their steps change, or register both under different names',
  })

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
      const works = 'run' in step ? [step] : childrenOf(step)
      const retried = works.filter(({ retry }) => retry !== false && { ...definition.retry, ...retry }.attempts !== undefined)
      return {
        name: step.name,
        retried: retried.map((one) => one.name),
        ...restsOf(step),
        children: childrenOf(step).map((child) => child.name),
        goes: leads ? all : [],
        mayEnd: leads,
      }
    }),
  }
}

const restsOf = (step: AnyStep): Pick<WorkflowShape['steps'][number], 'rests'> => {
  if ('sleep' in step) return { rests: { ms: step.sleep, reckons: false } }
  if ('sleepUntil' in step) return { rests: { reckons: true } }
  if ('waitFor' in step) return { rests: { event: step.waitFor, reckons: false, ...(step.timeoutMs !== undefined && { ms: step.timeoutMs }) } }
  return {}
}

/** @throws LadderError WORKFLOW_ERROR naming what is wrong with it */
export const workflow = <Input = unknown, State extends object = Record<string, unknown>, const Name extends string = string, Data = unknown>(
  definition: WorkflowDefinition<Input, State, Name, Data>,
): Workflow<Input, Data> => new Workflow(definition as unknown as AnyWorkflow)
