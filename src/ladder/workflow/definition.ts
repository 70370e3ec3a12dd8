/** What an author writes: steps with names, what each does, and where it leads. */

import type { PlaceholderValues } from '../agent/placeholders.ts'
import type { AnyRunMiddleware } from '../around/middleware.ts'
import type { Heard } from '../audience.ts'
import type { Result } from '../envelope.ts'
import type { LadderError } from '../errors.ts'
import type { AnyExecutable, Executable } from '../executable.ts'
import type { HistoryMessage } from '../history.rules.ts'
import type { CallOptions } from '../options.ts'
import type { Schema } from '../schema.ts'
import type { SnapshotStore } from '../stores/store.ts'
import type { StepRecord } from './workflow.context.ts'

/** What the code of a step is given. `state` is its own copy: what an attempt did to it counts when the attempt ends well. */
export type StepContext<Input, State> = {
  readonly input: Readonly<Input>
  state: State
  /** What the caller brought along; it is never stored. */
  readonly context: Readonly<Record<string, unknown>>
  /** What was said before, as far as the run was told it. */
  readonly history: readonly HistoryMessage[]
  /** The steps that have ended, by name, children of parallel ones among them. */
  readonly steps: Readonly<Record<string, StepRecord>>
  readonly runId: string
  /** From 1. */
  readonly attempt: number
  /** Names this piece of work: the same when it is begun again after a crash, for services that take an idempotency key. */
  readonly key: string
  /** Aborts when the run is cancelled. */
  readonly signal: AbortSignal
  /**
   * Runs an executable that the runtime has, inside of this step: an actor of its own, which a crash does not begin twice, and whose report stands below the step.
   * Executing one in code does the same, unless it is given a `runId`.
   */
  readonly run: <Value, Data>(executable: Executable<Value, Data>, input: Value, options?: CallOptions) => Promise<Result<Data>>
}

/** Where a step leads: to another one by name, or to the end; nothing: to the next one. */
export type Onward<Name extends string = string> = { goto: Name } | { end: true } | undefined
type Late<Value> = Value | Promise<Value>
type Hook<Input, State, Value> = (context: StepContext<Input, State>) => Late<Value>

export type Retry = {
  /** How often it is tried at most. Default: 1. */
  attempts?: number
  /** ms by attempt, or how pauses grow: `linear` 500·n, `exponential` 500·2^(n−1). At most 30,000. Default: `exponential`. */
  backoff?: 'none' | 'linear' | 'exponential' | ((attempt: number) => number)
  /** Whether an error is worth another attempt. Default: each is. */
  retryOn?: (error: unknown) => boolean
}

type Doing<Input, State> =
  | {
      run: Hook<Input, State, unknown>
      /**
       * What a crash in the middle of it means. `once`: it never runs again by itself, and fails with STEP_IN_DOUBT, as it may have done its work or not.
       * Default, `idempotent`: it runs again, under the same key.
       */
      onCrash?: 'idempotent' | 'once'
    }
  | {
      /** An agent that is asked, or another executable that runs, inside of this run. Its data is what the step comes to. */
      agent: AnyExecutable
      /** What it is given. Default: what the workflow was. */
      input?: Hook<Input, State, unknown>
      /** What `{{name}}` in the instructions of the agent stands for. */
      placeholders?: PlaceholderValues | Hook<Input, State, PlaceholderValues>
    }

export type Work<Input, State, Name extends string> = Doing<Input, State> & {
  name: Name
  /** Where it says true, the step does nothing. */
  skip?: Hook<Input, State, boolean>
  before?: Hook<Input, State, void>
  after?: (context: StepContext<Input, State>, output: unknown) => Late<void>
  /** What counts as its output, and the schema of that. */
  output?: { extract?: (result: unknown) => unknown; schema?: Schema }
  /** `false`: never again, whatever the workflow says. */
  retry?: Retry | false
}

type Leads<Input, State, Name extends string> = {
  nextStep?: (context: StepContext<Input, State>, output: unknown) => Late<Onward<NoInfer<Name>>>
  /** Asked when all attempts have failed. Default: the run fails. */
  onFailure?: (context: StepContext<Input, State>, error: LadderError) => Late<Onward<NoInfer<Name>>>
}

export type WorkStep<Input, State, Name extends string> = Work<Input, State, Name> & Leads<Input, State, Name>

/** Its children run at once; all of them end, and it fails where one of them has. */
export type ParallelStep<Input, State, Name extends string> = {
  name: Name
  parallel: readonly Work<Input, State, Name>[]
  /** Puts together what children did to the state. Default: what each has changed, in the order in which they stand here. */
  mergeState?: (before: State, children: Readonly<Record<string, State>>) => State | Promise<State>
} & Leads<Input, State, Name>

/** Nothing happens for so long: ms, or a text such as `'2d'`. It costs nothing meanwhile, and outlives any process. */
export type SleepStep<Input, State, Name extends string> = { name: Name; sleep: number | string } & Leads<Input, State, Name>

/** The same until a moment: a date, or ms since the epoch. */
export type SleepUntilStep<Input, State, Name extends string> = {
  name: Name
  sleepUntil: Hook<Input, State, Date | number>
} & Leads<Input, State, Name>

/** Goes on when the run is sent an event of this type, which is its output; it fails with STEP_TIMEOUT where none has come in time. */
export type WaitStep<Input, State, Name extends string> = {
  name: Name
  waitFor: string
  schema?: Schema
  /** ms. Default: it waits for ever. */
  timeoutMs?: number
} & Leads<Input, State, Name>

export type Step<Input, State, Name extends string> =
  | WorkStep<Input, State, Name>
  | ParallelStep<Input, State, Name>
  | SleepStep<Input, State, Name>
  | SleepUntilStep<Input, State, Name>
  | WaitStep<Input, State, Name>

export type WorkflowDefinition<Input, State extends object, Name extends string, Data> = Heard & {
  /** Also the kind of its runs: lower-case letters, digits and hyphens. */
  name: string
  /** Another one refuses the runs that are under way. */
  version?: string
  description?: string
  input?: Schema<Input>
  /** What runs begin with: plain data. */
  state?: State
  steps: readonly Step<Input, State, Name>[]
  /** What a run gives back. Default: the output of the step that ended last. */
  output?: (end: { input: Input; state: State; steps: Readonly<Record<string, StepRecord>> }) => Data
  /** For each step that does not say otherwise. */
  retry?: Retry
  /** Asked after steps that do not say where they lead. */
  nextStep?: (context: StepContext<Input, State>, output: unknown) => Late<Onward<NoInfer<Name>>>
  /** Steps that a run enters at most. Default: 100. */
  maxSteps?: number
  /** Code around each run: the first is the outermost. */
  middleware?: readonly AnyRunMiddleware[]
  /** Is told of a run after each step and at its end, for whoever reads it: the run itself goes on by its journal. Default: nobody is. */
  snapshotStore?: SnapshotStore
}

/** Of whatever types its author has chosen. */
export type AnyWork = Work<never, never, string>
export type AnyStep = Step<never, never, string>
export type AnyWorkflow = WorkflowDefinition<never, never, string, unknown>

export const childrenOf = (step: AnyStep): readonly AnyWork[] =>
  'parallel' in step && Array.isArray(step.parallel) ? (step.parallel as readonly AnyWork[]) : []
export const isWork = (step: AnyStep): step is AnyWork => 'run' in step || 'agent' in step
