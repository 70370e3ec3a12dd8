/** The author's code of an agent as actors: what a model is told, and whether its answer is what it has to be. */
import type { AnyActorLogic } from 'xstate'
import { fromTask } from '../../index.ts'
import { callerOf } from '../run.rules.ts'
import { fitted, jsonIn, jsonSchemaOf, unfit } from '../schema.ts'
import type { AgentRun, Told } from './agent.context.ts'
import type { Verdict } from './compile.rules.ts'
import type { CheckedAgent } from './definition.ts'

/** What a caller brought along for a run of this process. */
type CallerContext = (runId: string) => Readonly<Record<string, unknown>>

export const promptLogic = ({ prompt, output, prices }: CheckedAgent, contextOf: CallerContext): AnyActorLogic => {
  const told = output && answerIn(jsonSchemaOf(output))
  return fromTask<Told, AgentRun>(async ({ input: run }) => {
    const { input } = run
    const text = prompt ? await prompt(input, { context: contextOf(callerOf(run)) }) : typeof input === 'string' ? input : JSON.stringify(input)
    if (typeof text !== 'string' || text === '') throw new Error('it gave no text to ask the model with')
    return { text, ...(told !== undefined && { intro: told }), ...(prices && { prices }) }
  }) as AnyActorLogic
}

const answerIn = (schema: unknown): string =>
  schema === undefined
    ? 'Answer with JSON and nothing else.'
    : `Answer with JSON and nothing else, no fence around it. It has to fit this JSON Schema:\n${JSON.stringify(schema)}`

export const checkLogic = ({ name, output }: CheckedAgent): AnyActorLogic =>
  fromTask<Verdict, AgentRun>(async ({ input: { text = '' } }) => {
    try {
      return { data: output ? await fitted(output, jsonIn(text), `the answer of '${name}'`) : text }
    } catch (thrown) {
      return { error: unfit(thrown, `'${name}'`) }
    }
  }) as AnyActorLogic
