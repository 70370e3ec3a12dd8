/** States that stand around the question of an agent where its author asks for them. Plain data. */
import { wrapStates } from '../around/wrapped.chart.rules.ts'
import type { AgentRun } from './agent.context.ts'
import type { Budget } from './budget.rules.ts'

/** What stands around it. `opens`, `closes`: code before and after each trip; `recovers`: code where the model could not answer. */
export type AroundShape = {
  wraps: boolean
  recalls: boolean
  opens: boolean
  closes: boolean
  recovers: boolean
  budget?: Budget
}

export const isPaced = ({ opens, closes, budget }: AroundShape): boolean => opens || closes || budget !== undefined

export { enterActor, leaveActor } from '../around/wrapped.chart.rules.ts'
export const openActor = 'open()'
export const closeActor = 'close()'
export const recoverActor = 'recover()'
export const recallActor = 'recall()'
export const keepActor = 'keep()'

const runOf = ({ context }: { context: AgentRun }) => context
type Arrow = { target: string; guard?: string; actions?: readonly string[] }

const code = (actor: string, onDone: readonly Arrow[], onError: Arrow) => ({ invoke: { id: actor, src: actor, input: runOf, onDone, onError } })

/** Where a run leads that has its data, or has failed: through the code around it, if there is any. */
export const endsOf = (name: string, around: AroundShape | undefined) => {
  const own = { completed: `#${name}.completed`, failed: `#${name}.failed` }
  return around?.wraps ? { completed: `#${name}.working.leaving`, failed: `#${name}.working.leaving` } : own
}

/** Where an answer leads that is what it has to be. */
export const keptOf = (name: string, around: AroundShape | undefined): string =>
  around?.recalls ? `#${name}.working.keeping` : endsOf(name, around).completed

/** States of a run that is at work. @param answered where an answer leads that is not checked yet */
export const aroundStates = (name: string, around: AroundShape, answered: string) => {
  const { completed, failed } = endsOf(name, around)
  const own = { completed: `#${name}.completed`, failed: `#${name}.failed` }
  const cancel = { cancel: { target: `#${name}.cancelled`, actions: ['stop', 'markCancelled'] } }
  return {
    ...(around.wraps && wrapStates({ entered: 'preparing', ...own, refused: 'came to nothing', cancel: cancel.cancel, entry: ['tellStarting'] })),
    ...(around.recalls && {
      recalling: {
        on: cancel,
        ...code(recallActor, [{ guard: 'is known', target: answered, actions: ['takeKnown', 'tellKnown'] }, { target: 'asking' }], {
          target: 'asking',
        }),
      },
      keeping: {
        always: { guard: 'is not to be kept', target: completed },
        on: cancel,
        ...code(keepActor, [{ target: completed }], { target: completed }),
      },
    }),
    ...(around.recovers && {
      recovering: {
        on: cancel,
        ...code(
          recoverActor,
          [
            { guard: 'speaks for itself', target: answered, actions: ['takeTrip', 'takeSaid'] },
            { target: failed, actions: ['takeTrip', 'failRefused'] },
          ],
          { target: failed, actions: ['failAround'] },
        ),
      },
    }),
  }
}

/** The question step by step: what stands here is between the agent and its next step. */
export const stepStates = ({ opens, closes, budget }: AroundShape) => {
  const after = ['hear', ...(budget ? ['weigh'] : []), ...(budget?.maxCostUSD === undefined ? [] : ['warnUnpriced'])]
  const broken = { target: 'stopping', actions: ['refuseBroken'] }
  const refused = [{ guard: 'is refused', target: 'stopping', actions: ['takeTrip', 'tellRefused'] }]
  return {
    initial: 'answering',
    states: {
      answering: {
        on: {
          'ask.reported': [
            { guard: 'wants a step', actions: ['hear', ...(opens ? [] : ['proceed'])], ...(opens && { target: 'opening' }) },
            { guard: 'has answered a step', target: closes ? 'closing' : 'judging', actions: after },
          ],
        },
      },
      ...(opens && {
        opening: code(
          openActor,
          [
            ...refused,
            { guard: 'speaks for itself', target: 'stopping', actions: ['takeTrip'] },
            { target: 'answering', actions: ['takeTrip', 'proceed'] },
          ],
          broken,
        ),
      }),
      ...(closes && { closing: code(closeActor, [...refused, { target: 'judging', actions: ['takeTrip'] }], broken) }),
      judging: {
        always: budget
          ? [
              {
                guard: 'is over its budget',
                target: budget.onViolation === 'fallback' ? 'answering' : 'stopping',
                actions: budget.onViolation === 'fallback' ? ['tellBudget', 'proceedElsewhere', 'fallBack'] : ['tellBudget', 'refuseMore'],
              },
              { target: 'answering', actions: ['proceed'] },
            ]
          : [{ target: 'answering', actions: ['proceed'] }],
      },
      stopping: { entry: ['tellAskToStop'] },
    },
  }
}
