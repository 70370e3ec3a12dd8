/** What every rung is to its users: something that is executed, streamed, gone on with and cancelled, as an actor whose kind is its name. */
import type { AnyStateMachine } from 'xstate'
import { z } from 'zod'
import {
  type ActorSnapshot,
  type Agent,
  type AskReport,
  type Clock,
  isRuntimeError,
  type Runtime,
  type Tool,
  type Transport,
  tool,
  uuid,
  type WaitOptions,
} from '../index.ts'
import { Binding } from './binding.ts'
import type { LadderEvent, Report, Result } from './envelope.ts'
import { LadderError } from './errors.ts'
import { heardIn, heardOf, type RunFeed } from './heard.ts'
import { checkedHistory, type HistoryMessage, type RunHistory } from './history.rules.ts'
import { type Handlers, Listeners, silent, Tellers, type Warn } from './listeners.ts'
import { isObserve, type Observe, observed, observersFor } from './observers.ts'
import { type RunInput, type RunState, rootOf } from './run.rules.ts'
import { fitted, type Schema } from './schema.ts'
import { Streamed } from './streamed.ts'
import { type CallPlace, calling } from './work/calls.ts'

export type ExecuteOptions = {
  /** Names the run: executing it again attaches to it, and never begins it twice. Default: a new one. */
  runId?: string
  /** For the code of its author; never stored, so a run that goes on elsewhere does without it. */
  context?: Readonly<Record<string, unknown>>
  /** Cancels the run when it aborts. */
  signal?: AbortSignal
  /** Hears events of this run, by their type or `*`. */
  on?: Handlers
  /** What was said before: models are told it before their question. It stands in the journal of the run. */
  history?: readonly HistoryMessage[]
}

/** Who hears of the runs of an executable, as its definition says. */
export type Heard = {
  /** Hears events of all its runs, by their type or `*`, before any other handler. */
  on?: Handlers
  /** Who gets the report of a run that has ended. Default: whom `setLadderObservers` has set. */
  observe?: Observe
}

/** A call of a tool that waits for a person. */
export type PendingCall = Extract<AskReport['report'], { type: 'tool.waiting' }>['approval']
/** `remember`: from now on that tool needs no further yes in this run of the agent. */
export type Decision = { callId: string; decision: 'approve' | 'deny'; note?: string; by?: string; remember?: true }

/** `input` is what the model is told of it, an object; default: what the executable takes, or a text. */
export type ToolOptions = { name?: string; description?: string; input?: z.ZodObject; approval?: boolean | ((input: unknown) => boolean) }

type Given = { value?: unknown; history?: RunHistory; error?: LadderError }
export type CallOptions = Omit<ExecuteOptions, 'runId'>
/** `called`: by code of another run. */
type RunOptions = CallOptions & { called?: CallPlace }
type Begin = { type: 'execute' } | { type: 'resume' }
type Settling = Pick<RunOptions, 'context' | 'signal' | 'called'> & {
  input: unknown
  history: RunHistory | undefined
  leave: AbortSignal
  hear: (told: LadderEvent) => void
}

/** What a runtime gives to the executables that it has. */
export type Bound = {
  runtime: Runtime
  registry: Transport['registry']
  clock: Pick<Clock, 'now'>
  /** Says in its log that a listener failed. */
  warn?: Warn
}

// biome-ignore lint/suspicious/noExplicitAny: one of any input, which `unknown` would refuse
export type AnyExecutable = Executable<any, unknown>
export type InputOf<One extends AnyExecutable> = Parameters<One['execute']>[0]
export type DataOf<One extends AnyExecutable> = Exclude<Awaited<ReturnType<One['execute']>>['data'], undefined>

