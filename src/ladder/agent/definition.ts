/** What an author writes of an agent: all that `agent()` of `statecast` takes, and how it is executed. */

import { type Agent, type AgentDefinition as CoreDefinition, agent as defineAgent, isRuntimeError, type Tool } from '../../index.ts'
import { commonKinds, type Heard } from '../audience.ts'
import { delegateOf } from '../delegates.ts'
import { LadderError } from '../errors.ts'
import { type AnyExecutable, Executable } from '../executable.ts'
import { anything, code, count, flag, isSessionAgent, type KindsOf, list, record, schema, sessionAgentHint, text } from '../given.ts'
import { fnv1a, isKindName } from '../names.rules.ts'
import { checkAnswerable, isLenient, type Schema } from '../schema.ts'
import type { Prices } from '../usage.rules.ts'
import { type ApprovalPolicy, withApproval } from './approval-policy.ts'
import { toolWithin } from './around-tool.ts'
import type { HookOptions } from './hooks.ts'
import { withoutLeaks } from './leaked-calls.ts'
import { checkedPrices, type PriceOptions } from './prices.ts'
import { checkedSurroundings, type SurroundingOptions, type Surroundings } from './surroundings.ts'

export type AgentDefinition<Input, Output extends Schema | undefined> = Omit<CoreDefinition, 'name' | 'tools' | 'approval'> &
  Heard &
  PriceOptions &
  HookOptions &
  SurroundingOptions & {
    /** Also the kind of its runs: lower-case letters, digits and hyphens. Default: made of its model and the names of its tools. */
    name?: string
    /** Another one refuses the runs that are under way. */
    version?: string
    /** For the agents whose tool it is: when to call it, and what comes back. */
    description?: string
    /** Tools, and executables that are run as tools: agents, workflows. */
    tools?: readonly (Tool | AnyExecutable)[]
    /** Which calls a person has to agree to, beside those of tools that say so themselves; and how long one is waited for. */
    approval?: ApprovalPolicy
    /** A call of a tool that the model writes into its text, as JSON, is made, and nobody reads it. Default: it is text. */
    leakedToolCalls?: boolean
    /** What an input has to be. Default: anything that can be written as JSON. */
    input?: Schema<Input>
    /** What the model is told of it. Default: a text as it is, anything else as JSON. */
    prompt?: (input: Input, more: { context: Readonly<Record<string, unknown>> }) => string | Promise<string>
    /** What its answer has to be: the model is told to answer in JSON, and `data` has this type. Default: `data` is the text. */
    output?: Output
    /** How often the model is asked again with what does not fit. Each is a trip of its own. Default: 0; 2 where `output` is `lenient`. */
    repair?: number
    /** Calls of the model in one run. Default: 10. */
    maxTrips?: number
    /**
     * A run that has completed is deleted with its journal as soon as whoever has executed, streamed or resumed it has the result; executing it again under its name
     * begins anew. What failed or was cancelled stays, and runs inside of others do. Default: false.
     */
    deleteOnComplete?: boolean
  }

// biome-ignore lint/suspicious/noExplicitAny: one of any input
export type AnyAgent = AgentDefinition<any, Schema | undefined>

/** What an agent of the ladder is, once it is checked. */
export type CheckedAgent = Pick<AnyAgent, 'version' | 'description' | 'input' | 'prompt' | 'output'> & {
  name: string
  repair: number
  /** Its answers are looked at: it says what they have to be, or a caller may. */
  isChecked: boolean
  maxTrips: number
  deleteOnComplete: boolean
  prices?: Prices
  hooks: HookOptions
  surroundings: Surroundings
  /** As the runtime knows it. */
  core: Agent
  /** By the name of the tool, what runs inside of its run. */
  inner: Readonly<Record<string, { executable: AnyExecutable; isText: boolean }>>
}

/** What it takes beside what the runtime looks at. */
export const agentKinds: KindsOf<
  Omit<AnyAgent, Exclude<keyof CoreDefinition, 'name' | 'tools' | 'approval' | 'limits' | 'prompt' | 'wrapModel' | 'beforeTool'>>
> = {
  ...commonKinds,
  name: text,
  tools: list,
  approval: anything,
  leakedToolCalls: flag,
  input: schema,
  prompt: code('({ topic }) => `…`'),
  output: schema,
  repair: count(0, 10),
  maxTrips: count(1),
  deleteOnComplete: flag,
  price: record('{ input: 3, output: 15 }, in USD for a million tokens'),
  prices: record("{ 'provider/model-id': { input: 3, output: 15 } }"),
  onUsage: code('(trip) => …'),
  onComplete: code('(report) => …'),
  budget: record('{ maxTokens: 50_000 }'),
  guardrails: record("{ output: [{ name: 'polite', check: ({ text }) => … }] }"),
  middleware: list,
  cache: record('{ store: memoryAnswers() }'),
  limits: record('{ tokens: 50_000 }'),
  wrapModel: code('(model) => ({ ...model, call: … })'),
  beforeTool: list,
}

