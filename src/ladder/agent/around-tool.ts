/** The tools of an agent within its middleware: a part of the call, so that approvals, attempts and time limits are those of the tool. */
import { tool as makeTool, type Tool } from '../../index.ts'
import { LadderError, wordsOf } from '../errors.ts'
import type { AnyMiddleware, AroundTool } from './middleware.ts'
import { down, type Outcome, up } from './onion.ts'

/** One that stands for an executable is as it was: it has middleware of its own. */
export const toolWithin = (agent: string, middleware: readonly AnyMiddleware[], tool: Tool): Tool => {
  const layers = middleware.flatMap(({ name, tool: layer }) => (layer ? [{ name, layer }] : []))
  if (layers.length === 0 || tool.delegated) return tool
  const { jsonSchema: _, ...own } = tool
  return makeTool({
    ...own,
    execute: async (input: unknown, more: Parameters<Tool['execute']>[1]) => {
      const { callId, attempt, signal } = more
      const context: AroundTool = { callId, attempt, signal, tool: tool.name, agent, input }
      const entered = layers.map((one) => ({ ...one, context }))
      let wanted = input
      let thrown: { error: unknown } | undefined
      const call = async (): Promise<Outcome<unknown>> => {
        try {
          return { result: await tool.execute(wanted, more) }
        } catch (error) {
          thrown = { error }
          const made = new LadderError('TOOL_EXEC_FAILED', `the tool '${tool.name}' failed: ${wordsOf(error)}`, {
            cause: error,
            context: { tool: tool.name },
          })
          return { error: made.toJSON() }
        }
      }
      const said = await down(entered, ({ input: other }) => {
        if (other !== undefined) wanted = other
      })
      const outcome = said ?? (await up(entered, await call()))
      if ('result' in outcome) return outcome.result
      // What the tool itself has thrown says whether it is worth another attempt.
      throw thrown && outcome.error.code === 'TOOL_EXEC_FAILED' ? thrown.error : LadderError.from(outcome.error)
    },
  }) as Tool
}
