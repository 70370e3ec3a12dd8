/** `supervisor()`: who is asked is chosen as it goes, in code or by a model, until it is enough. */

import type { AnyStateMachine } from 'xstate'
import { type Agent, now } from '../../index.ts'
import { checkedRunMiddleware } from '../around/middleware.ts'
import { wrapActors } from '../around/wrapped.effects.ts'
import type { LadderEvent, Report } from '../envelope.ts'
import { LadderError, wordsOf } from '../errors.ts'
import { type AnyExecutable, Executable } from '../executable.ts'
import { speakerOf } from '../heard.ts'
import { checkedHistory, type HistoryMessage, type HistoryWindow, type RunHistory, windowed } from '../history.rules.ts'
import { type RunState, runActor } from '../run.rules.ts'
import type { Schema } from '../schema.ts'
import { Mirror } from '../stores/mirror.ts'
import type { SnapshotStore } from '../stores/store.ts'
import { written } from '../written.ts'
import { checkedHelper, checkedIntents, choosingKinds, supervisorKinds } from './check.ts'
import type { SupervisorMirror } from './code.effects.ts'
import { supervisorMachine } from './compile.rules.ts'
import type { AnySupervisor, DataOf, SupervisorDefinition } from './definition.ts'
import { reportOf } from './report.rules.ts'
import { afterWork, atEnd } from './snapshot.rules.ts'
import type { SupervisorShape } from './supervisor.chart.rules.ts'
import { begun, type SupervisorInput, type SupervisorRun } from './supervisor.context.ts'
import { supervisorActors } from './supervisor.effects.ts'

/** @property snapshots which store is told of its runs, in the place of what its definition says */
type SupervisorOptions = { type?: 'supervisor' | 'team'; isSingle?: boolean; snapshots?: () => SnapshotStore | undefined }

export class Supervisor<Input = unknown, Data = unknown> extends Executable<Input, Data> {
  readonly type: 'supervisor' | 'team'
  protected readonly driftCode = 'SUPERVISOR_DRIFT'
  readonly name: string
  readonly version: string | undefined
  readonly description: string | undefined
  readonly machine: AnyStateMachine
  readonly agents: readonly Agent[]
  override readonly inside: readonly AnyExecutable[]
  override readonly callable: readonly AnyExecutable[]
  readonly #definition: AnySupervisor
  readonly #shape: SupervisorShape
  readonly #mirror: SupervisorMirror | undefined
  readonly #picks: boolean
  /** Intents whose deltas are told by their name. */
  readonly #streamed: readonly string[]
  readonly #begin: Pick<SupervisorInput, 'state' | 'directive' | 'history'>

