/** The author's code of a supervisor as actors: whatever it throws comes back as a result, so that the chart decides what happens next. */
import type { AnyActorLogic } from 'xstate'
import { fromTask } from '../../index.ts'
import { endCall } from '../calling/calls.effects.ts'
import { callEndActor } from '../calling/work.chart.rules.ts'
import { LadderError, type LadderErrorBody } from '../errors.ts'
import { fitted, unfit } from '../schema.ts'
import { beside, codeOf, reading, type Scope, supervisorError, toldInside, withInput } from './code.effects.ts'
import { decisionOf, refusalOf } from './decision.rules.ts'
import type { CheckedHelper, CheckedIntent } from './definition.ts'
import { acknowledge, classify } from './helper.effects.ts'
import { addedBy, addition, merge, withoutUnsafe } from './merge.effects.ts'
import { questionFor } from './router.rules.ts'
import { classifyActor, mergeActor, outputActor, routeActor } from './supervisor.chart.rules.ts'
import { ackWork, type BranchEnd, type Chosen, type SupervisorRun } from './supervisor.context.ts'

type Helpers = { classifier: CheckedHelper | undefined; ack: CheckedHelper | undefined }

/** By name: each intent, who chooses, what puts branches together, and what makes the data. */
export const supervisorActors = (scope: Scope, { classifier, ack }: Helpers): Record<string, AnyActorLogic> => ({
  ...(classifier && { [classifyActor]: classify(scope, classifier) }),
  ...(ack && { [ackWork]: acknowledge(scope, ack) }),
  ...Object.fromEntries(scope.intents.map((intent) => [intent.name, branch(intent, scope)])),
  [routeActor]: choose(scope),
  [mergeActor]: merge(scope),
  [outputActor]: conclude(scope),
  [callEndActor]: endCall,
})

const choose = (scope: Scope): AnyActorLogic => {
  const { definition } = scope
  return codeOf<Chosen>(scope, routeActor, async (run, codeFor) => {
    const { answer } = run.going[routeActor] ?? {}
    try {
      if (definition.router && !answer) return { ended: 'asks', input: questionFor(scope, codeFor(run)), state: null }
      if (answer?.error) throw refusalOf(scope, 'router', answer.error, 'the router')
      if (answer) {
        const { next, reasoning } = (answer.data ?? {}) as { next?: unknown; reasoning?: unknown }
        const said = typeof reasoning === 'string' ? { reasoning } : {}
        return { ended: 'completed', output: { ...decisionOf(scope, 'router', next, 'the router'), ...said } }
      }
      return { ended: 'completed', output: decisionOf(scope, 'route', await definition.route?.(codeFor(run) as never), 'route') }
    } catch (thrown) {
      return { ended: 'failed', error: supervisorError(thrown, `${definition.router ? 'the router' : 'route'} of '${definition.name}'`) }
    }
  })
}

const branch = (intent: CheckedIntent, scope: Scope): AnyActorLogic =>
  codeOf<BranchEnd>(scope, intent.name, async (run, codeFor) => {
    const { answer } = run.going[intent.name] ?? {}
    try {
      if (answer?.error) return { ended: 'failed', error: answer.error }
      if (answer && intent.streamTo !== undefined && typeof answer.data !== 'string')
        throw new LadderError('SCHEMA_VALIDATION_FAILED', `'${intent.name}' streams, and has answered with something else than a text`)
      if (answer) return await completed(intent, answer.data)
      const { code, own } = await reading(intent, run, codeFor(run))
      if (!intent.agent) {
        const output = await intent.run?.(await withInput(intent, code))
        // What a schema makes of it counts.
        return await completed(intent, intent.output ? withoutUnsafe(output) : addition(output, `the intent '${intent.name}'`))
      }
      const input = await intent.agent.fit(intent.input ? await intent.input(code) : run.input)
      return { ended: 'asks', input, state: null, ...toldInside(intent, run, own), ...(await beside(intent, code)) }
    } catch (thrown) {
      return { ended: 'failed', error: supervisorError(thrown, `the intent '${intent.name}'`) }
    }
  })

/** What does not fit is a failure of this branch. @throws LadderError SCHEMA_VALIDATION_FAILED, SUPERVISOR_FAILED */
const completed = async (intent: CheckedIntent, output: unknown): Promise<BranchEnd> => ({
  ended: 'completed',
  output,
  ...(intent.output && { adds: await addedBy(intent, intent.output, output) }),
})

const conclude = ({ definition: { name, output } }: Scope): AnyActorLogic =>
  fromTask<{ ended: 'completed'; data: unknown } | { ended: 'failed'; error: LadderErrorBody }, SupervisorRun>(async ({ input: { state } }) => {
    if (!output) return { ended: 'completed', data: state }
    try {
      return { ended: 'completed', data: await fitted(output, state, `the state of '${name}' at its end`) }
    } catch (thrown) {
      return { ended: 'failed', error: unfit(thrown, `'${name}'`) }
    }
  }) as AnyActorLogic
