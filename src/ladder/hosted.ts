/** What has runs on a runtime: each is an actor whose kind is its name, and is asked for by its id. */
import type { AnyStateMachine } from 'xstate'
import { type Agent, isRuntimeError, machineSignature, now, RuntimeError, type WaitOptions } from '../index.ts'
import { type Decision, decide, type PendingCall, pendingIn } from './approval.ts'
import { Binding } from './binding.ts'
import { noteOf, type Waits, waitsForNobody } from './calling/waits.ts'
import type { LadderEvent, Report, Result } from './envelope.ts'
import { type LadderCode, LadderError } from './errors.ts'
import { ms, signal, text, valueIn } from './given.ts'
import { heardIn, type RunFeed } from './heard.ts'
import { silent, type Warn } from './listeners.ts'
import { type Bound, callOptions, type GoOnOptions, type Neighbour } from './options.ts'
import { apartIn, type RunState, waitsIn } from './run.rules.ts'
import { isSettled, unlessEnded } from './running.ts'
import type { SnapshotStore } from './stores/store.ts'

export abstract class Hosted<Data = unknown> {
  abstract readonly type: Report['type']
  abstract readonly name: string
  abstract readonly version: string | undefined
  abstract readonly description: string | undefined
  /** An ordinary machine, to be drawn, replayed and checked like any other. */
  abstract readonly machine: AnyStateMachine
  /** Agents that are asked in it. */
  abstract readonly agents: readonly Agent[]
  protected readonly binding = new Binding<Bound>()
  #warn: Warn = silent

  /** Called when a runtime is made that is going to have it. */
  announce(): void {
    this.binding.announce()
  }

  /** Called when a runtime starts with it, and with nothing when that one ends. */
  bind(bound: Bound | undefined): void {
    this.binding.bind(bound)
  }

  /** Where it says that code of somebody else failed. */
  warnBy(warn: Warn = silent): void {
    this.#warn = warn
  }

  /** Goes on with a run as {@link resume} does, and does not wait for it. @throws LadderError on drift; RuntimeError not_found */
  async goOn(runId: string, { force }: GoOnOptions = {}): Promise<void> {
    if (force) await this.adopt(runId)
    const actor = this.actor(runId)
    const { status } = await this.known(runId, actor.snapshot())
    if (status === 'active') await actor.send({ type: 'resume' }).catch(unlessEnded)
  }

  /** What became of a run; undefined while it is under way. @throws LadderError on drift; RuntimeError not_found */
  async look(runId: string): Promise<Result<Data> | undefined> {
    const snapshot = await this.known(runId, this.actor(runId).snapshot())
    return isSettled(snapshot) ? this.resultOf(snapshot.context as RunState) : undefined
  }

  /** The same, waited for. @throws LadderError on drift; RuntimeError timeout, not_found; the reason of the signal */
  async outcome(runId: string, given: WaitOptions = {}): Promise<Result<Data>> {
    const options = callOptions<WaitOptions>(this.name, given, { timeout: ms, signal })
    const snapshot = await this.known(runId, this.actor(runId).waitForTag('settled', options)).catch((error: unknown) => {
      throw isRuntimeError(error) && error.code === 'timeout' ? this.#underWay(runId, error) : error
    })
    return this.resultOf(snapshot.context as RunState)
  }

  /** What a run says from now on, or since the event of that place. A reader who is too slow is told so by an error `overloaded`. */
  hear(runId: string, after?: string): RunFeed {
    const { events, end, stop } = this.bound.runtime.events({ kind: this.name, id: runId }, after)
    return { events: heardIn(events, runId, (event) => this.alsoTold(event, runId)), end, stop }
  }

  /** What an event of its run means besides. */
  protected alsoTold(_event: LadderEvent, _runId: string): LadderEvent[] {
    return []
  }

  /** Ends a run that is under way: what was done stays, and it can be gone on with. @throws RuntimeError closed when it has ended, not_found */
  async cancel(runId: string, reason = 'cancelled'): Promise<void> {
    const said = valueIn<string>(reason, text, 'the reason of a cancel', 'SCHEMA_VALIDATION_FAILED')
    await this.known(runId, (await this.there(runId)).send({ type: 'cancel', reason: said }))
  }

  /** Calls of tools that wait for a person, of all agents in the run, and in those that its code has called. @throws RuntimeError not_found */
  async pending(runId: string): Promise<readonly PendingCall[]> {
    return this.known(runId, pendingIn({ actor: this.actor(runId), deciderOf: this.neighbourOf }))
  }

  /**
   * What a person has decided about one of them; the first decision counts.
   * @throws LadderError APPROVAL_UNKNOWN when it waits for nobody, with `decided` in its context where it was decided before; SCHEMA_VALIDATION_FAILED for
   * what is no decision, and for an input that does not fit the tool; RuntimeError not_found
   */
  async decide(runId: string, decision: Decision): Promise<void> {
    await this.known(runId, decide(runId, decision, { agents: this.agents, actor: this.actor(runId), deciderOf: this.neighbourOf }))
  }

