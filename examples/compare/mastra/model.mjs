/** The fake models of Mastra. */
import { answer } from '../world.mjs'

const textOf = (content) => (typeof content === 'string' ? content : content.map((part) => part.text ?? '').join(''))
const usage = { inputTokens: 10, outputTokens: 10, totalTokens: 20 }

export const model = (job) => {
  const say = ({ prompt }) =>
    answer(
      job,
      prompt.map(({ role, content }) => ({ role, text: textOf(content) })),
    )
  return {
    specificationVersion: 'v2',
    provider: 'fake',
    modelId: job,
    supportedUrls: {},
    doGenerate: async (options) => ({ content: [{ type: 'text', text: await say(options) }], finishReason: 'stop', usage, warnings: [] }),
    doStream: async (options) => {
      const text = await say(options)
      const parts = [
        { type: 'stream-start', warnings: [] },
        { type: 'text-start', id: 'text' },
        { type: 'text-delta', id: 'text', delta: text },
        { type: 'text-end', id: 'text' },
        { type: 'finish', finishReason: 'stop', usage },
      ]
      return { stream: ReadableStream.from(parts) }
    },
  }
}
