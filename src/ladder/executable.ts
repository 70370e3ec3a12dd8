/** What every rung is to its users: something that is executed, streamed, gone on with and cancelled, as an actor whose kind is its name. */
import { type Placeholders, type Tool, uuid } from '../index.ts'
import { checkHeard, type Heard } from './audience.ts'
import { type Awaiting, checkAwaited, tellEvent } from './awaited.ts'
import { type Given, givenTo, placed, runInputOf } from './beginning.ts'
import { atWork, type CallPlace } from './calling/calls.ts'
import { takenAlong } from './calling/forced.ts'
import { lend, lentTo } from './contexts.ts'
import { type ToolOptions, toolOf, toolOptions } from './delegates.ts'
import type { LadderEvent, Report, Result } from './envelope.ts'
import { LadderError } from './errors.ts'
import { handlers as handlersKind, type Place, valueIn } from './given.ts'
import { HandingOver } from './handing-over.ts'
import type { HistoryMessage, RunHistory } from './history.rules.ts'
import { Hosted, resultOf } from './hosted.ts'
import { withInside } from './inside.rules.ts'
import { leaving, unlessAborted } from './leaving.ts'
import { type Handlers, Listeners, Tellers } from './listeners.ts'
import { Newest } from './newest.ts'
import { type Observe, observed, observersFor } from './observers.ts'
import { type Bound, type CallOptions, callOptions, type ExecuteOptions, executeKinds, type GoOnOptions, goOnKind, startOptions } from './options.ts'
import { type RunInput, type RunState, rootOf, statusOf } from './run.rules.ts'
import { type Begin, followRun, type Settled, unlessEnded, unlessUnknown } from './running.ts'
import { inputHashOf, sameInput } from './same-input.ts'
import { fitted, type Schema } from './schema.ts'
import { calledWith, Streamed } from './streamed.ts'

/** `called`: by code of another run. `isNamed`: by its caller. `isKept`: whoever asks may ask again after a crash. */
type RunOptions = CallOptions & { called?: CallPlace; isNamed?: boolean; isKept?: boolean }

// biome-ignore lint/suspicious/noExplicitAny: one of any input, which `unknown` would refuse
export type AnyExecutable = Executable<any, unknown>
export type InputOf<One extends AnyExecutable> = Parameters<One['execute']>[0]
export type DataOf<One extends AnyExecutable> = Exclude<Awaited<ReturnType<One['execute']>>['data'], undefined>

/** What runs on a runtime that has it: `createRuntime({ extensions: [ladder({ executables: [fulfil] })] })`. */
export abstract class Executable<Input = unknown, Data = unknown> extends Hosted<Data> {
  /** Executables that may run inside of its runs. */
  readonly inside: readonly AnyExecutable[] = []
  /** Those that its code may call by name, though nobody has given them to the runtime. */
  readonly callable: readonly AnyExecutable[] = []
  /** Of calls that wait in this process, by run. */
  readonly #options = new Newest<string, object>()
  readonly #handing = new HandingOver()
  readonly #listeners: Listeners
  readonly #observe: Observe | undefined

  constructor({ on, observe }: Heard = {}) {
    super()
    checkHeard(on, observe)
    this.#listeners = new Listeners(on)
    this.#observe = observe
  }

  override bind(bound: Bound | undefined): void {
    super.bind(bound)
    for (const one of withInside<AnyExecutable>(this)) one.warnBy(bound?.warn)
  }

  /**
   * Hears events of all its runs that are executed in this process, and of those inside of them, by their type or `*`; of runs of it inside of others too.
   * @returns what ends that
   */
  on(handlers: Handlers): () => void {
    return this.#listeners.add(valueIn(handlers, handlersKind, `what '${this.name}' is to tell`, 'LADDER_CONFIG'))
  }

  off(handlers: Handlers): void {
    this.#listeners.remove(handlers)
  }

  /**
   * A run of the name `runId` that is there already, of the same input, is waited for, and answers again once it has ended.
   * @returns what became of it, whatever that is @throws LadderError INPUT_CONFLICT, and on drift, before anything runs; where no runtime has it
   */
  execute(input: Input, options: ExecuteOptions = {}): Promise<Result<Data>> {
    return this.stream(input, options).result
  }

  /** The same, heard as it happens. */
  stream(input: Input, options: ExecuteOptions = {}): Streamed<Result<Data>> {
    return calledWith(
      () => callOptions<ExecuteOptions>(this.name, options, this.callKinds),
      ({ runId, ...rest }) => {
        const calls = runId === undefined ? atWork() : undefined
        if (calls) return calls.stream(this, input, rest)
        return this.#run(runId ?? uuid(), { type: 'execute' }, { ...rest, isNamed: runId !== undefined }, input)
      },
    )
  }

  /** As code of another run calls it: an actor of its own by the name that it has there, which ends with what it comes to. */
  called(input: Input, place: CallPlace, given: CallOptions = {}): Streamed<Result<Data>> {
    const options = callOptions<CallOptions>(this.name, given, this.callKinds)
    const signal = AbortSignal.any([place.signal, ...(options.signal ? [options.signal] : [])])
    return this.#run(place.runId, { type: 'execute' }, { ...options, signal, called: place }, input)
  }

