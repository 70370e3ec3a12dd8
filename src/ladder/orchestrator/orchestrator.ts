/** `orchestrator()`: a session whose turns are supervised, kept between calls, crashes and nodes. */
import type { AnyStateMachine } from 'xstate'
import { type Agent, now, type Runtime, type Tool, uuid } from '../../index.ts'
import type { Decision, PendingCall } from '../approval.ts'
import { checkHeard } from '../audience.ts'
import { atWork } from '../calling/calls.ts'
import { lend } from '../contexts.ts'
import type { LadderEvent } from '../envelope.ts'
import { LadderError } from '../errors.ts'
import { handlers as handlersKind, signal as signalKind, text, valueIn } from '../given.ts'
import { type Handlers, Listeners } from '../listeners.ts'
import { type Bound, callOptions, type Neighbour } from '../options.ts'
import type { Schema } from '../schema.ts'
import { checkpointStoreFor, namedCheckpoints, namedSnapshots } from '../stores/defaults.ts'
import { guardedStore } from '../stores/guarded-store.ts'
import type { CheckpointStore } from '../stores/store.ts'
import { calledWith, Streamed } from '../streamed.ts'
import { checkedIntents } from '../supervisor/check.ts'
import type { DataOf } from '../supervisor/definition.ts'
import { Supervisor } from '../supervisor/supervisor.ts'
import { written } from '../written.ts'
import { answerOf, compactionOf, sessionOf, turnsAtWork, turnsUnderWay } from './asking.ts'
import { besideMachine } from './beside.compile.rules.ts'
import { HostBinding } from './binding.ts'
import type { Compaction } from './compaction.rules.ts'
import { sessionMachine } from './compile.rules.ts'
import {
  type AnyOrchestrator,
  type CheckedOrchestrator,
  type Commands,
  checkedOrchestrator,
  configured,
  type OrchestratorDefinition,
  orchestratorKinds,
  supervisedBy,
} from './definition.ts'
import { type CompactOptions, compactKinds, type ResumeOptions, resumeKinds, type TurnOptions, type TurnResult, turnKinds } from './options.ts'
import { refusedAnswer } from './report.rules.ts'
import { checkedCall, requestOf } from './request.ts'
import { Results } from './results.ts'
import { allRuns } from './runs.rules.ts'
import type { SessionToolOptions, ToolCall } from './scope.ts'
import { type SessionRequest, type SessionRun, underWay } from './session.context.ts'
import { sessionActors } from './session.effects.ts'
import { signatureOf } from './signature.rules.ts'
import { orchestratorTool } from './tool.ts'
import { forgetAll } from './turns.ts'
import { UnderWay } from './under-way.ts'

type Payload<Command> = Command extends (payload: infer Given, ...rest: never[]) => unknown ? Given : never
type Asking = Omit<TurnOptions<never>, 'sessionId' | 'history' | 'state' | 'force' | 'requestId'>

export class Orchestrator<Input = unknown, State extends object = Record<string, unknown>, Data = unknown, Named extends Commands = Commands> {
  readonly type = 'orchestrator'
  readonly name: string
  readonly version: string | undefined
  readonly description: string | undefined
  /** What rows of its sessions remember of it: 8 hex digits. */
  readonly signature: string
  /** Of its sessions; that of their turns, `machines['<name>-turn']`, is drawn with the names of its intents. */
  readonly machine: AnyStateMachine
  readonly machines: Readonly<Record<string, AnyStateMachine | { machine: AnyStateMachine; defaultInput: (id: string) => unknown }>>
  readonly agents: readonly Agent[]
  /** What others on its runtime ask of its sessions, and of the runs of their turns, by the kinds of those. */
  readonly neighbours: Readonly<Record<string, Neighbour>>
  readonly #checked: CheckedOrchestrator
  readonly #supervisor: Supervisor
  readonly #binding: HostBinding
  readonly #results: Results<Data>
  readonly #underWay: UnderWay
  readonly #listeners: Listeners