/** What runs on a runtime that has it: `createRuntime({ extensions: [ladder({ executables: [fulfil] })] })`. */
export abstract class Executable<Input = unknown, Data = unknown> {
  abstract readonly type: Report['type']
  abstract readonly name: string
  abstract readonly version: string | undefined
  abstract readonly description: string | undefined
  /** An ordinary machine, to be drawn, replayed and checked like any other. */
  abstract readonly machine: AnyStateMachine
  /** Agents that are asked in it. */
  abstract readonly agents: readonly Agent[]
  /** Executables that may run inside of its runs. */
  readonly inside: readonly AnyExecutable[] = []
  /** Those that its code may call by name, though nobody has given them to the runtime. */
  readonly callable: readonly AnyExecutable[] = []
  readonly #contexts = new Map<string, Readonly<Record<string, unknown>>>()
  readonly #listeners: Listeners
  readonly #observe: Observe | undefined
  readonly #binding = new Binding<Bound>()
  #warn: Warn = silent

  constructor({ on, observe }: Heard = {}) {
    checkHeard(on, observe)
    this.#listeners = new Listeners(on)
    this.#observe = observe
  }

  /** Called when a runtime is made that is going to have it. */
  announce(): void {
    this.#binding.announce()
  }

  /** Called when a runtime starts with it, and with nothing when that one ends. */
  bind(bound: Bound | undefined): void {
    this.#binding.bind(bound)
    for (const one of this.#all()) one.#warn = bound?.warn ?? silent
  }

  /**
   * Hears events of all its runs that are executed in this process, and of those inside of them, by their type or `*`; of runs of it inside of others too.
   * @returns what ends that
   */
  on(handlers: Handlers): () => void {
    return this.#listeners.add(handlers)
  }

  off(handlers: Handlers): void {
    this.#listeners.remove(handlers)
  }

  /** @returns what became of it, whatever that is @throws LadderError on drift, before anything runs; where no runtime has it */
  execute(input: Input, options: ExecuteOptions = {}): Promise<Result<Data>> {
    return this.stream(input, options).result
  }

  /** The same, heard as it happens. */
  stream(input: Input, options: ExecuteOptions = {}): Streamed<Result<Data>> {
    const { runId = uuid(), ...rest } = options
    const calls = options.runId === undefined ? calling.getStore() : undefined
    return calls && !calls.isOver ? calls.stream(this, input, rest) : this.#run(runId, { type: 'execute' }, rest, input)
  }

  /** As code of another run calls it: an actor of its own by the name that it has there, which ends with what it comes to. */
  called(input: Input, place: CallPlace, options: CallOptions = {}): Streamed<Result<Data>> {
    const signal = AbortSignal.any([place.signal, ...(options.signal ? [options.signal] : [])])
    return this.#run(place.runId, { type: 'execute' }, { ...options, signal, called: place }, input)
  }

  /**
   * Goes on with a run that failed or was cancelled, where it stopped; one that is under way is waited for, one that has completed answers again.
   * @throws LadderError on drift; RuntimeError not_found
   */
  resume(runId: string, options: Omit<ExecuteOptions, 'runId' | 'history'> = {}): Promise<Result<Data>> {
    return this.#run(runId, { type: 'resume' }, options).result
  }

  /**
   * As a tool. An agent of the ladder runs it inside of its own run; any other agent as a run of its own, to which a call attaches that a crash has cut off.
   * @throws RuntimeError bad_request: its description is missing, say
   */
  asTool({ name = this.name, description = this.description ?? '', input, approval = false }: ToolOptions = {}): Tool {
    const schema = input ?? (this.takes instanceof z.ZodObject ? this.takes : undefined)
    const text = textOf(this.takes)
    const made = tool({
      name,
      description,
      input: schema ?? text,
      delegated: true,
      onCrash: 'idempotent',
      timeoutMs: longestMs,
      approval,
      execute: async (given, { callId, attempt, signal }) => {
        const value = (schema ? given : (given as z.output<typeof text>).text) as Input
        const begun = attempt > 1 ? await this.resume(callId, { signal }).catch(unlessUnknown) : undefined
        const { data, error } = begun ?? (await this.execute(value, { runId: callId, signal }))
        if (error) throw error
        return data ?? null
      },
    })
    delegates.set(made, { executable: this, isText: schema === undefined })
    return made
  }

  /**
   * Begins a run and does not wait for it; one that has been begun under that name stays as it is.
   * @returns its name @throws LadderError SCHEMA_VALIDATION_FAILED, and on drift, before anything runs
   */
  async start(input: Input, { runId = uuid() }: Pick<ExecuteOptions, 'runId'> = {}): Promise<string> {
    const { value, error } = await this.#given(input, undefined)
    if (error) throw error
    const actor = this.actor(runId, { ...this.begin(), runId, input: value })
    await this.#known(runId, actor.send({ type: 'execute' }, { id: 'execute' }).catch(unlessEnded))
    return runId
  }

  /** Goes on with a run as {@link resume} does, and does not wait for it. @throws LadderError on drift; RuntimeError not_found */
  async goOn(runId: string): Promise<void> {
    const actor = this.actor(runId)
    const { status } = await this.#known(runId, actor.snapshot())
    if (status === 'active') await actor.send({ type: 'resume' }).catch(unlessEnded)
  }

  /** What became of a run; undefined while it is under way. @throws LadderError on drift; RuntimeError not_found */
  async look(runId: string): Promise<Result<Data> | undefined> {
    const snapshot = await this.#known(runId, this.actor(runId).snapshot())
    return isSettled(snapshot) ? this.#resultOf(snapshot.context as RunState) : undefined
  }

  /** The same, waited for. @throws LadderError on drift; RuntimeError timeout, not_found; the reason of the signal */
  async outcome(runId: string, options: WaitOptions = {}): Promise<Result<Data>> {
    const snapshot = await this.#known(runId, this.actor(runId).waitFor(isSettled, options))
    return this.#resultOf(snapshot.context as RunState)
  }

  /** What a run says from now on, or since the event of that place. A reader who is too slow is told so by an error `overloaded`. */
  hear(runId: string, after?: string): RunFeed {
    const { events, end, stop } = this.bound.runtime.events({ kind: this.name, id: runId }, after)
    return { events: heardIn(events, runId), end, stop }
  }

  /** Ends a run that is under way: what was done stays, and it can be gone on with. @throws RuntimeError closed when it has ended, not_found */
  async cancel(runId: string, reason = 'cancelled'): Promise<void> {
    await this.actor(runId).send({ type: 'cancel', reason })
  }

  /** Calls of tools that wait for a person, of all agents in the run. @throws RuntimeError not_found */
  async pending(runId: string): Promise<readonly PendingCall[]> {
    return (await this.#waiting(runId)).map(({ approval }) => approval)
  }

  /** What a person has decided about one of them. @throws LadderError APPROVAL_UNKNOWN when it waits for nobody; RuntimeError not_found */
  async decide(runId: string, { callId, decision, note, by, remember }: Decision): Promise<void> {
    const found = (await this.#waiting(runId)).find(({ approval }) => approval.callId === callId)
    if (!found)
      throw new LadderError('APPROVAL_UNKNOWN', `no call '${callId.slice(0, 80)}' of the run ${runId} waits for anybody`, {
        context: { runId, callId },
        hint: 'it was decided before, or its run has ended: pending() lists those that wait',
      })
    const { inputHash, attempt } = found.approval
    const said = { ...(note !== undefined && { note }), ...(by !== undefined && { by }), ...(remember && { remember: 'session' as const }) }
    await this.actor(runId).send({ type: 'approve', ask: found.ask, callId, decision, inputHash, attempt, ...said })
  }

  /** What was said before, cut for those who read it in a run. @throws LadderError where code of its author fails at that */
  slicesOf(history: readonly HistoryMessage[]): RunHistory {
    return { agents: history }
  }

  /** What its input has to be, where it says so. */
  protected abstract readonly takes: Schema | undefined

  /** What an event of its run means besides. */
  protected alsoTold(_event: LadderEvent, _runId: string): LadderEvent[] {
    return []
  }

  /** A run of it has ended, on this node. */
  protected ended(run: RunState): void {
    const observers = observersFor(this.#observe, run.inside !== undefined)
    if (observers.length > 0) observed(observers, this.reportOf(run), this.#warn)
  }

  protected contextOf(runId: string): Readonly<Record<string, unknown>> {
    return this.#contexts.get(runId) ?? nothing
  }

  /** What a run begins with, beside its input. */
  protected abstract begin(): object
  protected abstract reportOf(run: RunState): Report
  /** What it gives back, also beside an error where there is something. */
  protected dataOf(run: RunState): unknown {
    return run.error ? undefined : run.data
  }
  protected abstract drifted(runId: string, cause: Error): LadderError
  /** Nothing of a run that is refused is stored: it never began. */
  protected abstract refused(runId: string, error: LadderError): Report

  protected actor(runId: string, input?: unknown) {
    return this.bound.runtime.actor(this.name, runId, input)
  }

  /** An input as a run inside of another one takes it. @throws LadderError SCHEMA_VALIDATION_FAILED */
  async fit(input: unknown): Promise<unknown> {
    return this.takes ? fitted(this.takes, input, `the input of '${this.name}'`) : input
  }

  /** Of a run that has ended nobody waits any more. */
  async #waiting(runId: string): Promise<RunState['waiting']> {
    const snapshot = await this.actor(runId).snapshot()
    return snapshot.status !== 'active' || snapshot.hasTag('settled') ? [] : (snapshot.context as RunState).waiting
  }

  #run(runId: string, begin: Begin, options: RunOptions, input?: Input): Streamed<Result<Data>> {
    const leave = new AbortController()
    const streamed = new Streamed<Result<Data>>(options.on)
    if (options.called) streamed.on({ '*': options.called.hear })
    const work = async (): Promise<Result<Data>> => {
      const given: Given = begin.type === 'execute' ? await this.#given(input, options.history) : {}
      if (given.error) return resultOf(placed(this.refused(runId, given.error), options.called), given.error)
      return await this.#settle(runId, begin, {
        ...options,
        input: given.value,
        history: given.history,
        leave: leave.signal,
        hear: this.#hearing(runId, streamed),
      })
    }
    const ended = options.called ? this.#binding.outlasting(options.called.caller, work) : work()
    streamed.follow(ended.finally(() => leave.abort()))
    return streamed
  }

  async #given(input: Input | undefined, said: readonly HistoryMessage[] | undefined): Promise<Given> {
    try {
      const value = await this.fit(input)
      return said === undefined ? { value } : { value, history: this.slicesOf(checkedHistory(said, `history of '${this.name}'`)) }
    } catch (error) {
      if (error instanceof LadderError) return { error }
      throw error
    }
  }