const lenientRepairs = 2

/** @throws LadderError LADDER_CONFIG naming what is wrong with it */
export const checkedAgent = (definition: AnyAgent): CheckedAgent => {
  const {
    name: given,
    version,
    description,
    input,
    prompt,
    output,
    maxTrips = 10,
    deleteOnComplete = false,
    tools: wanted = [],
    ...others
  } = definition
  const { repair = output !== undefined && isLenient(output) ? lenientRepairs : 0 } = definition
  const { on: _, observe: __, repair: ___, price, prices: byModel, onUsage, onComplete, budget, guardrails, middleware, cache, ...more } = others
  const { approval, beforeTool, leakedToolCalls = false, wrapModel, ...rest } = more
  const strange = wanted.findIndex(isSessionAgent)
  if (strange >= 0) throw wrong(`tools[${strange}] of '${given ?? 'an agent'}' is not a tool`, sessionAgentHint)
  const tools = configured(given, () => wanted.map((one) => (one instanceof Executable ? one.asTool() : one)))
  const core = { ...rest, ...withApproval(given, approval, beforeTool), ...wrapped(tools, leakedToolCalls, wrapModel), tools }
  const name = given ?? nameFor(core)
  if (!isKindName(name))
    throw wrong(`'${String(name).slice(0, 40)}' is no name of an agent`, 'use lower-case letters, digits and hyphens, at most 32')
  const hooks: HookOptions = { ...(onUsage && { onUsage }), ...(onComplete && { onComplete }) }
  const surroundings = checkedSurroundings(name, {
    ...(budget && { budget }),
    ...(guardrails && { guardrails }),
    ...(middleware && { middleware }),
    ...(cache && { cache }),
  })
  const prices = checkedPrices(name, { ...(price && { price }), ...(byModel && { prices: byModel }) })
  const inner = Object.fromEntries(
    tools.flatMap((one) => {
      const found = delegateOf(one)
      return found?.executable instanceof Executable ? [[one.name, { ...found, executable: found.executable as AnyExecutable }]] : []
    }),
  )
  if (output !== undefined) checkAnswerable(output, `'${name}'`)
  const limits = { ...core.limits, steps: maxTrips }
  const isChecked = output !== undefined || definition.repair !== undefined
  const common = {
    name,
    repair,
    isChecked,
    maxTrips,
    deleteOnComplete,
    inner,
    hooks,
    surroundings,
    core: configured(name, () =>
      defineAgent({
        toolExecution: 'sequential',
        ...core,
        failover: { midStream: false, ...core.failover },
        tools: core.tools.map((one) => toolWithin(name, surroundings.middleware, one)),
        name,
        limits,
      }),
    ),
  }
  return {
    ...common,
    ...(version !== undefined && { version }),
    ...(description !== undefined && { description }),
    ...(input && { input }),
    ...(prompt && { prompt }),
    ...(output && { output }),
    ...(prices && { prices }),
  }
}

/** What the author puts before the model stands before the one that looks for calls in its text. */
const wrapped = (tools: readonly Tool[], leaked: boolean, own: CoreDefinition['wrapModel']): Pick<CoreDefinition, 'wrapModel'> => {
  if (!leaked) return own ? { wrapModel: own } : {}
  const caught = withoutLeaks(tools)
  return { wrapModel: own ? (model) => own(caught(model)) : caught }
}

/** @throws LadderError LADDER_CONFIG in the place of what the runtime throws */
const configured = <Made>(name: string | undefined, make: () => Made): Made => {
  try {
    return make()
  } catch (cause) {
    if (!isRuntimeError(cause)) throw cause
    throw new LadderError('LADDER_CONFIG', cause.message, {
      cause,
      context: { agent: name, field: cause.field },
      ...(cause.hint && { hint: cause.hint }),
    })
  }
}

/** The same for the same model and tools, in every process. */
const nameFor = ({ model = 'default', tools = [] }: Omit<CoreDefinition, 'name'>): string => {
  const said = [model, ...tools.map((tool) => tool.name).toSorted()].join(' ')
  return `agent-${fnv1a(Array.from(said, (character) => character.codePointAt(0) as number))}`
}

const wrong = (message: string, hint: string): LadderError => new LadderError('LADDER_CONFIG', message, { hint })
