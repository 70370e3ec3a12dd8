/** What the names mean in the states around the question of an agent. */
import { assign, type EventObject, emit, enqueueActions, sendTo } from 'xstate'
import type { AskReport } from '../../index.ts'
import { unstorable } from '../around/wrapped.compile.rules.ts'
import type { RunAround } from '../around/wrapped.context.ts'
import type { LadderErrorBody } from '../errors.ts'
import type { AgentRun } from './agent.context.ts'
import type { Found } from './answers.ts'
import { type Around, nothingAround, type TripEnd, weighed } from './around.context.ts'
import { type Budget, budgetError } from './budget.rules.ts'

type Scope = { context: AgentRun; event: EventObject }
type Word = { type: string } & Record<string, unknown>
/** `isChecked`: its answer is no data yet. `unpriced` is called when a budget of dollars has nothing to reckon with. */
type Parts = {
  name: string
  isChecked: boolean
  budget?: Budget
  now: () => number
  unpriced: (runId: string) => void
  word: (type: string, run: AgentRun, more?: object) => Word
}

const outputOf = <Output>(event: EventObject): Output => (event as unknown as { output: Output }).output
const aroundOf = ({ around, startedAt }: AgentRun): Around => around ?? nothingAround({}, startedAt)
const changed = (run: AgentRun, change: Partial<Around>): { around: Around } => ({ around: { ...aroundOf(run), ...change } })

const broken = (name: string, event: EventObject): LadderErrorBody => unstorable(name, 'AGENT_EXEC_FAILED', event, { agent: name })

/** It wants no tool any more. */
const hasAnswered = ({ isAnswered, calls }: Around['trip']): boolean => isAnswered === true && calls.length === 0

/** What a model is told when it goes on. */
const notAccepted = ({ code, message }: LadderErrorBody): string =>
  code === 'GUARDRAIL_VIOLATION' ? `Your answer was not accepted: ${message}\nAnswer again.` : 'You were interrupted. Go on with your task.'

/** Their types are those of the machine that takes them. */
export const aroundActions = ({ name, isChecked, budget, now, unpriced, word }: Parts): Record<string, never> => {
  const answer = (text: string) => ({ text, ...(!isChecked && { data: text }) })
  return {
    takeAround: assign(({ context, event }: Scope) => {
      const { states, given } = outputOf<RunAround>(event)
      return changed(context, { states, ...(given && { given }) })
    }),
    takeOutcome: assign(({ event }: Scope) => {
      const { outcome } = outputOf<RunAround>(event)
      return outcome && 'error' in outcome ? { error: outcome.error } : { data: outcome?.result, error: undefined }
    }),
    failAround: assign({ error: ({ event }: Scope) => broken(name, event) }),
    takeTrip: assign(({ context, event }: Scope) => {
      const { states, refusal, said, revised } = outputOf<TripEnd>(event)
      return changed(context, { states, refusal, said, ...(revised !== undefined && { revised }) })
    }),
    refuseBroken: assign(({ context, event }: Scope) => changed(context, { refusal: broken(name, event) })),
    tellRefused: enqueueActions(({ context, enqueue }) => {
      const run = context as AgentRun
      const { refusal } = aroundOf(run)
      if (refusal?.code === 'GUARDRAIL_VIOLATION') enqueue.emit(word('guardrail.rejected', run, refusal.context))
    }),
    failRefused: assign(({ context }: Scope) => {
      const { refusal, trip } = aroundOf(context)
      // It ended with an answer: the model has to be told why that is not the end.
      const next = refusal && hasAnswered(trip) ? notAccepted(refusal) : undefined
      return { error: refusal, next, ...changed(context, { refusal: undefined }) }
    }),
    takeSaid: assign(({ context }: Scope) => {
      const { said = '' } = aroundOf(context)
      return { ...answer(said), error: undefined, ...changed(context, { said: undefined }) }
    }),
    /** It was what the budget was spent on, and stands in the journal. */
    takeLate: assign(({ context }: Scope) => {
      const { trip, revised = trip.text } = aroundOf(context)
      return { text: revised, next: undefined }
    }),
    takeLateData: assign(({ context }: Scope) => ({ data: context.text })),
    takeRevised: assign(({ context }: Scope) => {
      const { revised } = aroundOf(context)
      return revised === undefined ? {} : answer(revised)
    }),
    proceed: sendTo('ask', { type: 'proceed' }),
    weigh: assign(({ context }: Scope) => {
      const around = budget && weighed(context, budget, now())
      return around ? { around } : {}
    }),
    warnUnpriced: ({ context }: Scope) => {
      if (context.usage.cost === undefined && aroundOf(context).spending.cost === undefined) unpriced(context.runId)
    },
    tellBudget: emit(({ context }: Scope) =>
      word('budget.exceeded', context, { ...aroundOf(context).violation, onViolation: budget?.onViolation ?? 'abort' }),
    ),
    refuseMore: assign(({ context }: Scope) => {
      const { violation } = aroundOf(context)
      return violation ? changed(context, { refusal: budgetError(name, violation) }) : {}
    }),
    proceedElsewhere: sendTo('ask', { type: 'proceed', model: budget?.fallback }),
    fallBack: assign(({ context }: Scope) => changed(context, { violation: undefined, fellBack: true })),
    takeKnown: assign(({ context, event }: Scope) => {
      const { answer: known, similarity } = outputOf<{ found: Found }>(event).found
      return { ...answer(known), ...changed(context, { cached: { similarity } }) }
    }),
    tellKnown: emit(({ context }: Scope) => word('cache.hit', context, { ...aroundOf(context).cached })),
  } as unknown as Record<string, never>
}

const own = ({ context, event }: Scope): AskReport['report'] | undefined => {
  const { conversation, report } = event as unknown as AskReport
  return conversation === context.runId ? report : undefined
}

export const aroundGuards: Record<string, never> = {
  'came to an end': ({ event }: Scope) => 'result' in (outputOf<RunAround>(event).outcome ?? {}),
  'came to nothing': ({ event }: Scope) => 'error' in (outputOf<RunAround>(event).outcome ?? {}),
  'wants a step': (scope: Scope) => own(scope)?.type === 'step.wanted',
  'has answered a step': (scope: Scope) => own(scope)?.type === 'step.answered',
  'is refused': ({ event }: Scope) => outputOf<TripEnd>(event).refusal !== undefined,
  'speaks for itself': ({ event }: Scope) => outputOf<TripEnd>(event).said !== undefined,
  /** What a person has stopped is cancelled, whatever else there was. */
  'was refused': ({ context }: Scope) => context.stopped === undefined && aroundOf(context).refusal !== undefined,
  'has spoken for itself': ({ context }: Scope) => context.stopped === undefined && aroundOf(context).said !== undefined,
  'is over its budget': ({ context }: Scope) => aroundOf(context).violation !== undefined,
  'has answered too late': ({ context }: Scope) => context.error?.code === 'BUDGET_EXCEEDED' && hasAnswered(aroundOf(context).trip),
  'is known': ({ event }: Scope) => outputOf<{ found?: Found }>(event).found !== undefined,
  'is not to be kept': ({ context }: Scope) => context.trips !== 1 || context.calls.length > 0 || aroundOf(context).cached !== undefined,
} as unknown as Record<string, never>
