/** The fake models of LangGraph. */
import { BaseChatModel } from '@langchain/core/language_models/chat_models'
import { AIMessage } from '@langchain/core/messages'
import { answer } from '../world.mjs'

const roles = { human: 'user', ai: 'assistant' }

class Fake extends BaseChatModel {
  constructor(job) {
    super({})
    this.job = job
  }
  _llmType() {
    return 'fake'
  }
  bindTools() {
    return this
  }
  async _generate(messages) {
    const text = await answer(
      this.job,
      messages.map((one) => ({ role: roles[one.getType()] ?? one.getType(), text: one.text })),
    )
    return { generations: [{ text, message: new AIMessage(text) }] }
  }
}

export const model = (job) => new Fake(job)
