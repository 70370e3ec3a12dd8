/** `agent()`: one model with tools and one task, as a run that outlives its process. */

import type { AnyStateMachine } from 'xstate'
import { type Agent as CoreAgent, now, type Placeholders } from '../../index.ts'
import type { Report, Result } from '../envelope.ts'
import { LadderError, wordsOf } from '../errors.ts'
import { type AnyExecutable, Executable } from '../executable.ts'
import { anything, type Place } from '../given.ts'
import { isolated } from '../listeners.ts'
import { type ExecuteOptions, executeKinds } from '../options.ts'
import { type RunState, runActor } from '../run.rules.ts'
import { checkAnswerable, fitted, isLenient, jsonSchemaOf, lenient, type OutputOf, type Schema } from '../schema.ts'
import type { Streamed } from '../streamed.ts'
import { partlyWritten } from '../written.ts'
import type { AgentShape } from './agent.chart.rules.ts'
import { type AgentRun, begun } from './agent.context.ts'
import { checkLogic, promptLogic } from './agent.effects.ts'
import { agentMachine } from './compile.rules.ts'
import { type AgentDefinition, type AnyAgent, agentKinds, type CheckedAgent, checkedAgent } from './definition.ts'
import { checkedPlaceholders, type PlaceholderValues } from './placeholders.ts'
import { reportOf } from './report.rules.ts'
import { actorsAround, shapeAround, statesOf } from './surroundings.ts'

type AskOptions = ExecuteOptions & { placeholders?: PlaceholderValues }

export class Agent<Input = unknown, Data = string> extends Executable<Input, Data> {
  readonly type = 'agent'
  protected readonly driftCode = 'AGENT_DRIFT'
  readonly name: string
  readonly version: string | undefined
  readonly description: string | undefined
  readonly machine: AnyStateMachine
  readonly agents: readonly CoreAgent[]
  override readonly inside: readonly AnyExecutable[]
  readonly #definition: CheckedAgent
  readonly #shape: AgentShape

