/** pi-agent-core: one Agent per conversation, its history in memory. */
import { Agent } from '@mariozechner/pi-agent-core'
import { createAssistantMessageEventStream, Type } from '@mariozechner/pi-ai'

const nothing = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 }
const model = {
  id: 'instant',
  name: 'instant',
  api: 'instant',
  provider: 'bench',
  baseUrl: '',
  reasoning: false,
  input: ['text'],
  cost: nothing,
  contextWindow: 1_000_000,
  maxTokens: 10_000,
}

const textOf = ({ content }) => (typeof content === 'string' ? content : content.map((part) => part.text ?? '').join(''))

export const open = ({ deltas, delta, tool }) => {
  const play = async (stream, { messages }) => {
    const newest = messages.at(-1)
    const partial = {
      role: 'assistant',
      content: [],
      api: model.api,
      provider: model.provider,
      model: model.id,
      usage: { ...nothing, totalTokens: 0, cost: { ...nothing, total: 0 } },
      stopReason: 'stop',
      timestamp: Date.now(),
    }
    stream.push({ type: 'start', partial })
    if (newest.role === 'user' && textOf(newest) === 'tool') {
      const toolCall = { type: 'toolCall', id: `call-${messages.length}`, name: tool.name, arguments: { ...tool.input } }
      partial.content.push(toolCall)
      partial.stopReason = 'toolUse'
      stream.push({ type: 'toolcall_start', contentIndex: 0, partial })
      stream.push({ type: 'toolcall_end', contentIndex: 0, toolCall, partial })
      stream.push({ type: 'done', reason: 'toolUse', message: partial })
      return
    }
    const block = { type: 'text', text: '' }
    partial.content.push(block)
    stream.push({ type: 'text_start', contentIndex: 0, partial })
    for (let index = 0; index < deltas; index++) {
      await Promise.resolve()
      block.text += delta
      stream.push({ type: 'text_delta', contentIndex: 0, delta, partial })
    }
    stream.push({ type: 'text_end', contentIndex: 0, content: block.text, partial })
    stream.push({ type: 'done', reason: 'stop', message: partial })
  }
  const streamFn = (_, context) => {
    const stream = createAssistantMessageEventStream()
    void play(stream, context)
    return stream
  }
  const weather = {
    name: tool.name,
    label: tool.name,
    description: tool.description,
    parameters: Type.Object({ city: Type.String() }),
    execute: async () => ({ content: [{ type: 'text', text: tool.output }], details: {} }),
  }
  return {
    talk: () => {
      const agent = new Agent({ initialState: { systemPrompt: '', model, tools: [weather], thinkingLevel: 'off' }, streamFn })
      let listener = () => undefined
      agent.subscribe((event) => {
        if (event.type === 'message_update' && event.assistantMessageEvent.type === 'text_delta') listener(event.assistantMessageEvent.delta)
      })
      return {
        async say(message, heard) {
          listener = heard
          await agent.prompt(message)
          const answer = agent.state.messages.at(-1)
          if (answer.role !== 'assistant' || answer.errorMessage) throw new Error(answer.errorMessage ?? `ended with a ${answer.role} message`)
          return textOf(answer)
        },
      }
    },
  }
}