  /** @param type a team is reported as one @param isSingle one decision and one dispatch are all: it is that of turns of an orchestrator */
  constructor(definition: AnySupervisor, { type = 'supervisor', isSingle = false, snapshots }: SupervisorOptions = {}) {
    super(definition)
    this.type = type
    const intents = checkedIntents(definition)
    const { name, version, description, route, router, maxIterations = 10 } = definition
    const middleware = checkedRunMiddleware(name, definition.middleware)
    const classifier = checkedHelper(definition, 'classifier')
    const ack = checkedHelper(definition, 'ack')
    this.name = name
    this.version = version
    this.description = description
    this.#definition = definition
    this.#picks = intents.some(({ history }) => history !== undefined)
    this.#streamed = intents.flatMap((intent) => (intent.streamTo === undefined ? [] : [intent.name]))
    this.#begin = this.#beginning(definition)
    const executables = [router, ...[classifier, ack, ...intents].map((one) => one?.agent)].filter((one) => one !== undefined)
    this.#shape = {
      type,
      name,
      maxIterations,
      ...(middleware.length > 0 && { wraps: true as const }),
      ...(isSingle && { isSingle: true as const }),
      ...(executables.some(({ awaits }) => awaits.length > 0) && { tells: true as const }),
      ...(version !== undefined && { version }),
      ...(description !== undefined && { description }),
      ...(router && { router: router.name }),
      ...(!router && !route && { choosesOnce: true }),
      ...(classifier && { classifier: { executable: classifier.agent?.name } }),
      ...(ack && { ack: { executable: ack.agent?.name } }),
      intents: intents.map((intent) => ({
        name: intent.name,
        ...(intent.agent && { executable: intent.agent.name }),
        ...(intent.timeoutMs !== undefined && { timeoutMs: intent.timeoutMs }),
      })),
    }
    const { snapshotStore } = definition
    const store = snapshots ?? (snapshotStore && (() => snapshotStore))
    const mirror = store && new Mirror({ ...this.mirrorParts('supervisor', store), after: afterWork, atEnd })
    this.#mirror = mirror
    this.inside = executables
    this.agents = [...new Set(executables.flatMap(({ agents }) => agents))]
    // Only code dispatches.
    this.callable = intents.some(({ run }) => run) ? intents.flatMap(({ agent }) => (agent ? [agent] : [])) : []
    const runs = Object.fromEntries(executables.map((one) => [runActor(one.name), one.machine]))
    const code = supervisorActors({ definition, intents, isSingle, contextOf: (runId) => this.contextOf(runId), mirror }, { classifier, ack })
    const around = wrapActors({
      of: 'supervisor',
      name,
      code: 'SUPERVISOR_FAILED',
      middleware,
      contextOf: (runId) => this.contextOf(runId),
      usageOf: (run: SupervisorRun) => reportOf(this.#shape, run).usage,
      fit: (input) => this.fit(input),
    })
    const actors = { ...code, ...runs, ...(middleware.length > 0 && around) }
    this.machine = supervisorMachine(this.#shape, { actors, begin: this.begin(), now, ended: (run) => this.ended(run) })
  }

  protected override ended(run: RunState): void {
    super.ended(run)
    this.#mirror?.ended(run as SupervisorRun)
  }

  protected override alsoTold(event: LadderEvent, within: string): LadderEvent[] {
    const { rootRunId, delta = '' } = event
    const intent = speakerOf(event, within, this.#streamed)
    return intent === undefined ? [] : [{ type: 'supervisor.agent.streaming', runId: within, rootRunId, supervisor: this.name, agent: intent, delta }]
  }

  override slicesOf(history: readonly HistoryMessage[]): RunHistory {
    const { name, historyWindow: { agents, router, ack = 0 } = {} } = this.#definition
    const cut = (reader: string, window: HistoryWindow | undefined) => {
      if (typeof window !== 'function') return windowed(history, window)
      try {
        return checkedHistory(windowed(history, window), `historyWindow.${reader} of '${name}'`)
      } catch (cause) {
        if (cause instanceof LadderError) throw cause
        throw new LadderError('SUPERVISOR_FAILED', `historyWindow.${reader} of '${name}' failed: ${wordsOf(cause)}`, { cause })
      }
    }
    const said = cut('ack', ack)
    return {
      agents: cut('agents', agents),
      ...((agents !== undefined || router !== undefined) && { router: cut('router', router) }),
      ...(said.length > 0 && { ack: said }),
      ...(this.#picks && { whole: history }),
    }
  }

  protected get takes(): Schema | undefined {
    return this.#definition.input
  }

  protected begin(): Pick<SupervisorInput, 'state' | 'directive' | 'history'> {
    return this.#begin
  }

  #beginning({ name, state = {}, initialAgent, history }: AnySupervisor): Pick<SupervisorInput, 'state' | 'directive' | 'history'> {
    const directive = initialAgent === undefined ? undefined : { source: 'initialAgent' as const, next: [initialAgent], raw: initialAgent }
    const said = history && this.slicesOf(checkedHistory(history, `history of '${name}'`))
    return { state, ...(directive && { directive }), ...(said && { history: said }) }
  }

  protected reportOf(run: RunState): Report {
    return reportOf(this.#shape, run as SupervisorRun)
  }

  protected refused(runId: string, error: LadderError): Report {
    return reportOf(this.#shape, { ...begun({ runId, input: undefined, state: {} }, now()), error: error.toJSON() })
  }
}

/** @throws LadderError SUPERVISOR_CONFIG and the like, naming what is wrong with it */
export const supervisor = <
  Input = unknown,
  State extends object = Record<string, unknown>,
  const Name extends string = string,
  const Output extends Schema | undefined = undefined,
>(
  definition: SupervisorDefinition<Input, State, Name, Output>,
): Supervisor<Input, DataOf<State, Output>> =>
  new Supervisor(written<AnySupervisor>(definition, 'supervisor', { ...supervisorKinds, ...choosingKinds }, 'SUPERVISOR_CONFIG'))