  /** Whoever tells an event is heard by its own listeners first, then by those of the run that was executed, last by those of the call. */
  #hearing(runId: string, streamed: Streamed<unknown>): (told: LadderEvent) => void {
    const within = new Map([...this.#all()].map((one) => [`${one.type === 'team' ? 'supervisor' : one.type} ${one.name}`, one]))
    const tellers = new Tellers()
    return (told) => {
      const teller = told.runId === runId ? undefined : within.get(tellers.of(told) ?? '')
      if (teller && teller !== this) teller.#listeners.tell(told, this.#warn)
      this.#listeners.tell(told, this.#warn)
      streamed.tell(told, (thrown) => this.#listeners.failed(told, thrown, this.#warn))
    }
  }

  /** It and all that may run inside of it, at any depth. */
  #all(seen = new Set<AnyExecutable>()): Set<AnyExecutable> {
    if (!seen.has(this)) {
      seen.add(this)
      for (const one of this.inside) one.#all(seen)
    }
    return seen
  }

  async #settle(runId: string, begin: Begin, { context, signal, leave, hear, input, history, called }: Settling): Promise<Result<Data>> {
    const run: RunInput = { ...this.begin(), runId, input, ...(called && { inside: called.inside }), ...(history && { history }) }
    const actor = this.actor(runId, begin.type === 'execute' ? run : undefined)
    if (context) this.#contexts.set(runId, Object.freeze({ ...context }))
    const over = new AbortController()
    const words = actor.events({ signal: over.signal })
    const heard = (async () => {
      for await (const { event: told } of words) {
        const event = heardOf(told, rootOf(run))
        if (!event) continue
        hear(event)
        for (const more of this.alsoTold(event, runId)) hear(more)
      }
    })()
    try {
      if (begin.type === 'resume') await actor.snapshot()
      await actor.send(begin, begin.type === 'execute' ? { id: 'execute' } : {}).catch(unlessEnded)
      const cancel = (): void => void actor.send({ type: 'cancel', reason: String(signal?.reason ?? 'aborted') }).catch(() => undefined)
      if (signal?.aborted) cancel()
      signal?.addEventListener('abort', cancel, { signal: leave })
      const snapshot = await actor.waitFor(isSettled)
      over.abort()
      await heard
      return this.#resultOf(snapshot.context as RunState)
    } catch (error) {
      throw isRuntimeError(error) && error.code === 'drift' ? this.drifted(runId, error) : error
    } finally {
      over.abort()
      this.#contexts.delete(runId)
    }
  }

