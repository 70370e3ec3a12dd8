/** Code around the runs of an agent, around each call of its model, and around its tools; as its author writes it. */
import type { ToolContext } from '../../index.ts'
import type { LadderUsage } from '../envelope.ts'
import { LadderError } from '../errors.ts'
import { anything, type KindsOf, optionsIn, record } from '../given.ts'
import type { Layer } from './onion.ts'

/** What code around a run is given. */
export type AroundRun<State = Record<string, unknown>> = {
  readonly runId: string
  readonly rootRunId: string
  readonly agent: string
  /** What the agent was given. */
  readonly input: unknown
  /** What the caller brought along; it is never stored. */
  readonly context: Readonly<Record<string, unknown>>
  /** Its own, of this run alone: what is written to it stays, and survives a crash. Plain data. */
  readonly state: State
  readonly usage: LadderUsage
  readonly signal: AbortSignal
}
/** `trip` from 1. */
export type AroundTrip<State = Record<string, unknown>> = AroundRun<State> & { readonly trip: number; readonly calls: readonly TripCall[] }
export type AroundTool = Pick<ToolContext, 'callId' | 'attempt' | 'signal'> & {
  readonly tool: string
  readonly agent: string
  readonly input: unknown
}
/** What the model wants, of which nothing has run yet where it was just answered. */
export type TripCall = { callId: string; name: string; input: unknown }

export type Middleware<State extends object = Record<string, unknown>> = {
  /** No two of one agent have the same. */
  name: string
  /** What each run begins with. Default: an empty object. */
  state?: State
  /** Around the run: `result` is its data. `before` may say `{ input }`, which the agent is given instead. */
  execute?: Layer<AroundRun<State>, unknown, { input?: unknown }>
  /** Around each answer of the model, before its tools run: `result` is its text, and as one of `before` or `onError` the last. */
  trip?: Layer<AroundTrip<State>, string>
  /** Around each call of a tool that is no executable: `result` is what the model gets. `before` may say `{ input }`. */
  tool?: Layer<AroundTool, unknown, { input?: unknown }>
}

// biome-ignore lint/suspicious/noExplicitAny: one of any state
export type AnyMiddleware = Middleware<any>

/** One with a state of its own type. */
export const middleware = <State extends object = Record<string, unknown>>(made: Middleware<State>): Middleware<State> => {
  checkedMiddleware('middleware()', [made])
  return made
}

const layer = record('{ before: (context) => … }')
const middlewareKinds: KindsOf<AnyMiddleware> = { name: anything, state: anything, execute: layer, trip: layer, tool: layer }
const layerKinds: KindsOf<Layer<unknown, unknown>> = { before: anything, after: anything, onError: anything }

const levels = ['execute', 'trip', 'tool'] as const
const hooks = ['before', 'after', 'onError'] as const

/** @throws LadderError LADDER_CONFIG naming what is wrong with one */
export const checkedMiddleware = (agent: string, all: readonly AnyMiddleware[] = []): readonly AnyMiddleware[] => {
  const wrong = (message: string, hint: string): LadderError => new LadderError('LADDER_CONFIG', message, { hint, context: { agent } })
  if (!Array.isArray(all)) throw wrong(`middleware of '${agent}' is no list`, "write middleware: [{ name: 'timing', trip: { before: … } }]")
  for (const [index, one] of (all as readonly AnyMiddleware[]).entries()) {
    if (typeof one?.name !== 'string' || one.name === '') throw wrong(`a middleware of '${agent}' has no name`, 'give each a name of its own')
    if (all.findIndex(({ name }) => name === one.name) !== index)
      throw wrong(`two middlewares of '${agent}' are named '${one.name}'`, 'give one of them another name')
    if (one.state !== undefined && (typeof one.state !== 'object' || one.state === null))
      throw wrong(`the state of the middleware '${one.name}' of '${agent}' is no object`, 'write state: { count: 0 }')
    optionsIn(one, middlewareKinds, { who: `the middleware '${one.name}' of '${agent}'`, code: 'LADDER_CONFIG', context: { agent } })
    for (const level of levels)
      if (one[level] !== undefined)
        optionsIn(one[level], layerKinds, { who: `${level} of the middleware '${one.name}' of '${agent}'`, code: 'LADDER_CONFIG' })
    for (const level of levels)
      for (const hook of hooks)
        if (one[level]?.[hook] !== undefined && typeof one[level][hook] !== 'function')
          throw wrong(`${level}.${hook} of the middleware '${one.name}' of '${agent}' is no function`, `write ${level}: { ${hook}: (context) => … }`)
  }
  return all
}
