/** `schedule()`: begins runs when they are due, as an actor of its own whose timer outlives every process. */

import type { AnyStateMachine } from 'xstate'
import { type Agent, isRuntimeError, now, type Runtime, uuid } from '../../index.ts'
import type { ReportStatus } from '../envelope.ts'
import { LadderError } from '../errors.ts'
import type { AnyExecutable } from '../executable.ts'
import { count, either, oneOf, valueIn } from '../given.ts'
import { type Bound, startOptions } from '../options.ts'
import { written } from '../written.ts'
import { scheduleMachine } from './compile.rules.ts'
import { type CheckedSchedule, checkedSchedule, type ScheduleDefinition, scheduleKinds } from './definition.ts'
import type { FiringRecord, Plan, ScheduleState } from './schedule.context.ts'
import { scheduleActors } from './schedule.effects.ts'

/** @property status of its run, where one was begun; `unknown` where that is not there any more @property reason why it was skipped */
export type PastFiring = Omit<FiringRecord, 'due' | 'at' | 'status' | 'error'> & {
  due: Date
  at: Date
  status: ReportStatus | 'running' | 'unknown'
  error?: LadderError
}

/** Registered in `ladder({ executables: [flow, nightly] })`, it is there once, however many nodes have it. */
export class Schedule {
  readonly type = 'schedule'
  readonly name: string
  /** What it begins. */
  readonly run: AnyExecutable
  /** An ordinary machine, to be drawn, replayed and checked like any other. */
  readonly machine: AnyStateMachine
  readonly agents: readonly Agent[] = []
  readonly #plan: Plan
  #runtime: Runtime | undefined

  constructor(checked: CheckedSchedule, description: string | undefined) {
    this.name = checked.name
    this.run = checked.run as AnyExecutable
    this.#plan = checked.plan
    this.machine = scheduleMachine({ name: checked.name, description, actors: scheduleActors(checked), now })
  }

  /** Called when a runtime starts with it, and with nothing when that one ends. */
  bind(bound: Bound | undefined): void {
    this.#runtime = bound?.runtime
  }

  /** Called when a runtime has started. What is stopped or paused stays so; another time than before is reckoned anew. */
  async begin(): Promise<void> {
    if (JSON.stringify(await this.#planned()) !== JSON.stringify(this.#plan)) await this.#actor().send({ type: 'plan', plan: this.#plan })
  }

  /** Begins again after {@link stop}, counting from now. */
  async start(): Promise<void> {
    await this.#actor().send({ type: 'start' })
  }

  /** Ends it, and forgets those that wait to be begun; over restarts too. Runs that are under way go on. */
  async stop(): Promise<void> {
    await this.#actor().send({ type: 'stop' })
  }

  /** Nothing is due until {@link resume}. */
  async pause(): Promise<void> {
    await this.#actor().send({ type: 'pause' })
  }

  /** Goes on with what is due from now on; what passed meanwhile is left out. */
  async resume(): Promise<void> {
    await this.#actor().send({ type: 'resume' })
  }

  /** Begins a run now, whether it is due or not; `overlap` counts for it too. @returns resolved when it was begun, skipped, or waits */
  async trigger(options: { runId?: string } = {}): Promise<{ runId: string; status: FiringRecord['status'] | 'queued' }> {
    const { runId = `${this.name}:${uuid()}` } = startOptions(this.name, options)
    const actor = this.#actor()
    await actor.send({ type: 'trigger', runId })
    const recorded = ({ firings }: ScheduleState) => firings.find((one) => one.runId === runId)
    const snapshot = await actor.waitFor((at) => recorded(at.context as ScheduleState) !== undefined || at.matches({ runs: 'awaiting' }))
    return { runId, status: recorded(snapshot.context as ScheduleState)?.status ?? 'queued' }
  }

  /** When it is due next; null when it is over, paused or stopped. */
  async next(): Promise<Date | null> {
    const snapshot = await this.#actor().waitFor((at) => !at.matches({ time: 'reckoning' }) && !at.matches({ time: 'ready' }))
    const { next } = snapshot.context as ScheduleState
    return next === null || !snapshot.matches({ time: 'waiting' }) ? null : new Date(next)
  }

  /** Its last firings, the newest first, with what became of their runs. */
  async history(limit = Number.POSITIVE_INFINITY): Promise<PastFiring[]> {
    valueIn(limit, either(count(0), oneOf(Number.POSITIVE_INFINITY)), 'how many firings are wanted', 'SCHEMA_VALIDATION_FAILED')
    const { firings } = (await this.#actor().snapshot()).context as ScheduleState
    return Promise.all(
      firings
        .toReversed()
        .slice(0, limit)
        .map((firing) => this.#past(firing)),
    )
  }

  /** What it tells from now on: `schedule.fired`, `skipped`, `queued`, `missed`, `failed`, `planned`, `paused`, `resumed`, `stopped`. */
  async *events(options: { signal?: AbortSignal } = {}): AsyncGenerator<{ type: string } & Record<string, unknown>> {
    for await (const { event } of this.#actor().events(options)) if (event.type.startsWith('schedule.')) yield event
  }

  async #past({ due, at, status, error, ...firing }: FiringRecord): Promise<PastFiring> {
    const past = { ...firing, due: new Date(due), at: new Date(at) }
    if (status !== 'begun') return { ...past, status, ...(error && { error: LadderError.from(error) }) }
    try {
      const result = await this.run.look(firing.runId)
      return { ...past, status: result?.report.status ?? 'running', ...(result?.error && { error: result.error }) }
    } catch (thrown) {
      if (!isRuntimeError(thrown)) throw thrown
      return { ...past, status: 'unknown' }
    }
  }

  async #planned(): Promise<Plan | undefined> {
    try {
      return ((await this.#actor().snapshot()).context as ScheduleState).plan
    } catch (error) {
      if (isRuntimeError(error) && error.code === 'not_found') return undefined
      throw error
    }
  }

  #actor() {
    if (this.#runtime) return this.#runtime.actor(this.name, 'main')
    throw new LadderError('LADDER_CONFIG', `no runtime has the schedule '${this.name}'`, {
      hint: 'start one with createRuntime({ extensions: [ladder({ executables: [it] })] })',
    })
  }
}

/** @throws LadderError SCHEDULE_CONFIG naming what is wrong with it */
export const schedule = <Input>(definition: ScheduleDefinition<Input>): Schedule =>
  new Schedule(checkedSchedule(written<ScheduleDefinition<never>>(definition, 'schedule', scheduleKinds, 'SCHEDULE_CONFIG')), definition.description)
