/** AI SDK: a ToolLoopAgent; the caller keeps the messages of a conversation. */
import { tool as defineTool, isStepCount, ToolLoopAgent } from 'ai'
import { z } from 'zod'
import { instantStream } from './instant-stream.mjs'

const usage = {
  inputTokens: { total: 10, noCache: 10, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 100, text: 100, reasoning: 0 },
}

const finish = (unified) => ({ type: 'finish', finishReason: { unified, raw: unified }, usage })

export const open = (script) => {
  const { tool } = script
  // A bare object: the mock of the library keeps every call that it gets.
  const model = {
    specificationVersion: 'v4',
    provider: 'bench',
    modelId: 'instant',
    supportedUrls: {},
    doStream: instantStream(script, finish),
  }
  const weather = defineTool({ description: tool.description, inputSchema: z.object({ city: z.string() }), execute: async () => tool.output })
  const agent = new ToolLoopAgent({ model, tools: { [tool.name]: weather }, stopWhen: isStepCount(5) })
  return {
    talk: () => {
      const messages = []
      return {
        async say(message, heard) {
          messages.push({ role: 'user', content: message })
          const result = await agent.stream({ messages })
          for await (const part of result.fullStream) {
            if (part.type === 'text-delta') heard(part.text)
            else if (part.type === 'error') throw part.error
          }
          const { messages: said } = await result.response
          messages.push(...said)
          return await result.text
        },
      }
    },
  }
}