  /**
   * Goes on with a run that failed or was cancelled, where it stopped; one that is under way is waited for, one that has completed answers again.
   * @throws LadderError on drift; RuntimeError not_found
   */
  async resume(runId: string, options: GoOnOptions = {}): Promise<Result<Data>> {
    return this.goingOn(runId, { type: 'resume' }, options)
  }

  /**
   * Tells a run what a step of it waits for, or one of a run inside of it that has begun. What comes before the step was entered is kept for it.
   * @throws LadderError SCHEMA_VALIDATION_FAILED for what no step takes, and the run waits on; on drift; RuntimeError closed when it has ended, not_found
   */
  async send(runId: string, event: { type: string } & Record<string, unknown>, options: { id?: string } = {}): Promise<void> {
    const actor = await this.there(runId)
    await checkAwaited(this.name, this.awaits, event)
    const isInside = this.inside.some(({ awaits }) => awaits.some(({ type }) => type === event.type))
    await this.known(runId, actor.send(isInside ? { type: tellEvent, event } : event, options))
  }

  /** Steps that wait for events, those of all that may run inside of it too. */
  get awaits(): readonly Awaiting[] {
    return [...withInside<AnyExecutable>(this)].flatMap((one) => one.waits)
  }

  /** What the actor of a run is created with, for whoever begins it there, by `execute`. @throws LadderError SCHEMA_VALIDATION_FAILED */
  async runInput(runId: string, input: Input): Promise<RunInput> {
    return runInputOf(runId, this.begin({ runId }), { value: await this.fit(input) }, inputHashOf(input), undefined)
  }

  /**
   * As a tool. An agent of the ladder runs it inside of its own run; any other agent as a run of its own, to which a call attaches that a crash has cut off.
   * @throws RuntimeError bad_request: its description is missing, say
   */
  asTool(options: ToolOptions = {}): Tool {
    return toolOf(this, this.takes, toolOptions(this.name, options))
  }

  /** What a call comes to that an agent outside of the ladder makes of its tool: it is gone on with where a crash has cut it off. */
  async delegated(runId: string, input: Input, { number, signal }: { number: number; signal: AbortSignal }): Promise<Result<Data>> {
    const options = { signal, isNamed: true, isKept: true }
    const begun = number > 1 ? await this.#run(runId, { type: 'resume' }, options).result.catch(unlessUnknown) : undefined
    return begun ?? this.#run(runId, { type: 'execute' }, options, input).result
  }

  /**
   * Begins a run and does not wait for it; one that has been begun under that name with the same input stays as it is. A signal ends the check of the input alone.
   * @returns its name @throws LadderError SCHEMA_VALIDATION_FAILED, INPUT_CONFLICT, and on drift, before anything runs; the reason of the signal
   */
  async start(input: Input, options: Pick<ExecuteOptions, 'runId' | 'signal'> = {}): Promise<string> {
    const { runId = uuid(), signal } = startOptions(this.name, options)
    const run = await unlessAborted(signal, this.runInput(runId, input))
    await this.#handing.over(runId)
    const actor = this.actor(runId, run)
    await this.known(runId, actor.send({ type: 'execute' }, { id: 'execute' }).catch(unlessEnded))
    if (options.runId !== undefined) sameInput(this.name, run)((await this.known(runId, actor.snapshot())).context as RunState)
    return runId
  }

  /** What is wrong with an input, if anything is: nothing runs. */
  async refuses(input: Input): Promise<LadderError | undefined> {
    return (await givenTo(this, input, {})).error
  }

  /** What the instructions of an agent are filled in with; nothing else has any. @throws LadderError with the code of the place */
  filled(_placeholders: unknown, { who, code }: Place): Placeholders {
    throw new LadderError(code, `${who} has placeholders, and '${this.name}' is no agent`)
  }

  /** What its input has to be, where it says so. */
  get schema(): Schema | undefined {
    return this.takes
  }

  /** What was said before, cut for those who read it in a run. @throws LadderError where code of its author fails at that */
  slicesOf(history: readonly HistoryMessage[]): RunHistory {
    return { agents: history }
  }

  /** What may be said with a call of it. */
  protected get callKinds(): typeof executeKinds {
    return executeKinds
  }

  /** What its input has to be, where it says so. */
  protected abstract readonly takes: Schema | undefined

  /** Steps of its own that wait for events. */
  protected get waits(): readonly Awaiting[] {
    return []
  }

