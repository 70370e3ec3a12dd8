/** The author's code of an agent as actors: what a model is told, and whether its answer is what it has to be. */
import type { AnyActorLogic } from 'xstate'
import { fromTask } from '../../index.ts'
import { callerOf } from '../run.rules.ts'
import { fitted, isLenient, jsonSchemaOf, lenient, readAnswer, type Schema, schemaOfJson, unfit } from '../schema.ts'
import type { AgentRun, Told } from './agent.context.ts'
import type { Verdict } from './compile.rules.ts'
import type { CheckedAgent } from './definition.ts'

/** What a caller brought along for a run of this process. */
type CallerContext = (runId: string) => Readonly<Record<string, unknown>>

export const promptLogic = ({ input: schema, prompt, output, prices }: CheckedAgent, contextOf: CallerContext): AnyActorLogic => {
  const told = output && { intro: answerIn(jsonSchemaOf(output)), ...(!isLenient(output) && formatOf(jsonSchemaOf(output))) }
  return fromTask<Told, AgentRun>(async ({ input: run }) => {
    const { input: own, asked, around } = run
    // Code around the run may have put another one in its place.
    const input = around?.given ? (schema ? await fitted(schema, around.given.input, 'its input') : around.given.input) : own
    const text = prompt ? await prompt(input, { context: contextOf(callerOf(run)) }) : typeof input === 'string' ? input : JSON.stringify(input)
    if (typeof text !== 'string' || text === '') throw new Error('it gave no text to ask the model with')
    const wanted = asked ? { intro: answerIn(asked.schema), ...(!asked.isLenient && formatOf(asked.schema)) } : told
    return { text, ...wanted, ...(prices && { prices }) }
  }) as AnyActorLogic
}

const answerIn = (schema: unknown): string =>
  schema === undefined
    ? 'Answer with JSON and nothing else.'
    : `Answer with JSON and nothing else, no fence around it. It has to fit this JSON Schema:\n${JSON.stringify(schema)}`

/** The mode of the provider takes objects only. The words stay: not every model has the mode. */
const formatOf = (schema: unknown): Pick<Told, 'format'> =>
  typeof schema === 'object' && schema !== null && 'type' in schema && schema.type === 'object' ? { format: { schema, isTold: true } } : {}

/** @param schemaOf what the caller of a run of this process has asked for */
export const checkLogic = ({ name, output }: CheckedAgent, schemaOf: (runId: string) => Schema | undefined): AnyActorLogic =>
  fromTask<Verdict, AgentRun>(async ({ input: { runId, text = '', asked } }) => {
    try {
      if (!asked) return { data: output ? (await readAnswer(output, text, `the answer of '${name}'`)).value : text }
      // The same in every process: whoever asked makes of it what its schema does.
      const schema = schemaOf(runId) ?? (asked.isLenient ? lenient(schemaOfJson(asked.schema)) : schemaOfJson(asked.schema))
      return { data: (await readAnswer(schema, text, `the answer of '${name}'`)).json }
    } catch (thrown) {
      return { error: unfit(thrown, `'${name}'`) }
    }
  }) as AnyActorLogic