  /** For whom a run of it waits, and those that its code has called. */
  async waitsOf(runId: string): Promise<Waits> {
    const snapshot = await this.actor(runId)
      .snapshot()
      .catch((error: unknown) => {
        if (!isRuntimeError(error) || !['not_found', 'drift', 'quarantined'].includes(error.code)) throw error
      })
    if (!snapshot || isSettled(snapshot)) return waitsForNobody
    const state = snapshot.context as RunState
    const waits = waitsIn(state)
    return {
      notes: waits.map(noteOf),
      next: [...apartIn(state).map(({ ask, apart }) => ({ kind: apart.kind, id: ask })), ...waits.map((one) => one.waits)],
    }
  }

  protected readonly neighbourOf = (kind: string): Neighbour | undefined => this.binding.to?.neighbour?.(kind)

  /** Says in the log of the runtime that code of somebody else failed. */
  protected readonly warn: Warn = (facts, message) => this.#warn(facts, message)

  /** What of it is the same for all that is told to a store of runs. */
  protected mirrorParts<Type extends 'supervisor' | 'workflow'>(type: Type, store: () => SnapshotStore | undefined) {
    let signature: string | undefined
    return {
      type,
      name: this.name,
      store,
      signature: () => (signature ??= machineSignature(this.machine)),
      clock: () => this.binding.to?.clock.now() ?? now(),
      timer: () => this.binding.to?.clock,
      warn: this.warn,
    }
  }

  protected abstract reportOf(run: RunState): Report
  /** What it gives back, also beside an error where there is something. */
  protected dataOf(run: RunState): unknown {
    return run.error ? undefined : run.data
  }
  /** Of a run that another version of it has begun. */
  protected abstract readonly driftCode: LadderCode

  protected actor(runId: string, input?: unknown) {
    return this.bound.runtime.actor(this.name, runId, input)
  }

  /** @param report where the run has made one already: it takes long where there is much in it */
  protected resultOf(state: RunState, report = this.reportOf(state)): Result<Data> {
    return resultOf(report, state.error && LadderError.from(state.error), this.dataOf(state) as Data)
  }

  /** The actor of a run that has been begun: any other would be begun by what it is sent, and forget it at once. @throws LadderError on drift; RuntimeError not_found */
  protected async there(runId: string) {
    const actor = this.actor(runId)
    await this.known(runId, actor.snapshot())
    return actor
  }

  /** @throws LadderError on drift; RuntimeError not_found in the words of runs */
  protected async known<Answer>(runId: string, asked: Promise<Answer>): Promise<Answer> {
    try {
      return await asked
    } catch (error) {
      if (!isRuntimeError(error)) throw error
      if (error.code === 'not_found') throw this.#unknown(runId, error)
      throw error.code === 'drift' ? this.#drifted(runId, error) : error
    }
  }

  /** Takes a run that another version of it has begun for this one, from now on and wherever it goes on. @throws LadderError on drift; RuntimeError not_found */
  protected async adopt(runId: string): Promise<void> {
    try {
      await this.known(runId, this.actor(runId).adopt())
    } catch (error) {
      const { cause } = error as LadderError
      throw isRuntimeError(cause) && cause.code === 'drift' ? this.#drifted(runId, cause, { cannot: true }) : error
    }
  }

  #unknown(runId: string, cause: Error): RuntimeError {
    return new RuntimeError('not_found', `'${this.name}' has no run '${String(runId).slice(0, 80)}'`, {
      cause,
      field: 'runId',
      hint: 'a run is there once execute() has begun it: look for its runId in what began it, in its events, or in `statecast actors --all`',
    })
  }

  #underWay(runId: string, cause: RuntimeError): RuntimeError {
    return new RuntimeError('timeout', `the run ${runId} of '${this.name}' has not ended in time: ${cause.message}`, {
      cause,
      retryable: true,
      hint: `it goes on: ask for it again; where it is now says \`statecast trace ${this.name}/${runId}\`, and pending(runId) which calls wait for a person`,
    })
  }

  /** @param cannot not even where it was asked to */
  #drifted(runId: string, cause: RuntimeError, { cannot = false } = {}): LadderError {
    const what = `the run ${runId} of '${this.name}' was begun by another version of it`
    return new LadderError(this.driftCode, cannot ? `${what}, and this one cannot go on with it: ${cause.message}` : what, {
      cause,
      context: { runId, ...(cannot && cause.data) },
      hint: cannot
        ? 'go on with it by the version that has begun it, or begin another run'
        : `let runs end before their ${this.type} changes, or register both under different names; where this one does what was done in the same way, resume(runId, { force: true })`,
    })
  }

  /** @throws LadderError LADDER_CONFIG where no runtime has it */
  protected get bound(): Bound {
    if (this.binding.to) return this.binding.to
    throw new LadderError('LADDER_CONFIG', `no runtime has the ${this.type} '${this.name}'`, {
      hint: 'start one with createRuntime({ extensions: [ladder({ executables: [it] })] })',
    })
  }
}

export const resultOf = <Data>(report: Report, error: LadderError | undefined, data?: Data): Result<Data> => ({
  ...(error && { error }),
  ...((!error || data !== undefined) && { data: data as Data }),
  usage: report.usage,
  report,
})
