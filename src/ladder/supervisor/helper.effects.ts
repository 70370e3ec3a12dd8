/** Who says what a request is before anybody is chosen, and who says a quick word beside that. */
import type { AnyActorLogic } from 'xstate'
import { readBy } from '../history.rules.ts'
import { fitted } from '../schema.ts'
import { codeOf, type Scope, supervisorError } from './code.effects.ts'
import { decisionOf, refusalOf } from './decision.rules.ts'
import type { CheckedHelper, Classified } from './definition.ts'
import { addition } from './merge.effects.ts'
import { classificationFor } from './router.rules.ts'
import { classifyActor } from './supervisor.chart.rules.ts'
import { ackWork, type BranchEnd, type Chosen, type Decision } from './supervisor.context.ts'

/** Whoever is not there, and whatever fails, ends the run. */
export const classify = (scope: Scope, { agent, run: say, input, refine }: CheckedHelper): AnyActorLogic =>
  codeOf<Chosen>(scope, classifyActor, async (run, codeFor) => {
    const code = { ...codeFor(run), history: readBy(run.history, 'router') }
    const { answer } = run.going[classifyActor] ?? {}
    try {
      if (answer?.error) throw refusalOf(scope, 'classifier', answer.error, 'the classifier')
      if (agent && !answer) return { ended: 'asks', input: await agent.fit(input ? await input(code) : classificationFor(scope, code)), state: null }
      const said = ((answer ? answer.data : await say?.(code)) ?? {}) as Classified
      const { reasoning, confidence } = said
      const kept = decisionOf(scope, 'classifier', said.intent, 'the classifier')
      const { decision, state } = refined(scope, kept, await refine?.(code, said))
      const facts = { ...(typeof reasoning === 'string' && { reasoning }), ...(typeof confidence === 'number' && { confidence }) }
      return { ended: 'completed', output: { ...decision, ...facts }, ...(state && { state }) }
    } catch (thrown) {
      return { ended: 'failed', error: supervisorError(thrown, `the classifier of '${scope.definition.name}'`) }
    }
  })

const refined = (scope: Scope, kept: Decision, wanted: unknown): { decision: Decision; state?: object } => {
  if (wanted === undefined || wanted === null) return { decision: kept }
  if (typeof wanted !== 'object' || Array.isArray(wanted)) return { decision: decisionOf(scope, 'classifier', wanted, 'refine') }
  const { intent, state } = wanted as { intent?: unknown; state?: object }
  const decision = intent === undefined ? kept : decisionOf(scope, 'classifier', intent, 'refine')
  const added = addition(state, `refine of '${scope.definition.name}'`)
  return { decision, ...(added && { state: added }) }
}

/** What it comes to is what it adds to the state. */
export const acknowledge = (scope: Scope, { agent, run: say, input, output }: CheckedHelper): AnyActorLogic =>
  codeOf<BranchEnd>(scope, ackWork, async (run, codeFor) => {
    const code = { ...codeFor(run), history: readBy(run.history, 'ack') }
    const { answer } = run.going[ackWork] ?? {}
    const checked = async (said: unknown) =>
      addition(
        output ? await fitted(output, said, 'what the acknowledgement adds to the state') : said,
        `the acknowledgement of '${scope.definition.name}'`,
      )
    try {
      if (answer?.error) return { ended: 'failed', error: answer.error }
      if (answer) return { ended: 'completed', output: output ? await checked(answer.data) : undefined }
      if (agent) return { ended: 'asks', input: await agent.fit(input ? await input(code) : run.input), state: null }
      return { ended: 'completed', output: await checked(await say?.(code)) }
    } catch (thrown) {
      return { ended: 'failed', error: supervisorError(thrown, `the acknowledgement of '${scope.definition.name}'`) }
    }
  })