  #resultOf(state: RunState): Result<Data> {
    return resultOf(this.reportOf(state), state.error && LadderError.from(state.error), this.dataOf(state) as Data)
  }

  /** @throws LadderError on drift */
  async #known<Answer>(runId: string, asked: Promise<Answer>): Promise<Answer> {
    try {
      return await asked
    } catch (error) {
      throw isRuntimeError(error) && error.code === 'drift' ? this.drifted(runId, error) : error
    }
  }

  /** @throws LadderError LADDER_CONFIG where no runtime has it */
  protected get bound(): Bound {
    if (this.#binding.to) return this.#binding.to
    throw new LadderError('LADDER_CONFIG', `no runtime has the ${this.type} '${this.name}'`, {
      hint: 'start one with createRuntime({ extensions: [ladder({ executables: [it] })] })',
    })
  }
}

/** It has ended, or waits to be gone on with. */
const isSettled = (at: ActorSnapshot): boolean => at.status !== 'active' || at.hasTag('settled')

const checkHeard = (on: unknown, observe: unknown): void => {
  if (on !== undefined && (typeof on !== 'object' || on === null || Object.values(on).some((handler) => typeof handler !== 'function')))
    throw new LadderError('LADDER_CONFIG', 'on has what is no handler', { hint: "write on: { 'agent.completed': ({ runId }) => … }" })
  if (observe !== undefined && !isObserve(observe))
    throw new LadderError('LADDER_CONFIG', 'observe is nobody that can be told', { hint: 'write true, false, or one observer: (report) => …' })
}

