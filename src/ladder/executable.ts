/** What every rung is to its users: something that is executed, streamed, gone on with and cancelled, as an actor whose kind is its name. */
import type { AnyStateMachine } from 'xstate'
import { z } from 'zod'
import { type Agent, type AskReport, isRuntimeError, type Runtime, type Tool, tool, uuid } from '../index.ts'
import type { LadderEvent, Report, Result } from './envelope.ts'
import { LadderError } from './errors.ts'
import { checkHeard, type Heard } from './heard.ts'
import { type Handlers, Listeners, silent, Tellers, type Warn } from './listeners.ts'
import { type Observe, observed, observersFor } from './observers.ts'
import type { RunInput, RunState } from './run.rules.ts'
import { Streamed } from './streamed.ts'

export type ExecuteOptions = {
  /** Names the run: executing it again attaches to it, and never begins it twice. Default: a new one. */
  runId?: string
  /** For the code of its author; never stored, so a run that goes on elsewhere does without it. */
  context?: Readonly<Record<string, unknown>>
  /** Cancels the run when it aborts. */
  signal?: AbortSignal
  /** Hears events of this run, by their type or `*`. */
  on?: Handlers
}

/** A call of a tool that waits for a person. */
export type PendingCall = Extract<AskReport['report'], { type: 'tool.waiting' }>['approval']
/** `remember`: from now on that tool needs no further yes in this run of the agent. */
export type Decision = { callId: string; decision: 'approve' | 'deny'; note?: string; by?: string; remember?: true }

/** `input` is what the model is told of it, an object; default: what the executable takes, or a text. */
export type ToolOptions = { name?: string; description?: string; input?: z.ZodObject; approval?: boolean | ((input: unknown) => boolean) }

type Begin = { type: 'execute' } | { type: 'resume' }
type Settling = Pick<ExecuteOptions, 'context' | 'signal'> & { input: unknown; leave: AbortSignal; hear: (told: LadderEvent) => void }

