/** The code of an author around a run of an agent, and around each trip of it, as actors: what it comes to is data of the journal, whatever it throws. */
import type { AnyActorLogic } from 'xstate'
import { fromTask } from '../../index.ts'
import { callerOf, rootOf } from '../run.rules.ts'
import { together } from '../usage.rules.ts'
import type { AgentRun } from './agent.context.ts'
import { type Around, nothingAround, type RunAround, type TripEnd } from './around.context.ts'
import { type Checked, type Guardrails, refusalOf, type Stage } from './guardrails.ts'
import type { AnyMiddleware, AroundRun, AroundTrip } from './middleware.ts'
import { down, type Entered, type Outcome, up } from './onion.ts'

/** What a caller brought along for a run of this process. */
type CallerContext = (runId: string) => Readonly<Record<string, unknown>>
type Code = { name: string; middleware: readonly AnyMiddleware[]; guardrails: Guardrails; contextOf: CallerContext }

const aroundOf = ({ around, startedAt }: AgentRun): Around => around ?? nothingAround({}, startedAt)

/** The layers of one level that are there, each with its own state to write to. */
class Level<Context, Value, More> {
  readonly layers: readonly Entered<Context, Value, More>[]
  readonly #states: Record<string, object>

  constructor(level: 'execute' | 'trip', { name, middleware, contextOf }: Code, run: AgentRun, signal: AbortSignal) {
    const { states, spending, trip } = aroundOf(run)
    this.#states = Object.fromEntries(middleware.map((one) => [one.name, structuredClone(states[one.name] ?? one.state ?? {})]))
    const given: Omit<AroundRun, 'state'> = {
      runId: run.runId,
      rootRunId: rootOf(run),
      agent: name,
      input: run.input,
      context: contextOf(callerOf(run)),
      usage: together(run.usage, spending),
      signal,
      ...(level === 'trip' && { trip: trip.number, calls: trip.calls }),
    }
    this.layers = middleware.flatMap((one) => {
      const layer = one[level]
      const context = { ...given, state: this.#states[one.name] }
      return layer ? [{ name: one.name, layer: layer as never, context: context as Context }] : []
    })
  }

  /** As they have left them by now. */
  get states(): Around['states'] {
    return this.#states
  }
}

const level = <Context, Value, More = unknown>(which: 'execute' | 'trip', code: Code, run: AgentRun, signal: AbortSignal) =>
  new Level<Context, Value, More>(which, code, run, signal)

/** Before anything else; one that answers by itself is the outcome of the run. */
export const enterLogic = (code: Code): AnyActorLogic =>
  fromTask<RunAround, AgentRun>(async ({ input: run, signal }) => {
    const around = level<AroundRun, unknown, { input?: unknown }>('execute', code, run, signal)
    let given: RunAround['given']
    const outcome = await down(around.layers, (more) => {
      if (Object.hasOwn(more, 'input')) given = { input: more.input }
    })
    return { states: around.states, ...(outcome && { outcome }), ...(given && { given }) }
  }) as AnyActorLogic

/** After all else, whatever it came to. */
export const leaveLogic = (code: Code): AnyActorLogic =>
  fromTask<RunAround, AgentRun>(async ({ input: run, signal }) => {
    const around = level<AroundRun, unknown>('execute', code, run, signal)
    const outcome = await up(around.layers, run.error ? { error: run.error } : { result: run.data })
    return { states: around.states, outcome }
  }) as AnyActorLogic

/** Before the model is asked. */
export const openLogic = (code: Code): AnyActorLogic =>
  fromTask<TripEnd, AgentRun>(async ({ input: run, signal }) => {
    const around = level<AroundTrip, string>('trip', code, run, signal)
    const outcome = await down(around.layers)
    if (outcome) return { states: around.states, ...textIn(outcome, 'said') }
    return { states: around.states, ...(await refused('input', code, run, signal)) }
  }) as AnyActorLogic

/** When it has answered, before its tools run. */
export const closeLogic = (code: Code): AnyActorLogic =>
  fromTask<TripEnd, AgentRun>(async ({ input: run, signal }) => {
    const around = level<AroundTrip, string>('trip', code, run, signal)
    const no = await refused('output', code, run, signal)
    if (no) return { states: around.states, ...no }
    const { text } = aroundOf(run).trip
    const outcome = await up(around.layers, { result: text })
    if ('result' in outcome && outcome.result === text) return { states: around.states }
    return { states: around.states, ...textIn(outcome, 'revised') }
  }) as AnyActorLogic

/** The model could not answer. */
export const recoverLogic = (code: Code): AnyActorLogic =>
  fromTask<TripEnd, AgentRun>(async ({ input: run, signal }) => {
    const around = level<AroundTrip, string>('trip', code, run, signal)
    const outcome = await up<AroundTrip, string, unknown>(around.layers, run.error ? { error: run.error } : { result: run.text ?? '' })
    return { states: around.states, ...textIn(outcome, 'said') }
  }) as AnyActorLogic

const textIn = (outcome: Outcome<string>, as: 'said' | 'revised'): Pick<TripEnd, 'refusal' | 'said' | 'revised'> =>
  'error' in outcome ? { refusal: outcome.error } : { [as]: String(outcome.result) }

const refused = async (stage: Stage, { name, guardrails, contextOf }: Code, run: AgentRun, signal: AbortSignal) => {
  const { trip, results = [] } = aroundOf(run)
  const { runId, input } = run
  const given: Checked = {
    runId,
    agent: name,
    input,
    context: contextOf(callerOf(run)),
    trip: trip.number,
    text: trip.text,
    calls: trip.calls,
    results,
    signal,
  }
  const refusal = await refusalOf(stage, guardrails[stage], given)
  return refusal && { refusal }
}