  /** A run of it has ended, on this node. */
  protected ended(run: RunState): void {
    const observers = observersFor(this.#observe, run.inside !== undefined)
    if (observers.length > 0) observed(observers, this.reportOf(run), this.warn)
  }

  protected contextOf(runId: string): Readonly<Record<string, unknown>> {
    return lentTo(this, runId)
  }

  /** What the caller of a run has said, where that is in this process. */
  protected optionsOf(runId: string): object {
    return this.#options.get(runId) ?? nothing
  }

  /** What a run begins with, beside its input. @param options those of the call, of any rung */
  protected abstract begin(options: ExecuteOptions): object

  /** Its caller has all of a run that has completed, and nobody else in this process waits for it. */
  protected async handedOver(_runId: string): Promise<void> {}

  /** What a caller is given of the data of its run. @throws LadderError SCHEMA_VALIDATION_FAILED */
  protected async delivered(data: unknown, _options: object): Promise<Data> {
    return data as Data
  }

  /** Nothing of a run that is refused is stored: it never began. */
  protected abstract refused(runId: string, error: LadderError): Report

  /** Tells a run that is there what it goes on with, and waits for what comes of it. */
  protected async goingOn(runId: string, event: { type: string }, given: GoOnOptions): Promise<Result<Data>> {
    const { runId: _, history: __, placeholders: ___, ...kinds } = this.callKinds as typeof executeKinds & { placeholders?: unknown }
    const { force, ...options } = callOptions<GoOnOptions>(this.name, given, { ...kinds, ...goOnKind })
    if (force) await this.adopt(runId)
    return this.#run(runId, event, options).result
  }

  /** An input as a run inside of another one takes it. @throws LadderError SCHEMA_VALIDATION_FAILED */
  async fit(input: unknown): Promise<unknown> {
    return this.takes ? fitted(this.takes, input, `the input of '${this.name}'`) : input
  }

  #run(runId: string, begin: Begin, options: RunOptions, input?: Input): Streamed<Result<Data>> {
    const leave = new AbortController()
    const streamed = new Streamed<Result<Data>>(options.on)
    if (options.called) streamed.on({ '*': options.called.hear })
    const work = async (): Promise<Result<Data>> => {
      const given: Given = begin.type === 'execute' ? await givenTo(this, input, options) : {}
      if (given.error) return resultOf(placed(this.refused(runId, given.error), options.called), given.error)
      const begun: Pick<RunInput, 'placeholders'> = this.begin(options)
      const run = runInputOf(runId, begun, given, options.isNamed ? inputHashOf(input, begun.placeholders) : undefined, options.called)
      await options.called?.begins(this.name)
      await atWork()?.waitFor({ kind: this.name, id: runId }, this.neighbourOf)
      await this.#handing.over(runId)
      const actor = this.actor(runId, begin.type === 'execute' ? run : undefined)
      const takeBack = options.context && lend(this, runId, options.context)
      const hearing = this.#hearing(runId, streamed)
      const hear = (told: LadderEvent): void => {
        for (const event of [told, ...this.alsoTold(told, runId)]) hearing(event)
      }
      const following = { begin, rootRunId: rootOf(run), signal: options.signal, leave: leave.signal, hear, check: sameInput(this.name, run) }
      const forget = this.#options.add(runId, options)
      const follow = () => this.known(runId, followRun(actor, following))
      const along = { called: options.called, code: this.driftCode, runtime: this.bound.runtime, adopt: () => this.adopt(runId) }
      const result = await takenAlong(follow, along)
        .then((settled) => this.#result(settled, options))
        .finally(() => {
          forget()
          takeBack?.()
        })
      if (!result.error && !options.called && !options.isKept && !this.#options.get(runId))
        await this.#handing.of(runId, () => this.handedOver(runId))
      return result
    }
    streamed.follow((options.called ? this.binding.outlasting(options.called.caller, work) : work()).finally(() => leave.abort()))
    return streamed
  }

  /** Whoever tells an event is heard by its own listeners first, then by those of the run that was executed, last by those of the call. */
  #hearing(runId: string, streamed: Streamed<unknown>): (told: LadderEvent) => void {
    const within = this.hearingWithin()
    return (told) => {
      if (told.runId !== runId) within(told)
      this.#listeners.tell(told, this.warn)
      streamed.tell(told, (thrown) => this.#listeners.failed(told, thrown, this.warn))
    }
  }

  /** What tells an event to the listeners of the executable that it is of, of those that may run inside of this one. */
  hearingWithin(): (told: LadderEvent) => void {
    const within = new Map([...withInside<AnyExecutable>(this)].map((one) => [`${one.type === 'team' ? 'supervisor' : one.type} ${one.name}`, one]))
    const tellers = new Tellers()
    return (told) => {
      const teller = within.get(tellers.of(told) ?? '')
      if (teller && teller !== this) teller.#listeners.tell(told, this.warn)
    }
  }

  async #result({ state, report }: Settled, options: CallOptions): Promise<Result<Data>> {
    const result = this.resultOf(state, report)
    if (result.error) return result
    try {
      return { ...result, data: await unlessAborted(options.signal, this.delivered(result.data, options), leaving(this, 'delivered')) }
    } catch (error) {
      if (!(error instanceof LadderError)) throw error
      return resultOf({ ...result.report, status: statusOf(error.toJSON()), error: error.toJSON() }, error)
    }
  }
}

const nothing = Object.freeze({})
