/** OpenAI Agents SDK: a runner with a session in memory. */
import { Agent, tool as defineTool, MemorySession, Runner, setTracingDisabled } from '@openai/agents'
import { z } from 'zod'

const textOf = ({ content }) => (typeof content === 'string' ? content : content.map((part) => part.text ?? '').join(''))

export const open = ({ deltas, delta, tool }) => {
  setTracingDisabled(true)
  let calls = 0
  const done = (output) => ({
    type: 'response_done',
    response: { id: `response-${++calls}`, usage: { requests: 1, inputTokens: 10, outputTokens: 100, totalTokens: 110 }, output },
  })
  const model = {
    getResponse: () => Promise.reject(new Error('only streams')),
    async *getStreamedResponse({ input }) {
      const newest = typeof input === 'string' ? { role: 'user', content: input } : input.at(-1)
      yield { type: 'response_started' }
      if (newest.role === 'user' && textOf(newest) === 'tool') {
        const id = `call-${calls}`
        yield done([{ type: 'function_call', id, callId: id, name: tool.name, status: 'completed', arguments: JSON.stringify(tool.input) }])
        return
      }
      for (let index = 0; index < deltas; index++) yield { type: 'output_text_delta', delta }
      const content = [{ type: 'output_text', text: delta.repeat(deltas) }]
      yield done([{ type: 'message', id: `message-${calls}`, role: 'assistant', status: 'completed', content }])
    },
  }
  const weather = defineTool({
    name: tool.name,
    description: tool.description,
    parameters: z.object({ city: z.string() }),
    execute: async () => tool.output,
  })
  const agent = new Agent({ name: 'main', model, tools: [weather] })
  const runner = new Runner({ tracingDisabled: true, modelProvider: { getModel: () => model } })
  return {
    talk: () => {
      const session = new MemorySession()
      return {
        async say(message, heard) {
          const result = await runner.run(agent, message, { stream: true, session })
          for await (const event of result)
            if (event.type === 'raw_model_stream_event' && event.data.type === 'output_text_delta') heard(event.data.delta)
          await result.completed
          return result.finalOutput
        },
      }
    },
  }
}