  constructor(definition: AnyOrchestrator) {
    const checked = checkedOrchestrator(definition)
    const { name, turnKind, summaryKind, summarizer } = checked
    const { version, description, iterate = false, snapshotStore, on, observe } = definition
    const supervised = supervisedBy(definition, turnKind)
    this.#checked = checked
    this.name = name
    this.version = version
    this.description = description
    this.#supervisor = configured(
      () => new Supervisor(supervised, { isSingle: !iterate, ...(iterate && { snapshots: () => namedSnapshots(snapshotStore || undefined) }) }),
    )
    this.#binding = new HostBinding(name)
    this.#underWay = new UnderWay(checked, this.#supervisor, this.#binding)
    this.signature = signatureOf(definition, checkedIntents(supervised))
    const store = () => this.#store()
    this.#results = new Results(checked, { signature: this.signature, binding: this.#binding, store })
    this.machine = (definition.sessionLock === false ? besideMachine : sessionMachine)(name, {
      actors: sessionActors({
        ...checked,
        signature: this.signature,
        store: () => this.#binding.when().then(store),
        timer: async () => (await this.#binding.when()).clock,
        forget: async (runs) => forgetAll((await this.#binding.when()).runtime, turnKind, runs),
        nextRuntime: () => this.#binding.next(),
      }),
      now,
      ended: (sessionId, answer) => this.#results.observe(sessionId, answer),
    })
    this.machines = {
      [name]: { machine: this.machine, defaultInput: (sessionId) => ({ sessionId }) },
      [turnKind]: this.#supervisor.machine,
      ...(summarizer && { [summaryKind]: summarizer.machine }),
    }
    this.agents = [...new Set([...this.#supervisor.agents, ...(summarizer?.agents ?? [])])]
    this.neighbours = { [name]: this.#underWay, [turnKind]: this.#supervisor, ...(summarizer && { [summaryKind]: summarizer }) }
    configured(() => checkHeard(on, observe))
    this.#listeners = new Listeners(on)
  }

  /** Called when a runtime starts with it, and with nothing when that one ends. */
  bind(bound: Bound | undefined): void {
    this.#binding.bind(bound)
    this.#supervisor.bind(bound)
    this.#checked.summarizer?.bind(bound)
  }

  /** For effects, which go on after a crash before a runtime has started in full. @param but one that has ended */
  async whenBound(but?: Runtime): Promise<Runtime> {
    return (await this.#binding.when(but)).runtime
  }

  /**
   * One turn.
   * @returns what became of it, whatever that is @throws LadderError INPUT_CONFLICT, on drift, or without a history; the reason of the signal where it never began
   */
  execute(input: Input, options: TurnOptions<State>): Promise<TurnResult<Data>> {
    return this.stream(input, options).result
  }

  /** The same, heard as it happens. */
  stream(input: Input, options: TurnOptions<State>): Streamed<TurnResult<Data>> {
    return calledWith(
      () => callOptions<TurnOptions<State>>(this.name, options, turnKinds),
      (given) => this.run(input, given),
    )
  }

  /** Waits for the turn that is under way in a session; after a crash it goes on by itself. @returns null where there is none */
  async resume(sessionId: string, given: ResumeOptions = {}): Promise<TurnResult<Data> | null> {
    const { requestId, ...options } = callOptions<ResumeOptions>(this.name, given, resumeKinds)
    const [turn] = await turnsUnderWay(this.#binding.runtime, this.name, sessionId, requestId)
    return turn === undefined ? null : this.#attached(sessionId, turn, options)
  }

  /** Waits for all turns that are under way: those that a crash has cut off go on by themselves when the runtime starts. */
  async drain(): Promise<TurnResult<Data>[]> {
    return Promise.all((await turnsAtWork(this.#binding.runtime, this.name)).map(({ sessionId, turn }) => this.#attached(sessionId, turn, {})))
  }

  /** `compact` summarises a history without applying that; others are what the definition says. @throws LadderError ORCHESTRATOR_COMMAND_UNKNOWN; what a handler throws */
  command(name: 'compact', options: CompactOptions): Promise<Compaction | null>
  command<Command extends keyof Named & string>(
    name: Command,
    payload: Payload<Named[Command]>,
    options?: { signal?: AbortSignal },
  ): Promise<Awaited<ReturnType<Named[Command]>>>
  async command(name: string, given: unknown, options: { signal?: AbortSignal } = {}): Promise<unknown> {
    const { signal } = callOptions<typeof options>(this.name, options, { signal: signalKind })
    const { commands = {} } = this.#checked.definition
    valueIn<string>(name, text, `a command of '${this.name}'`, 'ORCHESTRATOR_COMMAND_UNKNOWN')
    if (name === 'compact') return compactionOf(this.#binding.runtime, this.#checked, callOptions<CompactOptions>(this.name, given, compactKinds))
    if (Object.hasOwn(commands, name)) return commands[name]?.(given, { signal })
    throw new LadderError('ORCHESTRATOR_COMMAND_UNKNOWN', `'${this.name}' has no command '${name.slice(0, 80)}'`, {
      hint: `there are: ${['compact', ...Object.keys(commands)].join(', ')}`,
    })
  }

  /** Ends the turn that is under way, or all that are; nothing of it is stored. @returns false where there is none */
  async cancel(sessionId: string, reason = 'cancelled'): Promise<boolean> {
    return this.#underWay.cancel(sessionId, valueIn<string>(reason, text, 'the reason of a cancel', 'SCHEMA_VALIDATION_FAILED'))
  }

  /** Calls of tools that wait for a person in its turn. */
  pending(sessionId: string): Promise<readonly PendingCall[]> {
    return this.#underWay.pending(sessionId)
  }

  /** What a person has decided about one of them. @throws LadderError APPROVAL_UNKNOWN when it waits for nobody; SCHEMA_VALIDATION_FAILED */
  decide(sessionId: string, decision: Decision): Promise<void> {
    return this.#underWay.decide(sessionId, decision)
  }

  /** Tells the turn that is under way what a step of a run inside of it waits for. @param options.requestId which one, where several are @throws LadderError SCHEMA_VALIDATION_FAILED; RuntimeError not_found */
  send(sessionId: string, event: { type: string } & Record<string, unknown>, options: { id?: string; requestId?: string } = {}): Promise<void> {
    return this.#underWay.send(sessionId, event, options)
  }

  /** Forgets a session: a turn that is under way is cancelled, its rows and journals are removed. */
  async delete(sessionId: string): Promise<void> {
    const { runtime } = this.#binding
    const session = await sessionOf(runtime, this.name, sessionId)
    const actor = runtime.actor(this.name, sessionId)
    if (await this.cancel(sessionId, 'deleted')) await actor.waitFor(({ context }) => underWay(context as SessionRun).length === 0)
    const rows = await (await this.#store()).rows(this.name, sessionId)
    await (await this.#store()).delete(this.name, sessionId)
    await actor.forget()
    await forgetAll(runtime, this.#checked.turnKind, allRuns(sessionId, session, rows))
    this.#results.forget(sessionId)
  }

  /** Ids of sessions that are stored. @param prefix taken literally @throws LadderError STORE_FAILED where the store cannot list them; ORCHESTRATOR_CONFIG where there is none */
  async sessions(prefix?: string): Promise<string[]> {
    if (prefix !== undefined) valueIn(prefix, text, 'what sessions begin with', 'SCHEMA_VALIDATION_FAILED')
    // The store of a runtime is not waited for: there may never be one.
    if (!this.#binding.to) checkpointStoreFor(this.#checked.definition.checkpointStore)
    const store = await this.#store()
    if (store.list) return store.list(this.name, prefix)
    throw new LadderError('STORE_FAILED', `the store of '${this.name}' cannot list sessions`, { hint: 'give it a store with list()' })
  }

  /** Hears events of all its sessions from now on, by their type or `*`. @returns what ends that */
  on(handlers: Handlers): () => void {
    return this.#listeners.add(valueIn(handlers, handlersKind, `what '${this.name}' is to tell`, 'ORCHESTRATOR_CONFIG'))
  }

  off(handlers: Handlers): void {
    this.#listeners.remove(handlers)
  }

  /** One turn as a tool, of a new session or of one that is bound here. @throws LadderError ORCHESTRATOR_CONFIG; RuntimeError bad_request */
  asTool(options: SessionToolOptions): Tool {
    return orchestratorTool(this, options)
  }

  /** @param call of the run that it is a tool of */
  run(input: Input, { sessionId, history, ...options }: TurnOptions<State>, call?: ToolCall): Streamed<TurnResult<Data>> {
    const { requestId = uuid(), ...own } = options
    return this.#streamed(options, async (hear) => {
      const said = checkedCall(this.name, sessionId, history, requestId)
      let request: SessionRequest
      try {
        await (call ?? atWork())?.waitFor?.({ kind: this.name, id: sessionId, request: requestId }, (kind) => this.#binding.to?.neighbour?.(kind))
        request = await requestOf(this.#checked, this.#supervisor, {
          ...own,
          id: requestId,
          input,
          history: said,
          inside: call?.inside,
          isNamed: options.requestId !== undefined,
          record: this.#binding.to && (async () => (await this.#store()).record(this.name, sessionId)),
        })
      } catch (error) {
        if (!(error instanceof LadderError)) throw error
        return this.#results.of(sessionId, refusedAnswer(requestId, error.toJSON(), now()))
      }
      return this.#settle(sessionId, request, options, hear)
    })
  }

  #attached(sessionId: string, requestId: string, options: Asking): Promise<TurnResult<Data>> {
    return this.#streamed(options, (hear) => this.#settle(sessionId, requestId, options, hear)).result
  }

  async #settle(sessionId: string, request: SessionRequest | string, { context, signal }: Asking, hear: (told: LadderEvent) => void) {
    const id = typeof request === 'string' ? request : request.id
    const takeBack = context && lend(this, id, context)
    try {
      const answer = await answerOf(this.#binding.runtime, this.#checked, request, { sessionId, signal, hear })
      if (answer.error?.code === 'ORCHESTRATOR_DRIFT') throw LadderError.from(answer.error)
      return await this.#results.of(sessionId, answer)
    } finally {
      takeBack?.()
    }
  }

  #streamed<Made>({ on }: Asking, work: (hear: (told: LadderEvent) => void) => Promise<Made>): Streamed<Made> {
    const streamed = new Streamed<Made>(on)
    const within = this.#supervisor.hearingWithin()
    const hear = (told: LadderEvent): void => {
      within(told)
      this.#listeners.tell(told, this.#binding.warn)
      streamed.tell(told, (thrown) => this.#listeners.failed(told, thrown, this.#binding.warn))
    }
    streamed.follow(work(hear))
    return streamed
  }

  async #store(): Promise<CheckpointStore> {
    const named = namedCheckpoints(this.#checked.definition.checkpointStore)
    // The registry of a runtime says by itself that it gives no answer.
    return named ? guardedStore(named, this.#binding.to?.clock) : guardedStore(checkpointStoreFor(undefined, await this.#binding.when()))
  }
}

/** @throws LadderError ORCHESTRATOR_CONFIG naming what is wrong with it */
export const orchestrator = <
  Input = unknown,
  State extends object = Record<string, unknown>,
  const Name extends string = string,
  const Output extends Schema | undefined = undefined,
  Named extends Commands = Record<never, never>,
>(
  definition: OrchestratorDefinition<Input, State, Name, Output, Named>,
): Orchestrator<Input, State, DataOf<State, Output>, Named> =>
  new Orchestrator(written<AnyOrchestrator>(definition, 'orchestrator', orchestratorKinds, 'ORCHESTRATOR_CONFIG'))
