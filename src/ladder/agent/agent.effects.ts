/** The author's code of an agent as actors: what a model is told, and whether its answer is what it has to be. */
import type { AnyActorLogic } from 'xstate'
import { fromTask } from '../../index.ts'
import { fitted, jsonIn, jsonSchemaOf, unfit } from '../schema.ts'
import type { AgentRun, Told } from './agent.context.ts'
import type { Verdict } from './compile.rules.ts'
import type { CheckedAgent } from './definition.ts'

/** What a caller brought along for a run of this process. */
type CallerContext = (runId: string) => Readonly<Record<string, unknown>>

export const promptLogic = ({ input: schema, prompt, output, prices }: CheckedAgent, contextOf: CallerContext): AnyActorLogic => {
  const told = output && answerIn(jsonSchemaOf(output))
  return fromTask<Told, AgentRun>(async ({ input: { runId, input: own, inside, around } }) => {
    // What the run was given has been looked at; what middleware puts in its place has not.
    const given = around?.given
    const input = given ? (schema ? await fitted(schema, given.input, 'what middleware gives') : given.input) : own
    const text = prompt
      ? await prompt(input, { context: contextOf(inside?.rootRunId ?? runId) })
      : typeof input === 'string'
        ? input
        : JSON.stringify(input)
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
