/** What an author writes of a supervisor: who there is to choose from, who chooses, and when it is enough. */

import type { Heard } from '../audience.ts'
import { LadderError } from '../errors.ts'
import { type AnyExecutable, Executable } from '../executable.ts'
import type { HistoryMessage, HistoryReader, HistoryWindow } from '../history.rules.ts'
import type { OutputOf, Schema } from '../schema.ts'
import type { IterationRecord, Verdict } from './supervisor.context.ts'

/** Where nothing more is to be done. It is data like any other name, and no intent can have it. */
export const END = '__end__'

/** What the code of a supervisor is given. */
export type SupervisorContext<Input, State> = {
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
  /** What the evaluation before has said. */
  readonly feedback: string | undefined
  readonly runId: string
  /** Names this piece of work: the same when it is begun again after a crash. */
  readonly key: string
  readonly signal: AbortSignal
}

type Late<Value> = Value | Promise<Value>
type Code<Input, State, Value> = (context: SupervisorContext<Input, State>) => Late<Value>
export type Choice<Name extends string = string> = Name | typeof END | readonly Name[]

/** What its work adds to the state: plain data, or nothing. */
// biome-ignore lint/suspicious/noConfusingVoidType: code that returns nothing is usual here
type Callback<Input, State> = Code<Input, State, Partial<State> | void>
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
export type Intent<Input, State, Name extends string> =
  | AnyExecutable
  | Callback<Input, State>
  | ({ agent: AnyExecutable; run?: never /** Default: what the supervisor was given. */; input?: Code<Input, State, unknown> } & Described<
      Input,
      State,
      Name
    >)
  | ({ run: Callback<Input, State>; agent?: never } & Described<Input, State, Name>)

export type SupervisorDefinition<Input, State extends object, Name extends string, Output extends Schema | undefined> = Heard & {
  /** Also the kind of its runs: lower-case letters, digits and hyphens. */
  name: string
  version?: string
  description?: string
  input?: Schema<Input>
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
  /** Who begins, without a choice. */
  initialAgent?: NoInfer<Name>
  /** Asked after each iteration. */
  // biome-ignore lint/suspicious/noConfusingVoidType: code that returns nothing is usual here
  evaluate?: Code<Input, State, Verdict<NoInfer<Name>> | undefined | void>
  /** Default: 10. */
  maxIterations?: number
  /** How many of them may run at once. Default: 10. */
  maxFanOut?: number
  /** What its state has to be at the end, and what `data` is. Default: the state. */
  output?: Output
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
  description?: string
  output?: Schema
  next?: Onward<never, never, string>
  history?: Code<never, never, readonly HistoryMessage[]>
  timeoutMs?: number
}

const kindName = /^[a-z][a-z0-9-]{0,31}$/
const intentName = /^[A-Za-z][\w-]{0,63}$/

/** @throws LadderError SUPERVISOR_CONFIG, SUPERVISOR_INTENT_MIXED_DISPATCH, SUPERVISOR_INTENT_DESCRIPTION_REQUIRED */
export const checkedIntents = (definition: AnySupervisor): readonly CheckedIntent[] => {
  const { name, intents, route, router, initialAgent, maxIterations = 10, maxFanOut = 10 } = definition
  if (typeof name !== 'string' || !kindName.test(name))
    throw wrong(`'${String(name).slice(0, 40)}' is no name of a supervisor`, 'use lower-case letters, digits and hyphens, at most 32')
  if (typeof intents !== 'object' || intents === null || Object.keys(intents).length === 0)
    throw wrong(`the supervisor '${name}' has nobody to choose from`, 'write intents: { writer, critic: { agent: critic, description: … } }')
  if ((route === undefined) === (router === undefined))
    throw wrong(`the supervisor '${name}' has ${route ? 'route and router' : 'neither route nor router'}`, 'give it one of them')
  if (route !== undefined && typeof route !== 'function') throw wrong(`route of '${name}' is no function`, "write route: ({ state }) => 'writer'")
  if (router !== undefined && !(router instanceof Executable))
    throw wrong(`router of '${name}' cannot be asked`, 'give what router() or agent() of statecast/ladder returned')
  for (const [option, value] of Object.entries({ maxIterations, maxFanOut }))
    if (!Number.isInteger(value) || value < 1) throw wrong(`${option} of '${name}' is ${String(value)}`, 'it is a whole number from 1 on')
  checkWindows(definition)
  const checked = Object.entries(intents).map(([intent, given]) => checkedIntent(name, intent, given))
  if (initialAgent !== undefined && !Object.hasOwn(intents, initialAgent))
    throw wrong(`initialAgent of '${name}' is '${String(initialAgent)}', which is not there`, `there are: ${Object.keys(intents).join(', ')}`)
  const mute = checked.find(({ description }) => description === undefined || description === '')
  if (router && mute)
    throw new LadderError('SUPERVISOR_INTENT_DESCRIPTION_REQUIRED', `the intent '${mute.name}' of '${name}' has no description`, {
      hint: 'the router sees nothing else of it: say when to choose it',
      context: { intent: mute.name },
    })
  return checked
}

// biome-ignore lint/suspicious/noExplicitAny: one of any types
const checkedIntent = (supervisor: string, name: string, given: Intent<any, any, string>): CheckedIntent => {
  const where = `the intent '${name}' of '${supervisor}'`
  if (!intentName.test(name) || name === END || name in Object.prototype)
    throw wrong(`'${name.slice(0, 40)}' is no name of an intent of '${supervisor}'`, 'begin with a letter; letters, digits, _ and - may follow')
  if (given instanceof Executable) return { name, agent: given, ...descriptionOf(given) }
  if (typeof given === 'function') return { name, run: given as Code<never, never, unknown> }
  if (typeof given !== 'object' || given === null) throw wrong(`${where} is nothing that can be done`, 'give an agent, a workflow or a function')
  const { agent, run, ...more } = given as { agent?: AnyExecutable; run?: Code<never, never, unknown> } & Omit<CheckedIntent, 'name'>
  if (agent !== undefined && run !== undefined)
    throw new LadderError('SUPERVISOR_INTENT_MIXED_DISPATCH', `${where} has agent and run`, {
      hint: 'leave one of them out',
      context: { intent: name },
    })
  if (agent === undefined ? typeof run !== 'function' : !(agent instanceof Executable))
    throw wrong(`${where} is nothing that can be done`, 'give it agent: what agent() or workflow() returned, or run: a function')
  return { name, ...(agent ? { agent, ...descriptionOf(agent) } : { run: run as Code<never, never, unknown> }), ...more }
}

const readers: readonly string[] = ['agents', 'router', 'ack'] satisfies HistoryReader[]
const checkWindows = ({ name, historyWindow = {} }: AnySupervisor): void => {
  for (const [reader, window] of Object.entries(historyWindow)) {
    if (!readers.includes(reader)) throw wrong(`historyWindow of '${name}' has ${reader}`, `there are ${readers.join(', ')}`)
    if (window !== undefined && typeof window !== 'function' && !Number.isInteger(window))
      throw wrong(`historyWindow.${reader} of '${name}' is ${String(window)}`, 'it is a whole number, or a function that picks messages')
  }
}

const descriptionOf = ({ description }: AnyExecutable) => (description === undefined ? {} : { description })

const wrong = (message: string, hint: string): LadderError => new LadderError('SUPERVISOR_CONFIG', message, { hint })
