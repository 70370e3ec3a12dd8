/** What an author writes of a supervisor: who there is to choose from, who chooses, and when it is enough. */

import type { PlaceholderValues } from '../agent/placeholders.ts'
import type { AnyRunMiddleware } from '../around/middleware.ts'
import type { Heard } from '../audience.ts'
import type { Result } from '../envelope.ts'
import type { AnyExecutable, Executable } from '../executable.ts'
import type { HistoryMessage, HistoryReader, HistoryWindow } from '../history.rules.ts'
import type { CallOptions } from '../options.ts'
import type { Artifacts } from '../run.rules.ts'
import type { OutputOf, Schema } from '../schema.ts'
import type { SnapshotStore } from '../stores/store.ts'
import type { IterationRecord, Verdict } from './supervisor.context.ts'

/** Where nothing more is to be done. It is data like any other name, and no intent can have it. */
export const END = '__end__'

/** What the code of a supervisor is given. */
export type SupervisorContext<Input, State, Name extends string = string> = {
  readonly input: Readonly<Input>
  /** A copy: what is written to it is gone. What code returns counts. */
  readonly state: State
  /** What the caller brought along; it is never stored. */
  readonly context: Readonly<Record<string, unknown>>
  readonly goal: string | undefined
  /** What was said before, as far as agents are told it. */
  readonly history: readonly HistoryMessage[]
  /** From 0. */
  readonly iteration: number
  readonly maxIterations: number
  /** Those that have ended. */
  readonly iterations: readonly IterationRecord[]
  /** Who works in this iteration, once that is known. */
  readonly chosen: readonly string[]
  /** What the evaluation before has said. */
  readonly feedback: string | undefined
  readonly runId: string
  /** Names this piece of work: the same when it is begun again after a crash. */
  readonly key: string
  readonly signal: AbortSignal
  /**
   * Runs an executable that the runtime has, inside of this work: an actor of its own, which a crash does not begin twice, and whose report stands below this
   * work. Executing one in code does the same, unless it is given a `runId`.
   */
  readonly run: <Value, Data>(executable: Executable<Value, Data>, input: Value, options?: CallOptions) => Promise<Result<Data>>
  /** The same for an intent. What it gives is told here, and not put into the state. @throws LadderError SUPERVISOR_DISPATCH_CYCLE, SUPERVISOR_INVALID_ROUTE */
  readonly dispatch: (intent: Name, input?: unknown) => Promise<Result<unknown>>
}

type Late<Value> = Value | Promise<Value>
export type Code<Input, State, Value> = (context: SupervisorContext<Input, State>) => Late<Value>
export type Choice<Name extends string = string> = Name | typeof END | readonly Name[]

/** What its work adds to the state: plain data, or nothing. */
// biome-ignore lint/suspicious/noConfusingVoidType: code that returns nothing is usual here
type Callback<Input, State, Name extends string> = (context: SupervisorContext<Input, State, NoInfer<Name>>) => Late<Partial<State> | void>
type Onward<Input, State, Name extends string> =
  | Choice<Name>
  | ((context: SupervisorContext<Input, State>, output: unknown) => Late<Choice<Name> | undefined>)

type Described<Input, State, Name extends string> = {
  /** For a router that is a model: when to choose it. */
  description?: string
  /** What it adds to the state: keys that are not in the schema are left out. Data of executables is not added without one. */
  output?: Schema<Partial<State>>
  /** Where it leads, unless the evaluation says otherwise. Default: the router is asked. */
  next?: Onward<Input, State, NoInfer<Name>>
  /** Picks its own part of all that was said before, in the place of what agents are told of it. */
  history?: Code<Input, State, readonly HistoryMessage[]>
  /** ms that it may take. Default: as long as it takes. */
  timeoutMs?: number
}
/** Default: what the supervisor was given. */
type Asking<Input, State> = { input?: Code<Input, State, unknown> }
/** What `{{name}}` in the instructions of its agent stands for. */
type Filling<Input, State> = { placeholders?: PlaceholderValues | Code<Input, State, PlaceholderValues> }
type Doing<Input, State, Value> = AnyExecutable | Code<Input, State, Value>
type Done<Input, State, Value> = ({ agent: AnyExecutable; run?: never } & Asking<Input, State>) | { run: Code<Input, State, Value>; agent?: never }

/** What a request is, as code or a model sees it. @property confidence from 0 to 1 */
export type Classified<Name extends string = string> = { intent: Name; reasoning?: string; confidence?: number }
/** What is made of that: who works instead, and what it adds to the state. */
type Refined<State, Name extends string> = Choice<Name> | { intent?: Choice<Name>; state?: Partial<State> } | undefined
export type Classifier<Input, State, Name extends string> =
  | Doing<Input, State, Classified<Name>>
  | (Done<Input, State, Classified<Name>> & {
      /** Keeps what was said, where it returns nothing. */
      refine?: (context: SupervisorContext<Input, State>, said: Classified) => Late<Refined<State, Name>>
    })
