/** `orchestrator()`: a session whose turns are supervised, kept between calls, crashes and nodes. */
import type { AnyStateMachine } from 'xstate'
import { type Agent, now, type Runtime, type Tool, uuid } from '../../index.ts'
import type { Decision, PendingCall } from '../approval.ts'
import { checkHeard } from '../audience.ts'
import { lend } from '../contexts.ts'
import type { LadderEvent } from '../envelope.ts'
import { LadderError, wordsOf } from '../errors.ts'
import { type Handlers, Listeners, silent } from '../listeners.ts'
import { observed, observersFor } from '../observers.ts'
import type { Bound } from '../options.ts'
import type { Schema } from '../schema.ts'
import { checkpointStoreFor } from '../stores/defaults.ts'
import type { CheckpointStore } from '../stores/store.ts'
import { Streamed } from '../streamed.ts'
import { checkedIntents, type DataOf } from '../supervisor/definition.ts'
import { Supervisor } from '../supervisor/supervisor.ts'
import { answerOf, sessionOf } from './asking.ts'
import type { Compaction } from './compaction.rules.ts'
import { sessionMachine } from './compile.rules.ts'
import { type AnyOrchestrator, type CheckedOrchestrator, type Commands, checkedOrchestrator, type OrchestratorDefinition } from './definition.ts'
import type { CompactOptions, ResumeOptions, TurnOptions, TurnResult } from './options.ts'
import { recordOf, refusedAnswer, reportOf } from './report.rules.ts'
import { checkedCall, compactRequestOf, requestOf } from './request.ts'
import { type Answer, type SessionRequest, turnRunId } from './session.context.ts'
import { sessionActors } from './session.effects.ts'
import { signatureOf } from './signature.rules.ts'
import { orchestratorTool, type SessionToolOptions } from './tool.ts'
import { childOf, Turns } from './turns.ts'

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
  readonly #turns: Turns
  readonly #listeners: Listeners
  #boundTo: Bound | undefined
  #binding = Promise.withResolvers<void>()

  constructor(definition: AnyOrchestrator) {
    const checked = checkedOrchestrator(definition)
    const { name, turnKind, summaryKind, summarizer } = checked
    const { version, description, iterate = false, historyWindow: { router = 5, agents = 15, ack = 0 } = {}, on, observe } = definition
    // A version of its own would refuse turns that are under way, although nothing about them has changed.
    const { version: _, on: __, observe: ___, ...supervised } = { ...definition, name: turnKind, historyWindow: { router, agents, ack } }
    this.#checked = checked
    this.name = name
    this.version = version
    this.description = description
    this.#supervisor = configured(() => new Supervisor(supervised, { isSingle: !iterate }))
    this.#turns = new Turns(turnKind)
    this.signature = signatureOf(definition, checkedIntents(supervised))
    this.machine = sessionMachine(name, {
      actors: sessionActors({
        ...checked,
        signature: this.signature,
        store: () => this.#store(),
        nextRuntime: () => this.whenBound(this.#boundTo?.runtime),
      }),
      now,
      ended: (sessionId, answer) => this.#observed(sessionId, answer),
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
    this.#boundTo = bound
    this.#supervisor.bind(bound)
    this.#checked.summarizer?.bind(bound)
    if (!bound) return
    this.#binding.resolve()
    this.#binding = Promise.withResolvers<void>()
  }

  /** For effects, which go on after a crash before a runtime has started in full. @param but one that has ended */
  async whenBound(but?: Runtime): Promise<Runtime> {
    while (!this.#boundTo || this.#boundTo.runtime === but) await this.#binding.promise
    return this.#boundTo.runtime
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
    const { request } = (await sessionOf(this.#bound(), this.name, sessionId))?.turn ?? {}
    if (request?.wants !== 'turn') return null
    return this.#streamed(options, (hear) => this.#settle(sessionId, request.id, options, hear)).result
  }

  /** Waits for all turns that are under way: those that a crash has cut off go on by themselves when the runtime starts. */
  async drain(): Promise<TurnResult<Data>[]> {
    const runtime = this.#bound()
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
    const runtime = this.#bound()
    const { request } = (await sessionOf(runtime, this.name, sessionId))?.turn ?? {}
    if (!request) return false
    await runtime.actor(this.name, sessionId).send({ type: 'cancel', request: request.id, reason } as never)
    return true
  }

  /** Calls of tools that wait for a person in its turn. */
  async pending(sessionId: string): Promise<readonly PendingCall[]> {
    const session = await sessionOf(this.#bound(), this.name, sessionId)
    return session?.turn?.isPlaced && !session.turn.end ? this.#supervisor.pending(turnRunId(session)) : []
  }

  /** What a person has decided about one of them. @throws LadderError APPROVAL_UNKNOWN when it waits for nobody */
  async decide(sessionId: string, decision: Decision): Promise<void> {
    const session = await sessionOf(this.#bound(), this.name, sessionId)
    if (session?.turn?.isPlaced) return this.#supervisor.decide(turnRunId(session), decision)
    throw new LadderError('APPROVAL_UNKNOWN', `no call of the session '${sessionId}' waits for anybody`, {
      context: { sessionId, callId: decision.callId },
      hint: 'it was decided before, or its turn has ended: pending() lists those that wait',
    })
  }

  /** Forgets a session: a turn that is under way is cancelled, its rows and journals are removed. */
  async delete(sessionId: string): Promise<void> {
    const runtime = this.#bound()
    const session = await sessionOf(runtime, this.name, sessionId)
    const actor = runtime.actor(this.name, sessionId)
    if (await this.cancel(sessionId, 'deleted')) await actor.waitFor(({ context }) => (context as { turn?: unknown }).turn === undefined)
    const rows = await (await this.#store()).rows(this.name, sessionId)
    const runs = rows.map(({ version, turn_index }) => `${sessionId}.${version ?? 'unversioned'}.${turn_index}`)
    const newest = session?.answers.flatMap(({ turnRunId: run }) => run ?? []) ?? []
    await (await this.#store()).delete(this.name, sessionId)
    await actor.forget()
    for (const run of new Set([...runs, ...newest])) await runtime.actor(this.#checked.turnKind, run).forget()
    this.#turns.forget(sessionId)
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
    return orchestratorTool(this as unknown as Orchestrator, options)
  }

  /** @param inside where it stands in the run that it is a tool of */
  run(input: Input, { sessionId, history, ...options }: TurnOptions<State>, inside?: SessionRequest['inside']): Streamed<TurnResult<Data>> {
    const { requestId = uuid(), state, force } = options
    return this.#streamed(options, async (hear) => {
      const said = checkedCall(this.name, sessionId, history)
      let request: SessionRequest
      try {
        request = await requestOf(this.#checked, this.#supervisor, { id: requestId, input, history: said, state, force, inside })
      } catch (error) {
        if (!(error instanceof LadderError)) throw error
        return this.#resultOf(sessionId, refusedAnswer(requestId, error.toJSON(), now()))
      }
      return this.#settle(sessionId, request, options, hear)
    })
  }

  async #settle(sessionId: string, request: SessionRequest | string, { context, signal }: Asking, hear: (told: LadderEvent) => void) {
    const id = typeof request === 'string' ? request : request.id
    const takeBack = context && lend(this, id, context)
    try {
      const answer = await answerOf(this.#bound(), this.#checked, request, { sessionId, signal, hear })
      if (answer.error?.code === 'ORCHESTRATOR_DRIFT') throw LadderError.from(answer.error)
      return await this.#resultOf(sessionId, answer)
    } finally {
      takeBack?.()
    }
  }

  async #resultOf(sessionId: string, answer: Answer): Promise<TurnResult<Data>> {
    const runtime = this.#bound()
    const { name, summaryKind, keepRows: keep } = this.#checked
    const { error, compaction, turnIndex = 0 } = answer
    const ended = answer.turnRunId === undefined ? undefined : await this.#turns.read(runtime, answer.turnRunId)
    const current = ended && recordOf(turnIndex, ended.input, ended.report)
    const before = ended ? await this.#turns.before(runtime, { store: await this.#store(), name, sessionId, turnIndex, keep }) : []
    if (current && !error) this.#turns.note(sessionId, current)
    const report = reportOf({
      name,
      sessionId,
      signature: this.signature,
      answer,
      children: [...(ended ? [ended.report] : []), ...(await childOf(runtime, summaryKind, answer.summaryRunId))],
      turns: [...before, ...(current ? [current] : [])],
    })
    return {
      sessionId,
      turnIndex,
      ...(error ? { error: LadderError.from(error) } : { data: ended?.data as Data }),
      ...(compaction && { compaction }),
      usage: report.usage,
      report,
    }
  }

  #observed(sessionId: string, answer: Answer): void {
    const observers = observersFor(this.#checked.definition.observe, answer.inside !== undefined)
    const warn = this.#boundTo?.warn ?? silent
    if (observers.length === 0) return
    const read = this.whenBound().then(() => this.#resultOf(sessionId, answer))
    read.then(
      ({ report }) => observed(observers, report, warn),
      (thrown: unknown) => warn({ session: sessionId, error: wordsOf(thrown) }, 'the report of a turn could not be read for its observers'),
    )
  }

  async #compact({ sessionId, history, signal }: CompactOptions): Promise<Compaction | null> {
    const request = compactRequestOf(this.#checked, uuid(), checkedCall(this.name, sessionId, history))
    const { error, compaction } = await answerOf(this.#bound(), this.#checked, request, { sessionId, signal, hear: () => undefined })
    if (error) throw LadderError.from(error)
    return compaction ?? null
  }

  #streamed<Made>({ on }: Asking, work: (hear: (told: LadderEvent) => void) => Promise<Made>): Streamed<Made> {
    const streamed = new Streamed<Made>(on)
    const warn = this.#boundTo?.warn ?? silent
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
    if (checkpointStore) return checkpointStore
    await this.whenBound()
    return checkpointStoreFor(undefined, this.#boundTo)
  }

  #bound(): Runtime {
    if (this.#boundTo) return this.#boundTo.runtime
    throw new LadderError('LADDER_CONFIG', `no runtime has '${this.name}'`, {
      hint: 'create one with it: createRuntime({ extensions: [ladder({ executables: […] })] })',
    })
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
): Orchestrator<Input, State, DataOf<State, Output>, Named> => new Orchestrator(definition)
