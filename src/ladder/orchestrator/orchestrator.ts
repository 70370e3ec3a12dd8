/** `orchestrator()`: a session whose turns are supervised, kept between calls, crashes and nodes. */

import type { AnyStateMachine } from 'xstate'
import { type Agent, now, type Runtime, type Tool, uuid } from '../../index.ts'
import { checkedDecision, type Decision, type PendingCall } from '../approval.ts'
import { checkHeard } from '../audience.ts'
import { lend } from '../contexts.ts'
import type { LadderEvent } from '../envelope.ts'
import { LadderError } from '../errors.ts'
import { type Handlers, Listeners } from '../listeners.ts'
import type { Bound } from '../options.ts'
import type { Schema } from '../schema.ts'
import { checkpointStoreFor, namedSnapshots } from '../stores/defaults.ts'
import type { CheckpointStore } from '../stores/store.ts'
import { Streamed } from '../streamed.ts'
import { checkedIntents } from '../supervisor/check.ts'
import type { DataOf } from '../supervisor/definition.ts'
import { Supervisor } from '../supervisor/supervisor.ts'
import { calling } from '../work/calls.ts'
import { written } from '../written.ts'
import { answerOf, requireOther, sessionOf } from './asking.ts'
import { HostBinding } from './binding.ts'
import type { Compaction } from './compaction.rules.ts'
import { sessionMachine } from './compile.rules.ts'
import { type AnyOrchestrator, type CheckedOrchestrator, type Commands, checkedOrchestrator, type OrchestratorDefinition } from './definition.ts'
import type { CompactOptions, ResumeOptions, TurnOptions, TurnResult } from './options.ts'
import { refusedAnswer } from './report.rules.ts'
import { checkedCall, compactRequestOf, requestOf } from './request.ts'
import { Results } from './results.ts'
import type { SessionToolOptions } from './scope.ts'
import { type SessionRequest, turnRunId } from './session.context.ts'
import { sessionActors } from './session.effects.ts'
import { signatureOf } from './signature.rules.ts'
import { orchestratorTool } from './tool.ts'

type Payload<Command> = Command extends (payload: infer Given, ...rest: never[]) => unknown ? Given : never
type Asking = Omit<TurnOptions<never>, 'sessionId' | 'history' | 'state' | 'force' | 'requestId'>
type Kept = { machine: AnyStateMachine; defaultInput: (id: string) => unknown }

export class Orchestrator<Input = unknown, State extends object = Record<string, unknown>, Data = unknown, Named extends Commands = Commands> {
  readonly type = 'orchestrator'
  readonly name: string
  readonly version: string | undefined
  readonly description: string | undefined
  /** What rows of its sessions remember of it: 8 hex digits. */
  readonly signature: string
  /** Of its sessions; that of their turns, `machines['<name>-turn']`, is drawn with the names of its intents. */
  readonly machine: AnyStateMachine
  readonly machines: Readonly<Record<string, AnyStateMachine | Kept>>
  readonly agents: readonly Agent[]
  readonly #checked: CheckedOrchestrator
  readonly #supervisor: Supervisor
  readonly #binding: HostBinding
  readonly #results: Results<Data>
  readonly #listeners: Listeners

