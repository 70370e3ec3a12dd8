/** LangGraph.js: its prebuilt agent, with a checkpointer in memory or in SQLite. */
import { join } from 'node:path'
import { BaseChatModel } from '@langchain/core/language_models/chat_models'
import { AIMessageChunk } from '@langchain/core/messages'
import { ChatGenerationChunk } from '@langchain/core/outputs'
import { tool as defineTool } from '@langchain/core/tools'
import { MemorySaver } from '@langchain/langgraph'
import { createReactAgent } from '@langchain/langgraph/prebuilt'
import { SqliteSaver } from '@langchain/langgraph-checkpoint-sqlite'
import { z } from 'zod'

/** @param variant memory, sqlite: as it comes, or sqlite-sync: each checkpoint written before the next step */
export const open = ({ deltas, delta, tool }, { variant, folder }) => {
  class Instant extends BaseChatModel {
    _llmType() {
      return 'instant'
    }
    bindTools() {
      return this
    }
    async _generate() {
      throw new Error('only streams')
    }
    async *_streamResponseChunks(messages, _options, manager) {
      const newest = messages.at(-1)
      if (newest.getType() === 'human' && newest.content === 'tool') {
        const call = { type: 'tool_call_chunk', index: 0, id: `call-${messages.length}`, name: tool.name, args: JSON.stringify(tool.input) }
        yield new ChatGenerationChunk({ text: '', message: new AIMessageChunk({ content: '', tool_call_chunks: [call] }) })
        return
      }
      for (let index = 0; index < deltas; index++) {
        const chunk = new ChatGenerationChunk({ text: delta, message: new AIMessageChunk({ content: delta }) })
        yield chunk
        await manager?.handleLLMNewToken(delta, undefined, undefined, undefined, undefined, { chunk })
      }
    }
  }
  const file = join(folder, 'checkpoints.db')
  const checkpointer = variant === 'memory' ? new MemorySaver() : SqliteSaver.fromConnString(file)
  const weather = defineTool(async () => tool.output, {
    name: tool.name,
    description: tool.description,
    schema: z.object({ city: z.string() }),
  })
  const agent = createReactAgent({ llm: new Instant({}), tools: [weather], checkpointSaver: checkpointer })
  const durability = variant === 'sqlite-sync' ? { durability: 'sync' } : {}
  let threads = 0
  return {
    talk: () => {
      const configurable = { thread_id: `talk-${threads++}` }
      return {
        async say(message, heard) {
          let answer = ''
          const stream = await agent.stream(
            { messages: [{ role: 'user', content: message }] },
            { streamMode: ['messages'], configurable, ...durability },
          )
          for await (const [, [part]] of stream) {
            if (part.getType() !== 'ai' || part.content === '') continue
            answer += part.content
            heard(part.content)
          }
          return answer
        },
      }
    },
  }
}
