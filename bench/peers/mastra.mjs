/** Mastra: an agent without memory, whose caller keeps the messages, or with its memory in a libSQL file. */
import { join } from 'node:path'
import { Agent } from '@mastra/core/agent'
import { createTool } from '@mastra/core/tools'
import { LibSQLStore } from '@mastra/libsql'
import { Memory } from '@mastra/memory'
import { z } from 'zod'
import { instantStream } from './instant-stream.mjs'

const usage = { inputTokens: 10, outputTokens: 100, totalTokens: 110 }

const finish = (finishReason) => ({ type: 'finish', finishReason, usage })

/** @param variant none or libsql */
export const open = (script, { variant, folder }) => {
  const { tool } = script
  const model = {
    specificationVersion: 'v2',
    provider: 'bench',
    modelId: 'instant',
    supportedUrls: {},
    doGenerate: () => Promise.reject(new Error('only streams')),
    doStream: instantStream(script, finish),
  }
  const weather = createTool({
    id: tool.name,
    description: tool.description,
    inputSchema: z.object({ city: z.string() }),
    execute: async () => tool.output,
  })
  const storage = variant === 'libsql' ? new LibSQLStore({ id: 'bench', url: `file:${join(folder, 'mastra.db')}` }) : undefined
  const memory = storage && new Memory({ storage, options: { lastMessages: 1000, semanticRecall: false } })
  const agent = new Agent({ id: 'main', name: 'main', instructions: 'answer', model, tools: { [tool.name]: weather }, ...(memory ? { memory } : {}) })
  let threads = 0
  return {
    talk: () => {
      const thread = `talk-${threads++}`
      const kept = []
      return {
        async say(message, heard) {
          kept.push({ role: 'user', content: message })
          const options = { maxSteps: 5, ...(memory ? { memory: { thread, resource: 'bench' } } : {}) }
          const { fullStream } = await agent.stream(memory ? message : kept, options)
          let answer = ''
          for await (const part of fullStream) {
            if (part.type === 'error') throw part.payload.error
            if (part.type !== 'text-delta') continue
            answer += part.payload.text
            heard(part.payload.text)
          }
          kept.push({ role: 'assistant', content: answer })
          return answer
        },
      }
    },
  }
}