const nothing = Object.freeze({})
/** What has no fields is called with a text, or with what it takes in the place of one. */
const textOf = (takes: Schema | undefined) =>
  z.object({ text: (takes instanceof z.ZodType ? takes : z.string()).describe('what it is to do, with all that it has to know') })
/** ms; its own limits end it before that. */
const longestMs = 2 ** 31 - 1

const delegates = new WeakMap<object, { executable: AnyExecutable; isText: boolean }>()
/** Which executable a tool stands for, if any; `isText`: it is called with a text in an object. */
export const delegateOf = (made: Tool): { executable: AnyExecutable; isText: boolean } | undefined => delegates.get(made)

/** A run that never began, where it would have stood. */
const placed = ({ schemaVersion: _, ...report }: Report, called: CallPlace | undefined): Report =>
  called ? { ...report, rootRunId: called.inside.rootRunId, parentRunId: called.inside.parentRunId } : { schemaVersion: 1, ...report }

const resultOf = <Data>(report: Report, error: LadderError | undefined, data?: Data): Result<Data> => ({
  ...(error && { error }),
  ...((!error || data !== undefined) && { data: data as Data }),
  usage: report.usage,
  report,
})

const unlessUnknown = (error: unknown): undefined => {
  if (!isRuntimeError(error) || error.code !== 'not_found') throw error
}

/** A run that has completed takes no events any more, and still has its result. */
const unlessEnded = (error: unknown): void => {
  if (!isRuntimeError(error) || error.code !== 'closed') throw error
}
