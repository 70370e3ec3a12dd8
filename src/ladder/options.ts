/** What a run is given beside its input, and what a runtime gives to those whose runs it hosts. */
import type { Clock, Runtime, Transport } from '../index.ts'
import type { Decider } from './approval.ts'
import type { Waiter } from './calling/waits.ts'
import { anything, flag, handlers, type KindsOf, optionsIn, readable, signal, text } from './given.ts'
import type { HistoryMessage } from './history.rules.ts'
import type { Timer } from './in-time.ts'
import type { Handlers, Warn } from './listeners.ts'

export type ExecuteOptions = {
  /** Names the run: executing it again with the same input attaches to it, and never begins it twice; another input is refused. Default: a new one. */
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

export const callerKinds: KindsOf<Pick<ExecuteOptions, 'context' | 'signal' | 'on'>> = { context: readable('{ user }'), signal, on: handlers }
export const executeKinds: KindsOf<ExecuteOptions> = { ...callerKinds, runId: text, history: anything }
const startKinds: KindsOf<Pick<ExecuteOptions, 'runId' | 'signal'>> = { runId: text, signal }
export const goOnKind: KindsOf<Pick<GoOnOptions, 'force'>> = { force: flag }

/** What a call of an executable or a session says. @throws LadderError SCHEMA_VALIDATION_FAILED */
export const callOptions = <Options extends object>(name: string, given: unknown, kinds: KindsOf<Options>): Options =>
  optionsIn<Options>(given, kinds, { who: `what a call of '${name}' is given`, code: 'SCHEMA_VALIDATION_FAILED' })
export const startOptions = (name: string, given: unknown): Pick<ExecuteOptions, 'runId' | 'signal'> => callOptions(name, given, startKinds)

/** How a run that is there is gone on with. */
export type GoOnOptions = Omit<ExecuteOptions, 'runId' | 'history'> & {
  /**
   * Also where another version of its definition has begun it: this one run is from now on one of the present version, on every node. What was done has to be
   * done by that one in the same way, so that nothing is done twice or gets lost; else it is refused as drift. Runs that its code has called are runs of their own.
   */
  force?: boolean
}

export type CallOptions = Omit<ExecuteOptions, 'runId'>

/** What others on the same runtime ask it. */
export type Neighbour = Decider & Waiter

/** What a runtime gives to the executables that it has. */
export type Bound = {
  runtime: Runtime
  registry: Transport['registry']
  clock: Pick<Clock, 'now'> & Timer
  /** What else has runs on it, or sessions, by its name. */
  neighbour?: (name: string) => Neighbour | undefined
  /** Says in its log that a listener failed. */
  warn?: Warn
}