  constructor(definition: AnyOrchestrator) {
    const checked = checkedOrchestrator(definition)
    const { name, turnKind, summaryKind, summarizer } = checked
    const { version, description, iterate = false, historyWindow: { router = 5, agents = 15, ack = 0 } = {}, on, observe } = definition
    // A version of its own would refuse turns that are under way, although nothing about them has changed.
    const {
      version: _,
      on: __,
      observe: ___,
      snapshotStore,
      ...supervised
    } = { ...definition, name: turnKind, historyWindow: { router, agents, ack } }
    this.#checked = checked
    this.name = name
    this.version = version
    this.description = description
    this.#supervisor = configured(
      () => new Supervisor(supervised, { isSingle: !iterate, ...(iterate && { snapshots: () => namedSnapshots(snapshotStore || undefined) }) }),
    )
    this.#binding = new HostBinding(name)
    this.signature = signatureOf(definition, checkedIntents(supervised))
    const store = () => this.#store()
    this.#results = new Results(checked, { signature: this.signature, binding: this.#binding, store })
    this.machine = sessionMachine(name, {
      actors: sessionActors({ ...checked, signature: this.signature, store, nextRuntime: () => this.#binding.next() }),
      now,
      ended: (sessionId, answer) => this.#results.observe(sessionId, answer),
    })
    this.machines = {
      [name]: { machine: this.machine, defaultInput: (sessionId) => ({ sessionId }) },
      [turnKind]: this.#supervisor.machine,
      ...(summarizer && { [summaryKind]: summarizer.machine }),
    }
    this.agents = [...new Set([...this.#supervisor.agents, ...(summarizer?.agents ?? [])])]
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
   * @returns what became of it, whatever that is @throws LadderError on drift, or without a history; the reason of the signal where it never began
   */
  execute(input: Input, options: TurnOptions<State>): Promise<TurnResult<Data>> {
    return this.stream(input, options).result
  }

  /** The same, heard as it happens. */
  stream(input: Input, options: TurnOptions<State>): Streamed<TurnResult<Data>> {
    return this.run(input, options)
  }

  /** Waits for the turn that is under way in a session; after a crash it goes on by itself. @returns null where there is none */
  async resume(sessionId: string, options: ResumeOptions = {}): Promise<TurnResult<Data> | null> {
    const { request } = (await sessionOf(this.#binding.runtime, this.name, sessionId))?.turn ?? {}
    if (request?.wants !== 'turn') return null
    return this.#streamed(options, (hear) => this.#settle(sessionId, request.id, options, hear)).result
  }

  /** Waits for all turns that are under way: those that a crash has cut off go on by themselves when the runtime starts. */
  async drain(): Promise<TurnResult<Data>[]> {
    const runtime = this.#binding.runtime
    const resumed: Promise<TurnResult<Data> | null>[] = []
    type Page = { actors: readonly { id: string; wakeAt: number | null }[]; next: string | null }
    for (let after: string | null | undefined; after !== null; ) {
      const page: Page = await runtime.command<Page>('actors.list', { kind: this.name, states: false, limit: 100, ...(after && { after }) })
      // Nothing wakes a session that waits for input.
      for (const { id, wakeAt } of page.actors) if (wakeAt !== null) resumed.push(this.resume(id))
      after = page.next
    }
    return (await Promise.all(resumed)).filter((result) => result !== null)
  }

  /** `compact` summarises a history without applying that; others are what the definition says. @throws LadderError ORCHESTRATOR_COMMAND_UNKNOWN; what a handler throws */
  command(name: 'compact', options: CompactOptions): Promise<Compaction | null>
  command<Command extends keyof Named & string>(
    name: Command,
    payload: Payload<Named[Command]>,
    options?: { signal?: AbortSignal },
  ): Promise<Awaited<ReturnType<Named[Command]>>>
  async command(name: string, given: unknown, { signal }: { signal?: AbortSignal } = {}): Promise<unknown> {
    const { commands = {} } = this.#checked.definition
    if (name === 'compact') return this.#compact(given as CompactOptions)
    if (Object.hasOwn(commands, name)) return commands[name]?.(given, { signal })
    throw new LadderError('ORCHESTRATOR_COMMAND_UNKNOWN', `'${this.name}' has no command '${String(name).slice(0, 80)}'`, {
      hint: `there are: ${['compact', ...Object.keys(commands)].join(', ')}`,
    })
  }

  /** Ends the turn that is under way; nothing of it is stored. @returns false where there is none */
  async cancel(sessionId: string, reason = 'cancelled'): Promise<boolean> {
    const runtime = this.#binding.runtime
    const { request } = (await sessionOf(runtime, this.name, sessionId))?.turn ?? {}
    if (!request) return false
    await runtime.actor(this.name, sessionId).send({ type: 'cancel', request: request.id, reason })
    return true
  }

  /** Calls of tools that wait for a person in its turn. */
  async pending(sessionId: string): Promise<readonly PendingCall[]> {
    const session = await sessionOf(this.#binding.runtime, this.name, sessionId)
    return session?.turn?.isPlaced && !session.turn.end ? this.#supervisor.pending(turnRunId(session)) : []
  }

  /** What a person has decided about one of them. @throws LadderError APPROVAL_UNKNOWN when it waits for nobody; SCHEMA_VALIDATION_FAILED */
  async decide(sessionId: string, given: Decision): Promise<void> {
    const decision = checkedDecision(given)
    const session = await sessionOf(this.#binding.runtime, this.name, sessionId)
    if (session?.turn?.isPlaced) return this.#supervisor.decide(turnRunId(session), decision)
    throw new LadderError('APPROVAL_UNKNOWN', `no call of the session '${sessionId}' waits for anybody`, {
      context: { sessionId, callId: decision.callId },
      hint: 'it was decided before, or its turn has ended: pending() lists those that wait',
    })
  }

  /** Forgets a session: a turn that is under way is cancelled, its rows and journals are removed. */
  async delete(sessionId: string): Promise<void> {
    const runtime = this.#binding.runtime
    const session = await sessionOf(runtime, this.name, sessionId)
    const actor = runtime.actor(this.name, sessionId)
    if (await this.cancel(sessionId, 'deleted')) await actor.waitFor(({ context }) => (context as { turn?: unknown }).turn === undefined)
    const rows = await (await this.#store()).rows(this.name, sessionId)
    const runs = rows.map(({ version, turn_index }) => `${sessionId}.${version ?? 'unversioned'}.${turn_index}`)
    const newest = session?.answers.flatMap(({ turnRunId: run }) => run ?? []) ?? []
    await (await this.#store()).delete(this.name, sessionId)
    await actor.forget()
    for (const run of new Set([...runs, ...newest])) await runtime.actor(this.#checked.turnKind, run).forget()
    this.#results.forget(sessionId)
  }

  /** Ids of sessions that are stored. @param prefix taken literally @throws LadderError STORE_FAILED where the store cannot list them */
  async sessions(prefix?: string): Promise<string[]> {
    const store = await this.#store()
    if (store.list) return store.list(this.name, prefix)
    throw new LadderError('STORE_FAILED', `the store of '${this.name}' cannot list sessions`, { hint: 'give it a store with list()' })
  }

  /** Hears events of all its sessions from now on, by their type or `*`. @returns what ends that */
  on(handlers: Handlers): () => void {
    return this.#listeners.add(handlers)
  }

  off(handlers: Handlers): void {
    this.#listeners.remove(handlers)
  }

  /** One turn as a tool, of a new session or of one that is bound here. @throws LadderError ORCHESTRATOR_CONFIG; RuntimeError bad_request */
  asTool(options: SessionToolOptions): Tool {
    return orchestratorTool(this, options)
  }

  /** @param inside where it stands in the run that it is a tool of */
  run(input: Input, { sessionId, history, ...options }: TurnOptions<State>, inside?: SessionRequest['inside']): Streamed<TurnResult<Data>> {
    const { requestId = uuid(), state, force } = options
    const within = inside?.rootRunId ?? calling.getStore()?.rootRunId
    return this.#streamed(options, async (hear) => {
      const said = checkedCall(this.name, sessionId, history, requestId)
      let request: SessionRequest
      try {
        if (within !== undefined) await requireOther(this.#binding.runtime, this.name, sessionId, within)
        request = await requestOf(this.#checked, this.#supervisor, { id: requestId, input, history: said, state, force, inside })
      } catch (error) {
        if (!(error instanceof LadderError)) throw error
        return this.#results.of(sessionId, refusedAnswer(requestId, error.toJSON(), now()))
      }
      return this.#settle(sessionId, request, options, hear)
    })
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

  async #compact({ sessionId, history, signal }: CompactOptions): Promise<Compaction | null> {
    const request = compactRequestOf(this.#checked, uuid(), checkedCall(this.name, sessionId, history))
    const { error, compaction } = await answerOf(this.#binding.runtime, this.#checked, request, { sessionId, signal, hear: () => undefined })
    if (error) throw LadderError.from(error)
    return compaction ?? null
  }

  #streamed<Made>({ on }: Asking, work: (hear: (told: LadderEvent) => void) => Promise<Made>): Streamed<Made> {
    const streamed = new Streamed<Made>(on)
    const { warn } = this.#binding
    const within = this.#supervisor.hearingWithin()
    const hear = (told: LadderEvent): void => {
      within(told)
      this.#listeners.tell(told, warn)
      streamed.tell(told, (thrown) => this.#listeners.failed(told, thrown, warn))
    }
    streamed.follow(work(hear))
    return streamed
  }

  async #store(): Promise<CheckpointStore> {
    const { checkpointStore } = this.#checked.definition
    return checkpointStore ?? checkpointStoreFor(undefined, await this.#binding.when())
  }
}

/** What is wrong with its supervisor is wrong with it. @throws LadderError ORCHESTRATOR_CONFIG */
const configured = <Made>(make: () => Made): Made => {
  try {
    return make()
  } catch (cause) {
    if (!(cause instanceof LadderError)) throw cause
    const { message, hint, context } = cause
    throw new LadderError('ORCHESTRATOR_CONFIG', message, { cause, context, ...(hint !== undefined && { hint }) })
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
): Orchestrator<Input, State, DataOf<State, Output>, Named> => new Orchestrator(written(definition, 'orchestrator'))
