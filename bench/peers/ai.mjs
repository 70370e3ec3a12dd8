/** AI SDK: a ToolLoopAgent; the caller keeps the messages of a conversation. */
import { tool as defineTool, isStepCount, ToolLoopAgent } from 'ai'
import { z } from 'zod'

const usage = {
  inputTokens: { total: 10, noCache: 10, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 100, text: 100, reasoning: 0 },
}

/** Each part when it is asked for. */
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

export const open = ({ deltas, delta, tool }) => {
  const end = (unified) => ({ type: 'finish', finishReason: { unified, raw: unified }, usage })
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
  // A bare object: the mock of the library keeps every call that it gets.
  const model = {
    specificationVersion: 'v4',
    provider: 'bench',
    modelId: 'instant',
    supportedUrls: {},
    doStream: async ({ prompt }) => ({ stream: streamOf(parts(prompt)) }),
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
