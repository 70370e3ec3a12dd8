/** A desk where three specialists are asked at once, as a workflow of Mastra with its snapshots in a libSQL file. */
import { Mastra } from '@mastra/core'
import { Agent } from '@mastra/core/agent'
import { createStep, createWorkflow } from '@mastra/core/workflows'
import { LibSQLStore } from '@mastra/libsql'
import { z } from 'zod'
import { folder, main } from '../world.mjs'
import { model } from './model.mjs'

const agentOf = (id, instructions) => new Agent({ id, name: id, instructions, model: model(id) })
const agents = {
  router: agentOf('router', 'Choose from billing, stock, law.'),
  billing: agentOf('billing', 'You know all about billing.'),
  stock: agentOf('stock', 'You know all about stock.'),
  law: agentOf('law', 'You know all about law.'),
  writer: agentOf('writer', 'Put together what the specialists say.'),
}
const Asked = z.object({ name: z.string(), question: z.string() })
const Said = z.object({ name: z.string(), text: z.string() })

const route = createStep({
  id: 'route',
  inputSchema: z.object({ question: z.string() }),
  outputSchema: z.array(Asked),
  execute: async ({ inputData: { question } }) => {
    const { text } = await agents.router.generate(question)
    return JSON.parse(text).next.map((name) => ({ name, question }))
  },
})
const specialist = createStep({
  id: 'specialist',
  inputSchema: Asked,
  outputSchema: Said,
  execute: async ({ inputData: { name, question } }) => ({ name, text: (await agents[name].generate(question)).text }),
})
const write = createStep({
  id: 'write',
  inputSchema: z.array(Said),
  outputSchema: z.string(),
  execute: async ({ inputData }) => (await agents.writer.generate(JSON.stringify(inputData))).text,
})
const desk = createWorkflow({ id: 'desk', inputSchema: z.object({ question: z.string() }), outputSchema: z.string() })
  .then(route)
  .foreach(specialist, { concurrency: 3 })
  .then(write)
  .commit()

const storage = new LibSQLStore({ id: 'desk', url: `file:${folder}/mastra.db` })
const mastra = new Mastra({ agents, workflows: { desk }, logger: false, storage })
const flow = mastra.getWorkflow('desk')
const run = async (go) => {
  const end = await go(await flow.createRun({ runId: 'q-1' }))
  return { state: end.status === 'success' ? 'done' : end.status, data: end.result ?? end.error?.message }
}

await main({
  begin: () => run((one) => one.start({ inputData: { question: 'May I return the lamp?' } })),
  // What the server of Mastra does when it starts.
  async boot() {
    await mastra.restartAllActiveWorkflowRuns()
    const { status, result } = (await flow.getWorkflowRunById('q-1')) ?? {}
    return status === 'success' ? { state: 'done', data: result } : undefined
  },
  resume: () => run((one) => one.restart()),
})
