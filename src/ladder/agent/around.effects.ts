/** The code of an author around each trip of an agent, as actors: what it comes to is data of the journal, whatever it throws. */
import type { AnyActorLogic } from 'xstate'
import { fromTask } from '../../index.ts'
import { type LayerCode, layersOf } from '../around/layers.effects.ts'
import { callerOf } from '../run.rules.ts'
import { together } from '../usage.rules.ts'
import type { AgentRun } from './agent.context.ts'
import { type Around, nothingAround, type TripEnd } from './around.context.ts'
import { type Checked, type Guardrails, refusalOf, type Stage } from './guardrails.ts'
import type { AroundTrip } from './middleware.ts'
import { down, type Outcome, up } from './onion.ts'

type Code = Pick<LayerCode, 'name' | 'middleware' | 'contextOf'> & { guardrails: Guardrails }

const aroundOf = ({ around, startedAt }: AgentRun): Around => around ?? nothingAround({}, startedAt)

/** What code around a run is given of the agent. */
export const aboutRun = (agent: string) => (run: AgentRun) => ({ agent, usage: together(run.usage, aroundOf(run).spending) })

const tripOf = (code: Code, run: AgentRun, signal: AbortSignal) => {
  const about = (one: AgentRun) => {
    const { number, calls } = aroundOf(one).trip
    return { ...aboutRun(code.name)(one), trip: number, calls }
  }
  return layersOf<AroundTrip, string>('trip', { ...code, about }, run, signal)
}

/** Before the model is asked. */
export const openLogic = (code: Code): AnyActorLogic =>
  fromTask<TripEnd, AgentRun>(async ({ input: run, signal }) => {
    const around = tripOf(code, run, signal)
    const outcome = await down(around.layers)
    if (outcome) return { states: around.states, ...textIn(outcome, 'said') }
    return { states: around.states, ...(await refused('input', code, run, signal)) }
  }) as AnyActorLogic

/** When it has answered, before its tools run. */
export const closeLogic = (code: Code): AnyActorLogic =>
  fromTask<TripEnd, AgentRun>(async ({ input: run, signal }) => {
    const around = tripOf(code, run, signal)
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
    const around = tripOf(code, run, signal)
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
