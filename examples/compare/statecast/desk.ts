/** A desk where three specialists are asked at once, as a supervisor of Statecast. */
import { z } from 'zod'
import { createRuntime } from '../../../src/index.ts'
import { agent, END, ladder, router, supervisor } from '../../../src/ladder.ts'
import { folder, main } from '../world.mjs'
import { models } from './models.ts'

const specialist = (name: string) => ({
  agent: agent({ name, model: `fake/${name}`, instructions: `You know all about ${name}.` }),
  description: `knows all about ${name}`,
  output: z.string().transform((text) => ({ [name]: text })),
  next: 'write' as const,
})

const state: Record<string, string> = {}
const desk = supervisor({
  name: 'desk',
  input: z.string(),
  state,
  router: router({ model: 'fake/router', intents: ['billing', 'stock', 'law'] }),
  intents: {
    billing: specialist('billing'),
    stock: specialist('stock'),
    law: specialist('law'),
    write: {
      agent: agent({ name: 'writer', model: 'fake/writer', instructions: 'Put together what the specialists say.' }),
      description: 'puts the answer together',
      input: ({ state }) => JSON.stringify(state),
      output: z.string().transform((answer) => ({ answer })),
      next: END,
    },
  },
})

const open = () => createRuntime({ transport: `embedded:${folder}/store`, extensions: [ladder({ executables: [desk] })], models })

await main({
  async begin() {
    await open()
    const { data, error } = await desk.execute('May I return the lamp?', { runId: 'q-1' })
    if (error) throw error
    return { state: 'done', data: data?.answer }
  },
  // What was under way goes on as soon as the runtime is there.
  async boot() {
    await open()
    return { state: 'done', data: (await desk.resume('q-1')).data?.answer }
  },
})