  constructor(definition: AnyAgent) {
    super(definition)
    const checked = checkedAgent(definition)
    const { name, version, description, maxTrips, repair, isChecked, core, inner, hooks, surroundings } = checked
    const around = shapeAround(surroundings)
    const executables = [...new Set(Object.values(inner).map(({ executable }) => executable))]
    this.name = name
    this.version = version
    this.description = description
    this.inside = executables
    this.agents = [...new Set([core, ...executables.flatMap(({ agents }) => agents)])]
    this.#definition = checked
    this.#shape = {
      name,
      maxTrips,
      repair,
      isChecked,
      inner: Object.fromEntries(Object.entries(inner).map(([tool, { executable, isText }]) => [tool, { executable: executable.name, isText }])),
      ...(version !== undefined && { version }),
      ...(description !== undefined && { description }),
      ...(around && { around }),
      ...(executables.some(({ awaits }) => awaits.length > 0) && { tells: true as const }),
    }
    const contextOf = (runId: string) => this.contextOf(runId)
    const { onUsage } = hooks
    this.machine = agentMachine(this.#shape, {
      prompt: promptLogic(checked, contextOf),
      check: checkLogic(checked, (runId) => (this.optionsOf(runId) as { output?: Schema }).output),
      runs: {
        ...(around &&
          actorsAround(around, surroundings, { name, version, contextOf, cacheFailed: this.#once('the cache failed, and is done without') })),
        ...Object.fromEntries(executables.map((one) => [runActor(one.name), one.machine])),
      },
      states: statesOf(surroundings),
      now,
      ended: (run) => this.ended(run),
      tell: {
        usage:
          onUsage &&
          ((trip) =>
            isolated(
              () => onUsage(trip),
              (thrown) => this.#usageFailed(trip.runId, thrown),
            )),
        unpriced: this.#once('its budget has maxCostUSD, and nothing is known of the price of its model'),
      },
    })
  }

  protected override ended(run: RunState): void {
    super.ended(run)
    const { onComplete } = this.#definition.hooks
    if (onComplete && !run.error)
      isolated(
        () => onComplete(this.reportOf(run)),
        (thrown) => this.#completeFailed(run.runId, thrown),
      )
  }

  protected override async handedOver(runId: string): Promise<void> {
    if (!this.#definition.deleteOnComplete) return
    try {
      await this.actor(runId).forget()
    } catch (thrown) {
      this.warn({ agent: this.name, runId, error: wordsOf(thrown) }, 'a run that has completed could not be deleted: resume(runId) tries that again')
    }
  }

  readonly #usageFailed = this.#once('onUsage failed')
  readonly #completeFailed = this.#once('onComplete failed')

  /** Said once by this process. */
  #once(what: string): (runId: string, thrown?: unknown) => void {
    let isSaid = false
    return (runId, thrown) => {
      if (isSaid) return
      isSaid = true
      this.warn(
        { agent: this.name, runId, ...(thrown !== undefined && { error: wordsOf(thrown) }) },
        `of the agent '${this.name}', ${what}; it is said once`,
      )
    }
  }

  /** Whether its data is the text of its answer, whatever that says. */
  get isText(): boolean {
    const { output, surroundings } = this.#definition
    return output === undefined && surroundings.middleware.length === 0
  }

  protected get takes(): Schema | undefined {
    return this.#definition.input
  }

  /**
   * @param options.output what the answer of this run has to be, in the place of what the agent says
   * @param options.placeholders what `{{name}}` in its instructions stands for in this run
   * @throws LadderError LADDER_CONFIG: it looks at no answers; a name that its instructions do not have, or one that has no value
   */
  override execute<Wanted extends Schema>(input: Input, options: AskOptions & { output: Wanted }): Promise<Result<OutputOf<Wanted>>>
  override execute(input: Input, options?: AskOptions): Promise<Result<Data>>
  override execute(input: Input, options: AskOptions = {}): Promise<Result<never>> {
    return super.execute(input, options) as Promise<Result<never>>
  }

  /** The same, heard as it happens. */
  override stream<Wanted extends Schema>(input: Input, options: AskOptions & { output: Wanted }): Streamed<Result<OutputOf<Wanted>>>
  override stream(input: Input, options?: AskOptions): Streamed<Result<Data>>
  override stream(input: Input, options: AskOptions = {}): Streamed<Result<never>> {
    return super.stream(input, options) as Streamed<Result<never>>
  }

  protected override get callKinds() {
    return { ...executeKinds, output: anything, placeholders: anything }
  }

  override filled(placeholders: unknown, place: Place): Placeholders {
    return checkedPlaceholders(this.#definition.core.instructions, placeholders, place)
  }

  protected begin({ output, placeholders }: AskOptions & { output?: Schema }): object {
    const place: Place = { who: `a call of '${this.name}'`, code: 'LADDER_CONFIG' }
    return { ...this.#asked(output), ...(placeholders !== undefined && { placeholders: this.filled(placeholders, place) }) }
  }

  #asked(output: Schema | undefined): object {
    if (output === undefined) return {}
    if (typeof output?.['~standard']?.validate !== 'function')
      throw new LadderError('LADDER_CONFIG', `output of a run of '${this.name}' is no schema`, {
        hint: 'give one of zod 4, or of any library that follows Standard Schema',
      })
    if (!this.#shape.isChecked)
      throw new LadderError('LADDER_CONFIG', `'${this.name}' does not look at its answers, and a run of it is to have an output`, {
        hint: 'give the agent an output, or say how often it is asked again: repair: 0',
      })
    checkAnswerable(output, `a run of '${this.name}'`)
    return { asked: { schema: jsonSchemaOf(output), ...(isLenient(output) && { isLenient: true }) } }
  }

  protected override async delivered(data: unknown, { output }: { output?: Schema }): Promise<Data> {
    return (output ? await fitted(output, data, `the answer of '${this.name}'`) : data) as Data
  }

  protected reportOf(run: RunState): Report {
    return reportOf(this.#shape, run as AgentRun)
  }

  protected refused(runId: string, error: LadderError): Report {
    return reportOf(this.#shape, { ...begun({ runId, input: undefined }, 0, now()), error: error.toJSON() })
  }
}

/** @throws LadderError LADDER_CONFIG naming what is wrong with it */
export const agent = <Input = string, const Output extends Schema | undefined = undefined>(
  definition: AgentDefinition<Input, Output>,
): Agent<Input, Output extends Schema ? OutputOf<Output> : string> => new Agent(partlyWritten(definition, 'agent', agentKinds))

type JudgeDefinition<Input, Output extends Schema> = Omit<AgentDefinition<Input, undefined>, 'output'> & { output: Output }

/**
 * An agent whose answer is data among words: JSON is found in prose, and where none fits the model is asked again, twice unless `repair` says otherwise.
 * @throws LadderError LADDER_CONFIG naming what is wrong with it
 */
export const judge = <Input = string, const Output extends Schema = Schema>(
  definition: JudgeDefinition<Input, Output>,
): Agent<Input, OutputOf<Output>> => {
  const given: JudgeDefinition<Input, Output> = partlyWritten(definition, 'judge', agentKinds)
  return new Agent({ ...given, output: lenient(given.output) })
}
