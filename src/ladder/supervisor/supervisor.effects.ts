/** The author's code of a supervisor as actors: whatever it throws comes back as a result, so that the chart decides what happens next. */
import type { AnyActorLogic } from 'xstate'
import { fromTask } from '../../index.ts'
import { LadderError, type LadderErrorBody } from '../errors.ts'
import { checkedHistory, handedDown, readBy } from '../history.rules.ts'
import { fitted, unfit } from '../schema.ts'
import { type Code, type CodeInput, codeContext, type Scope, supervisorError } from './code.effects.ts'
import { decisionOf } from './decision.rules.ts'
import type { CheckedIntent } from './definition.ts'
import { merge, withoutUnsafe } from './merge.effects.ts'
import { questionFor } from './router.rules.ts'
import { mergeActor, outputActor, routeActor } from './supervisor.chart.rules.ts'
import type { BranchEnd, Chosen, SupervisorRun } from './supervisor.context.ts'

/** By name: each intent, who chooses, what puts branches together, and what makes the data. */
export const supervisorActors = (scope: Scope): Record<string, AnyActorLogic> => ({
  ...Object.fromEntries(scope.intents.map((intent) => [intent.name, branch(intent, scope)])),
  [routeActor]: choose(scope),
  [mergeActor]: merge(scope),
  [outputActor]: conclude(scope),
})

const choose = (scope: Scope): AnyActorLogic => {
  const { definition } = scope
  return fromTask<Chosen, CodeInput>(async ({ input: { run }, self, signal }) => {
    const code = codeContext(scope, { run, signal, self })
    const { answer } = run.going[routeActor] ?? {}
    try {
      if (definition.router && !answer) return { ended: 'asks', input: questionFor(scope, code), state: null }
      if (answer?.error) throw LadderError.from(answer.error)
      if (answer) {
        const { next, reasoning } = (answer.data ?? {}) as { next?: unknown; reasoning?: unknown }
        const said = typeof reasoning === 'string' ? { reasoning } : {}
        return { ended: 'completed', output: { ...decisionOf(scope, 'router', next, 'the router'), ...said } }
      }
      return { ended: 'completed', output: decisionOf(scope, 'route', await definition.route?.(code as never), 'route') }
    } catch (thrown) {
      return { ended: 'failed', error: supervisorError(thrown, `${definition.router ? 'the router' : 'route'} of '${definition.name}'`) }
    }
  }) as AnyActorLogic
}

const branch = (intent: CheckedIntent, scope: Scope): AnyActorLogic =>
  fromTask<BranchEnd, CodeInput>(async ({ input: { run }, self, signal }) => {
    const { answer } = run.going[intent.name] ?? {}
    try {
      const { code, own } = await readingOwn(intent, run, codeContext(scope, { run, signal, self }))
      if (intent.agent && !answer) {
        const input = intent.input ? await intent.input(code) : run.input
        return { ended: 'asks', input: await intent.agent.fit(input), state: null, ...handedDown(intent.agent, readBy(run.history, 'agents'), own) }
      }
      if (answer?.error) return { ended: 'failed', error: answer.error }
      return { ended: 'completed', output: answer ? answer.data : withoutUnsafe(await intent.run?.(code)) }
    } catch (thrown) {
      return { ended: 'failed', error: supervisorError(thrown, `the intent '${intent.name}'`) }
    }
  }) as AnyActorLogic

/** What an intent picks of what was said before comes in the place of what all agents are told. */
const readingOwn = async ({ name, history }: CheckedIntent, run: SupervisorRun, code: Code) => {
  if (!history || !run.history) return { code, own: undefined }
  const whole = run.history.whole ?? run.history.agents
  const own = checkedHistory(await history({ ...code, history: whole }), `history of '${name}'`)
  return { code: { ...code, history: own }, own }
}

const conclude = ({ definition: { name, output } }: Scope): AnyActorLogic =>
  fromTask<{ ended: 'completed'; data: unknown } | { ended: 'failed'; error: LadderErrorBody }, SupervisorRun>(async ({ input: { state } }) => {
    if (!output) return { ended: 'completed', data: state }
    try {
      return { ended: 'completed', data: await fitted(output, state, `the state of '${name}' at its end`) }
    } catch (thrown) {
      return { ended: 'failed', error: unfit(thrown, `'${name}'`) }
    }
  }) as AnyActorLogic
