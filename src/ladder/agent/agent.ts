/** `agent()`: one model with tools and one task, as a run that outlives its process. */
import type { AnyStateMachine } from 'xstate'
import { type Agent as CoreAgent, now } from '../../index.ts'
import type { Report } from '../envelope.ts'
import { LadderError } from '../errors.ts'
import { type AnyExecutable, Executable } from '../executable.ts'
import { type RunState, runActor } from '../run.rules.ts'
import type { OutputOf, Schema } from '../schema.ts'
import type { AgentShape } from './agent.chart.rules.ts'
import { type AgentRun, begun } from './agent.context.ts'
import { checkLogic, promptLogic } from './agent.effects.ts'
import { agentMachine } from './compile.rules.ts'
import { type AgentDefinition, type AnyAgent, type CheckedAgent, checkedAgent } from './definition.ts'
import { reportOf } from './report.rules.ts'

export class Agent<Input = unknown, Data = string> extends Executable<Input, Data> {
  readonly type = 'agent'
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
    const { name, version, description, maxTrips, repair, output, core, inner } = checked
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
      isChecked: output !== undefined,
      inner: Object.fromEntries(Object.entries(inner).map(([tool, { executable, isText }]) => [tool, { executable: executable.name, isText }])),
      ...(version !== undefined && { version }),
      ...(description !== undefined && { description }),
    }
    this.machine = agentMachine(this.#shape, {
      prompt: promptLogic(checked, (runId) => this.contextOf(runId)),
      check: checkLogic(checked),
      runs: Object.fromEntries(executables.map((one) => [runActor(one.name), one.machine])),
      now,
      ended: (run) => this.ended(run),
    })
  }

  protected get takes(): Schema | undefined {
    return this.#definition.input
  }

  protected begin(): object {
    return {}
  }

  protected reportOf(run: RunState): Report {
    return reportOf(this.#shape, run as AgentRun)
  }

  protected refused(runId: string, error: LadderError): Report {
    return reportOf(this.#shape, { ...begun({ runId, input: undefined }, 0, now()), error: error.toJSON() })
  }

  protected drifted(runId: string, cause: Error): LadderError {
    return new LadderError('AGENT_DRIFT', `the run ${runId} of '${this.name}' was begun by another version of it`, {
      cause,
      context: { runId },
      hint: 'let runs end before their agent changes, or register both under different names',
    })
  }
}

/** @throws LadderError LADDER_CONFIG naming what is wrong with it */
export const agent = <Input = string, const Output extends Schema | undefined = undefined>(
  definition: AgentDefinition<Input, Output>,
): Agent<Input, Output extends Schema ? OutputOf<Output> : string> => new Agent(definition)
