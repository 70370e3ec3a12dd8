/** What an author writes of a planner: what a model may plan with, and how its plans are followed. */

import type { AgentDefinition } from '../agent/definition.ts'
import { commonKinds, type Heard } from '../audience.ts'
import { LadderError, type LadderErrorBody } from '../errors.ts'
import { type AnyExecutable, Executable } from '../executable.ts'
import { anything, code, flag, type KindsOf, optionsIn, record, schema, text } from '../given.ts'
import { isKindName } from '../names.rules.ts'
import type { Schema } from '../schema.ts'
import type { Plan, PlanStep } from './plan.rules.ts'

type Late<Value> = Value | Promise<Value>
type Caller = {
  /** What the caller brought along; it is never stored. */
  readonly context: Readonly<Record<string, unknown>>
  readonly runId: string
  /** Names this piece of work: the same when it is begun again after a crash. */
  readonly key: string
  readonly signal: AbortSignal
}

/** Something a plan may use. */
export type Capability<Input = unknown> = {
  /** An executable that runs inside of the run, or code. */
  use: Executable<Input, unknown> | ((input: Input, more: Caller & { readonly step: PlanStep }) => unknown)
  /** For the model: what it does, and what comes back. */
  description: string
  /** What it has to be given. A step whose input does not fit fails, before anything is done. */
  input?: Schema<Input>
}

/** How it goes on after a step: `{ replan: '…' }` says what is to be different. */
export type StepVerdict = 'continue' | 'abort' | 'replan' | { replan: string }
/** A step that has ended, completed or failed. */
export type StepOutcome = Caller & { readonly step: PlanStep; readonly output?: unknown; readonly error?: LadderErrorBody }

export type PlannerDefinition<Input, Inputs extends Record<string, unknown>, Data> = Heard & {
  /** Also the kind of its runs: lower-case letters, digits and hyphens. */
  name: string
  /** Another one refuses the runs that are under way. */
  version?: string
  description?: string
  input?: Schema<Input>
  /** By the names that plans use. */
  capabilities: { readonly [Name in keyof Inputs]: Capability<Inputs[Name]> }
  /** One step after another, or as many at once as may. Default: `sequential`. */
  mode?: 'sequential' | 'dag'
  /** Steps of a `dag` that run at once. Default: 4. */
  maxConcurrency?: number
  /** Steps that a run may begin. A plan may have four times as many; 100 where this is not said. */
  maxSteps?: number
  /** How often a plan may be made anew, when a step has failed or `onStep` says so. Default: never. */
  replan?: { maxReplans: number }
  /** Asked after each step. Default: a step that failed leads to another plan where there may be one, and else ends the run. */
  // biome-ignore lint/suspicious/noConfusingVoidType: code that returns nothing is usual here
  onStep?: (outcome: StepOutcome) => Late<StepVerdict | undefined | void>
  /** Each plan waits for `approve()` before anything is done. Default: no. */
  planOnly?: boolean
  /** What a run gives back. Default: what its steps came to, by their ids. */
  output?: (outputs: Readonly<Record<string, unknown>>, end: { input: Input; plan: Plan }) => Late<Data>
} & (
    | {
        /** Who plans: it is told the goal, the capabilities and what was done, and its data is a plan. */
        agent: AnyExecutable
        model?: never
        instructions?: never
        repair?: never
      }
    | ({ agent?: never } & Pick<AgentDefinition<string, undefined>, 'model' | 'instructions' | 'repair'>)
  )

// biome-ignore lint/suspicious/noExplicitAny: one of any types
export type AnyPlanner = PlannerDefinition<any, any, unknown>

export const plannerKinds: KindsOf<AnyPlanner> = {
  ...commonKinds,
  input: schema,
  capabilities: anything,
  mode: anything,
  maxConcurrency: anything,
  maxSteps: anything,
  replan: record('{ maxReplans: 2 }'),
  onStep: code("({ step, error }) => 'continue'"),
  planOnly: flag,
  output: code('(outputs) => outputs.report'),
  agent: anything,
  model: text,
  instructions: text,
  repair: anything,
}
const capabilityKinds: KindsOf<Capability> = { use: anything, description: anything, input: anything }
const replanKinds: KindsOf<NonNullable<AnyPlanner['replan']>> = { maxReplans: anything }

const capabilityName = /^[A-Za-z][\w-]{0,63}$/

/** @throws LadderError LADDER_CONFIG naming what is wrong with it */
export const checkPlanner = (definition: AnyPlanner): void => {
  const { name, capabilities, mode = 'sequential', maxConcurrency = 4, maxSteps = 1, replan = { maxReplans: 0 }, agent } = definition
  if (!isKindName(name, 27))
    throw wrong(`'${String(name).slice(0, 40)}' is no name of a planner`, 'use lower-case letters, digits and hyphens, at most 27')
  if (typeof capabilities !== 'object' || capabilities === null || Object.keys(capabilities).length === 0)
    throw wrong(`the planner '${name}' has nothing to plan with`, "write capabilities: { search: { use: searcher, description: 'Finds …' } }")
  for (const [capability, given] of Object.entries(capabilities as Record<string, Capability>)) checkCapability(name, capability, given)
  if (mode !== 'sequential' && mode !== 'dag') throw wrong(`mode of '${name}' is ${String(mode)}`, "it is 'sequential' or 'dag'")
  for (const [option, value] of Object.entries({ maxConcurrency, maxSteps }))
    if (!isCount(value, 1)) throw wrong(`${option} of '${name}' is ${String(value)}`, 'it is a whole number from 1 on')
  optionsIn(replan, replanKinds, { who: `replan of '${name}'`, code: 'LADDER_CONFIG' })
  if (!isCount(replan.maxReplans, 0)) throw wrong(`replan of '${name}' cannot be followed`, 'write replan: { maxReplans: 2 }')
  if (agent !== undefined && !(agent instanceof Executable))
    throw wrong(`agent of '${name}' cannot be asked`, 'give what agent() of statecast/ladder returned, or model: …')
  for (const option of ['onStep', 'output'] as const)
    if (definition[option] !== undefined && typeof definition[option] !== 'function')
      throw wrong(`${option} of '${name}' is no function`, `write ${option}: (…) => …`)
}

const checkCapability = (planner: string, name: string, given: Capability): void => {
  if (!capabilityName.test(name) || name in Object.prototype)
    throw wrong(`'${name.slice(0, 40)}' is no name of a capability of '${planner}'`, 'begin with a letter; letters, digits, _ and - may follow')
  optionsIn(given, capabilityKinds, { who: `the capability '${name}' of '${planner}'`, code: 'LADDER_CONFIG' })
  if (!(given?.use instanceof Executable) && typeof given?.use !== 'function')
    throw wrong(`the capability '${name}' of '${planner}' is nothing that can be used`, 'give it use: an executable or a function')
  if (typeof given.description !== 'string' || given.description === '')
    throw wrong(
      `the capability '${name}' of '${planner}' has no description`,
      'the model sees little else of it: say what it does and what comes back',
    )
  if (given.input !== undefined && typeof given.input?.['~standard']?.validate !== 'function')
    throw wrong(`input of the capability '${name}' of '${planner}' is no schema`, 'give one of zod 4, or of any library that follows Standard Schema')
}

const isCount = (value: unknown, least: number): boolean => Number.isInteger(value) && (value as number) >= least

const wrong = (message: string, hint: string): LadderError => new LadderError('LADDER_CONFIG', message, { hint })