// biome-ignore lint/suspicious/noExplicitAny: one of any input, which `unknown` would refuse
export type AnyExecutable = Executable<any, unknown>

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
  readonly #contexts = new Map<string, Readonly<Record<string, unknown>>>()
  readonly #listeners: Listeners
  readonly #observe: Observe | undefined
  #runtime: Runtime | undefined
  #warn: Warn = silent

  constructor({ on, observe }: Heard = {}) {
    checkHeard({ on, observe })
    this.#listeners = new Listeners(on)
    this.#observe = observe
  }

  /** Called when a runtime starts with it, and with nothing when that one ends. @param warn says in its log that a listener failed */
  bind(runtime: Runtime | undefined, warn: Warn = silent): void {
    this.#runtime = runtime
    for (const one of this.#all()) one.#warn = warn
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
  stream(input: Input, { runId = uuid(), ...options }: ExecuteOptions = {}): Streamed<Result<Data>> {
    return this.#run(runId, { type: 'execute' }, options, input)
  }

  /**
   * Goes on with a run that failed or was cancelled, where it stopped; one that is under way is waited for, one that has completed answers again.
   * @throws LadderError on drift; RuntimeError not_found
   */
  resume(runId: string, options: Omit<ExecuteOptions, 'runId'> = {}): Promise<Result<Data>> {
    return this.#run(runId, { type: 'resume' }, options).result
  }

  /**
   * As a tool. An agent of the ladder runs it inside of its own run; any other agent as a run of its own, to which a call attaches that a crash has cut off.
   * @throws RuntimeError bad_request: its description is missing, say
   */
  asTool({ name = this.name, description = this.description ?? '', input, approval = false }: ToolOptions = {}): Tool {
    const schema = input ?? (this.takes instanceof z.ZodObject ? this.takes : undefined)
    const made = tool({
      name,
      description,
      input: schema ?? Text,
      delegated: true,
      onCrash: 'idempotent',
      timeoutMs: longestMs,
      approval,
      execute: async (given, { callId, attempt, signal }) => {
        const value = (schema ? given : (given as z.output<typeof Text>).text) as Input
        const begun = attempt > 1 ? await this.resume(callId, { signal }).catch(unlessUnknown) : undefined
        const { data, error } = begun ?? (await this.execute(value, { runId: callId, signal }))
        if (error) throw error
        return data ?? null
      },
    })
    delegates.set(made, { executable: this, isText: schema === undefined })
    return made
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

  /** What its input has to be, where it says so. */
  protected abstract readonly takes: unknown

  /** Says in the log of the runtime that code of somebody else failed. */
  protected warn(facts: Record<string, unknown>, message: string): void {
    this.#warn(facts, message)
  }

  /** A run of it has ended, on this node. */
  protected ended(run: RunState): void {
    const observers = observersFor(this.#observe, run.inside !== undefined)
    if (observers.length > 0) observed(observers, this.reportOf(run), this.#warn)
  }

  protected contextOf(runId: string): Readonly<Record<string, unknown>> {
    return this.#contexts.get(runId) ?? nothing
  }

  /** How an input is taken. */
  protected abstract parsed(input: Input | undefined): { value?: unknown; error?: LadderError } | Promise<{ value?: unknown; error?: LadderError }>
  /** What a run begins with, beside its input. */
  protected abstract begin(): object
  protected abstract reportOf(run: RunState): Report
  protected abstract drifted(runId: string, cause: Error): LadderError
  /** Nothing of a run that is refused is stored: it never began. */
  protected abstract refused(runId: string, error: LadderError): Report

  protected actor(runId: string, input?: unknown) {
    return this.#bound().actor(this.name, runId, input)
  }

  /** Of a run that has ended nobody waits any more. */
  async #waiting(runId: string): Promise<RunState['waiting']> {
    const snapshot = await this.actor(runId).snapshot()
    return snapshot.status !== 'active' || snapshot.hasTag('settled') ? [] : (snapshot.context as RunState).waiting
  }

  #run(runId: string, begin: Begin, options: Omit<ExecuteOptions, 'runId'>, input?: Input): Streamed<Result<Data>> {
    const leave = new AbortController()
    const streamed = new Streamed<Result<Data>>(options.on)
    const work = async (): Promise<Result<Data>> => {
      const given = begin.type === 'execute' ? await this.parsed(input) : { value: undefined }
      if (given.error) return resultOf(this.refused(runId, given.error), given.error)
      return await this.#settle(runId, begin, { ...options, input: given.value, leave: leave.signal, hear: this.#hearing(runId, streamed) })
    }
    streamed.follow(work().finally(() => leave.abort()))
    return streamed
  }

  /** Whoever tells an event is heard by its own listeners first, then by those of the run that was executed, last by those of the call. */
  #hearing(runId: string, streamed: Streamed<unknown>): (told: LadderEvent) => void {
    const within = new Map([...this.#all()].map((one) => [`${one.type} ${one.name}`, one]))
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

  async #settle(runId: string, begin: Begin, { context, signal, leave, hear, input }: Settling): Promise<Result<Data>> {
    const run: RunInput = { ...this.begin(), runId, input }
    const actor = this.actor(runId, begin.type === 'execute' ? run : undefined)
    // Code of what runs inside asks its own executable for it, by the root.
    if (context) for (const one of this.#all()) one.#contexts.set(runId, Object.freeze({ ...context }))
    const over = new AbortController()
    const words = actor.events({ signal: over.signal })
    const heard = (async () => {
      for await (const { event: told } of words) {
        const event = heardOf(told, runId)
        if (event) hear(event)
      }
    })()
    try {
      if (begin.type === 'resume') await actor.snapshot()
      await actor.send(begin, begin.type === 'execute' ? { id: 'execute' } : {}).catch(unlessEnded)
      const cancel = (): void => void actor.send({ type: 'cancel', reason: String(signal?.reason ?? 'aborted') }).catch(() => undefined)
      if (signal?.aborted) cancel()
      signal?.addEventListener('abort', cancel, { signal: leave })
      const snapshot = await actor.waitFor((at) => at.status !== 'active' || at.hasTag('settled'))
      over.abort()
      await heard
      const state = snapshot.context as RunState
      return resultOf(this.reportOf(state), state.error && LadderError.from(state.error), state.data as Data)
    } catch (error) {
      throw isRuntimeError(error) && error.code === 'drift' ? this.drifted(runId, error) : error
    } finally {
      over.abort()
      for (const one of this.#all()) one.#contexts.delete(runId)
    }
  }

  #bound(): Runtime {
    if (this.#runtime) return this.#runtime
    throw new LadderError('LADDER_CONFIG', `no runtime has the ${this.type} '${this.name}'`, {
      hint: 'start one with createRuntime({ extensions: [ladder({ executables: [it] })] })',
    })
  }
}

const nothing = Object.freeze({})
const Text = z.object({ text: z.string().describe('what it is to do, with all that it has to know') })
/** ms; its own limits end it before that. */
const longestMs = 2 ** 31 - 1

const delegates = new WeakMap<object, { executable: AnyExecutable; isText: boolean }>()
/** Which executable a tool stands for, if any; `isText`: it is called with a text in an object. */
export const delegateOf = (made: Tool): { executable: AnyExecutable; isText: boolean } | undefined => delegates.get(made)

const resultOf = <Data>(report: Report, error: LadderError | undefined, data?: Data): Result<Data> => ({
  ...(error ? { error } : { data: data as Data }),
  usage: report.usage,
  report,
})

/** Words of the rungs, and deltas of agents under their own name; what else actors say is for other ears. */
const heardOf = (told: { type: string } & Record<string, unknown>, rootRunId: string): LadderEvent | undefined => {
  if (ladderWord.test(told.type)) return told as LadderEvent
  if (told.type !== 'delta') return undefined
  const { runId, kind, text } = told as unknown as { runId: string; kind: string; text: string }
  return { type: 'agent.trip.streaming', runId: runId.slice(0, runId.lastIndexOf(':')), rootRunId, kind, delta: text }
}
const ladderWord = /^(?:agent|workflow|supervisor|orchestrator|planner)\./

const unlessUnknown = (error: unknown): undefined => {
  if (!isRuntimeError(error) || error.code !== 'not_found') throw error
}

/** A run that has completed takes no events any more, and still has its result. */
const unlessEnded = (error: unknown): void => {
  if (!isRuntimeError(error) || error.code !== 'closed') throw error
}
