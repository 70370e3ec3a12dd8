/** A conversation whose old part becomes a summary, as an agent of LangChain with its middleware and a checkpointer in SQLite. */
import { SqliteSaver } from '@langchain/langgraph-checkpoint-sqlite'
import { createAgent, summarizationMiddleware } from 'langchain'
import { folder, main } from '../world.mjs'
import { model } from './model.mjs'

const desk = createAgent({
  model: model('chat'),
  tools: [],
  systemPrompt: 'You help customers.',
  middleware: [summarizationMiddleware({ model: model('summarizer'), trigger: { messages: 7 }, keep: { messages: 5 } })],
  checkpointer: SqliteSaver.fromConnString(`${folder}/checkpoints.db`),
})
const config = { configurable: { thread_id: 's-1' }, durability: 'sync' }

const talk = async (from) => {
  let data
  for (let turn = from; turn <= 8; turn++)
    data = (await desk.invoke({ messages: [{ role: 'user', content: `message ${turn}` }] }, config)).messages.at(-1).text
  return { state: 'done', data }
}

await main({
  begin: () => talk(1),
  // Nothing in the library looks for runs that were cut off.
  boot: async () => undefined,
  // Whoever knows the thread goes on with the turn that was cut off, and then with the others.
  async resume(turn) {
    await desk.invoke(null, config)
    return talk(Number(turn) + 1)
  },
})
