/** A conversation whose old part becomes observations, as a durable agent of Mastra with its memory in a libSQL file. */
import { Mastra } from '@mastra/core'
import { Agent } from '@mastra/core/agent'
import { createDurableAgent } from '@mastra/core/agent/durable'
import { LibSQLStore } from '@mastra/libsql'
import { Memory } from '@mastra/memory'
import { folder, main } from '../world.mjs'
import { model } from './model.mjs'

const storage = new LibSQLStore({ id: 'desk', url: `file:${folder}/mastra.db` })
const agent = new Agent({
  id: 'desk',
  name: 'desk',
  instructions: 'You help customers.',
  model: model('chat'),
  memory: new Memory({
    storage,
    options: {
      lastMessages: 20,
      observationalMemory: { model: model('observer'), observation: { messageTokens: 40, bufferTokens: false } },
    },
  }),
})
const desk = createDurableAgent({ agent })
const mastra = new Mastra({ agents: { desk }, storage, logger: false, recovery: { durableAgents: 'auto' } })

const talk = async (from) => {
  let data
  for (let turn = from; turn <= 8; turn++) {
    const { output, cleanup } = await desk.stream(`message ${turn}`, { memory: { thread: 's-1', resource: 'ann' } })
    data = await output.text
    cleanup()
  }
  return { state: 'done', data }
}

await main({
  begin: () => talk(1),
  // What the server of Mastra does when it starts.
  async boot() {
    const { succeeded } = await mastra.recoverAllDurableAgents()
    return succeeded > 0 ? { state: 'done' } : undefined
  },
  // Whoever has got no answer says it again.
  resume: (turn) => talk(Number(turn)),
})