/** A quick word before the answer. Data of an executable is not added to the state without a schema. */
export type Ack<Input, State> =
  | AnyExecutable
  | Callback<Input, State, string>
  | ((({ agent: AnyExecutable; run?: never } & Asking<Input, State>) | { run: Callback<Input, State, string>; agent?: never }) & {
      output?: Schema<Partial<State>>
    })

export type Intent<Input, State, Name extends string> =
  | AnyExecutable
  | Callback<Input, State, Name>
  | ({ agent: AnyExecutable; run?: never } & Asking<Input, State> & Filling<Input, State> & Described<Input, State, Name>)
  /** The text of its answer is put into the state by that key; its deltas are heard as `supervisor.agent.streaming`. */
  | ({ agent: AnyExecutable; run?: never; mode: 'stream'; streamTo: keyof State & string } & Asking<Input, State> &
      Filling<Input, State> &
      Omit<Described<Input, State, Name>, 'output'>)
  /** `input` is what its code reads as the input. */
  | ({ run: Callback<Input, State, Name>; agent?: never; input?: Code<NoInfer<Input>, State, NoInfer<Input>> } & Described<Input, State, Name>)

export type SupervisorDefinition<Input, State extends object, Name extends string, Output extends Schema | undefined> = Heard & {
  /** Also the kind of its runs: lower-case letters, digits and hyphens. */
  name: string
  version?: string
  description?: string
  input?: Schema<Input>
  /** Code around each run: the first is the outermost. */
  middleware?: readonly AnyRunMiddleware[]
  /** What runs begin with: plain data. */
  state?: State
  /** Who there is to choose from, by the names that are states of its chart. */
  intents: Readonly<Record<Name, Intent<Input, State, Name>>>
  /** Shown to the router and to code. */
  goal?: string
  /** Told to a router that is a model, before all else. */
  systemPrompt?: string
  /** What was said before, where the caller says nothing of it. */
  history?: readonly HistoryMessage[]
  /** How much of it is told to whom. Default: all to router and agents, nothing to the acknowledgement. */
  historyWindow?: Partial<Readonly<Record<HistoryReader, HistoryWindow>>>
  /** Chooses in code. */
  route?: Code<Input, State, Choice<NoInfer<Name>>>
  /** Chooses as a model: what `router()` returned. */
  router?: AnyExecutable
  /** Asked before the first choice, and in its place. Without route and router it is over after that iteration. */
  classifier?: Classifier<Input, State, NoInfer<Name>>
  /** At work while the first choice is made: what it adds to the state is there before that of branches. It is left out where it is not ready in time, and cannot fail the run. */
  ack?: Ack<Input, State>
  /** Who begins, without a choice. */
  initialAgent?: NoInfer<Name>
  /** Asked after each iteration. */
  // biome-ignore lint/suspicious/noConfusingVoidType: code that returns nothing is usual here
  evaluate?: Code<Input, State, Verdict<NoInfer<Name>> | undefined | void>
  /** Default: 10. */
  maxIterations?: number
  /** How many of them may run at once. Default: 10. */
  maxFanOut?: number
  /** What tools of agents write into `context.artifacts`: it is put into the state, after what branches add. */
  artifacts?: {
    /** What all of an iteration has to be, put together. */
    schema?: Schema<Partial<State>>
    /** Makes of it what is put into the state. Default: it is, as it stands. */
    finalizeArtifacts?: (artifacts: Artifacts, context: SupervisorContext<Input, State>) => Late<Partial<State>>
  }
  /** What its state has to be at the end, and what `data` is. Default: the state. */
  output?: Output
  /** Is told of a run after each iteration and at its end, for whoever reads it: the run itself goes on by its journal. Default: nobody is. */
  snapshotStore?: SnapshotStore
}

// biome-ignore lint/suspicious/noExplicitAny: one of any types
export type AnySupervisor = SupervisorDefinition<any, any, string, Schema | undefined>
export type DataOf<State, Output extends Schema | undefined> = Output extends Schema ? OutputOf<Output> : State

/** An intent in the one form that the rest of the code knows. */
export type CheckedIntent = {
  name: string
  agent?: AnyExecutable
  run?: Code<never, never, unknown>
  input?: Code<never, never, unknown>
  placeholders?: PlaceholderValues | Code<never, never, PlaceholderValues>
  description?: string
  output?: Schema
  mode?: 'stream'
  streamTo?: string
  next?: Onward<never, never, string>
  history?: Code<never, never, readonly HistoryMessage[]>
  timeoutMs?: number
}

/** What stands beside the intents: who classifies, and who acknowledges. */
export type CheckedHelper = Pick<CheckedIntent, 'agent' | 'run' | 'input' | 'output'> & {
  refine?: (context: SupervisorContext<never, never>, said: Classified) => unknown
}
