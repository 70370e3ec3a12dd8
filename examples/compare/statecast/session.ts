/** A conversation whose old part becomes a summary, as an orchestrator of Statecast. What was said is its caller's, here in a file. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { z } from 'zod'
import { createRuntime } from '../../../src/index.ts'
import { agent, type HistoryMessage, ladder, orchestrator } from '../../../src/ladder.ts'
import { folder, main } from '../world.mjs'
import { models } from './models.ts'

const desk = orchestrator({
  name: 'desk',
  state: { answer: '' },
  intents: {
    chat: {
      agent: agent({ name: 'chat', model: 'fake/chat', instructions: 'You help customers.' }),
      output: z.string().transform((answer) => ({ answer })),
    },
  },
  route: () => 'chat',
  summarize: { keep: 4, summarizer: 'fake/summarizer' },
})

const open = () => createRuntime({ transport: `embedded:${folder}/store`, extensions: [ladder({ executables: [desk] })], models })

const file = `${folder}/history.json`
let history: readonly HistoryMessage[] = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : []
const keep = (messages: readonly HistoryMessage[]) => {
  history = messages
  writeFileSync(file, JSON.stringify(messages))
}
const answered = (turn: number, content = '') => {
  keep([...history, { role: 'user', content: `message ${turn}` }, { role: 'assistant', content }])
  return content
}

const talk = async (from: number) => {
  let data: string | undefined
  for (let turn = from; turn <= 8; turn++) {
    data = answered(turn, (await desk.execute(`message ${turn}`, { sessionId: 's-1', history })).data?.answer)
    const compaction = history.length < 7 ? null : await desk.command('compact', { sessionId: 's-1', history })
    if (compaction) keep([compaction.summary, ...history.slice(compaction.replacesToIndex + 1)])
  }
  return { state: 'done', data }
}

await main({
  async begin() {
    await open()
    return talk(1)
  },
  // The turn that was cut off goes on as soon as the runtime is there; its answer is waited for, and kept.
  async boot() {
    await open()
    const result = await desk.resume('s-1')
    return result ? { state: 'done', data: answered(result.turnIndex + 1, result.data?.answer) } : undefined
  },
  async resume(turn) {
    await open()
    return talk(Number(turn))
  },
})
