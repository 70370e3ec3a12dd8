/** Mastra: an agent without memory, whose caller keeps the messages, or with its memory in a libSQL file. */
import { join } from 'node:path'
import { Agent } from '@mastra/core/agent'
import { createTool } from '@mastra/core/tools'
import { LibSQLStore } from '@mastra/libsql'
import { Memory } from '@mastra/memory'
import { z } from 'zod'

const usage = { inputTokens: 10, outputTokens: 100, totalTokens: 110 }

const streamOf = (parts) => {
  const rest = parts[Symbol.iterator]()
  return new ReadableStream(
    {
      pull(controller) {
        const { done, value } = rest.next()
        if (done) controller.close()
        else controller.enqueue(value)
      },
    },
    { highWaterMark: 0 },
  )
}

const textOf = ({ content }) => (typeof content === 'string' ? content : content.map((part) => part.text ?? '').join(''))

/** @param variant none or libsql */
export const open = ({ deltas, delta, tool }, { variant, folder }) => {
  const end = (finishReason) => ({ type: 'finish', finishReason, usage })
  function* parts(prompt) {
    const newest = prompt.at(-1)
    yield { type: 'stream-start', warnings: [] }
    if (newest.role === 'user' && textOf(newest) === 'tool') {
      yield { type: 'tool-call', toolCallId: `call-${prompt.length}`, toolName: tool.name, input: JSON.stringify(tool.input) }
      yield end('tool-calls')
      return
    }
    yield { type: 'text-start', id: 'text' }
    for (let index = 0; index < deltas; index++) yield { type: 'text-delta', id: 'text', delta }
    yield { type: 'text-end', id: 'text' }
    yield end('stop')
  }
  const model = {
    specificationVersion: 'v2',
    provider: 'bench',
    modelId: 'instant',
    supportedUrls: {},
    doGenerate: () => Promise.reject(new Error('only streams')),
    doStream: async ({ prompt }) => ({ stream: streamOf(parts(prompt)) }),
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
