/** An order, as a workflow of Mastra with its snapshots in a libSQL file. */
import { Mastra } from '@mastra/core'
import { createStep, createWorkflow } from '@mastra/core/workflows'
import { LibSQLStore } from '@mastra/libsql'
import { z } from 'zod'
import { folder, main, shop } from '../world.mjs'

const Order = z.object({ id: z.string(), item: z.string(), price: z.number() })

const fetchOrder = createStep({
  id: 'fetch',
  inputSchema: z.object({ id: z.string() }),
  outputSchema: Order,
  execute: ({ inputData }) => shop.fetch(inputData.id),
})
const checkStock = createStep({
  id: 'stock',
  inputSchema: Order,
  outputSchema: z.string(),
  execute: ({ inputData }) => shop.checkStock(inputData),
})
const checkFraud = createStep({
  id: 'fraud',
  inputSchema: Order,
  outputSchema: z.string(),
  execute: ({ inputData }) => shop.checkFraud(inputData),
})
const charge = createStep({
  id: 'charge',
  inputSchema: z.object({ stock: z.string(), fraud: z.string() }),
  outputSchema: z.string(),
  retries: 2,
  execute: ({ getStepResult, runId }) => shop.charge(getStepResult(fetchOrder), `${runId}/charge`),
})
const approval = createStep({
  id: 'approval',
  inputSchema: z.string(),
  outputSchema: z.object({ by: z.string() }),
  resumeSchema: z.object({ by: z.string() }),
  execute: async ({ resumeData, suspend }) => resumeData ?? suspend({}),
})
const ship = createStep({
  id: 'ship',
  inputSchema: z.object({ by: z.string() }),
  outputSchema: z.string(),
  execute: ({ getStepResult, runId }) => shop.ship(getStepResult(fetchOrder), `${runId}/ship`),
})
const order = createWorkflow({ id: 'order', inputSchema: z.object({ id: z.string() }), outputSchema: z.string(), retryConfig: { delay: 50 } })
  .then(fetchOrder)
  .parallel([checkStock, checkFraud])
  .then(charge)
  .sleep(200)
  .then(approval)
  .then(ship)
  .commit()

const mastra = new Mastra({ workflows: { order }, logger: false, storage: new LibSQLStore({ id: 'order', url: `file:${folder}/mastra.db` }) })
const flow = mastra.getWorkflow('order')
const run = async (go) => {
  const end = await go(await flow.createRun({ runId: 'o-17' }))
  if (end.status === 'suspended') return { state: 'waiting' }
  return { state: end.status === 'success' ? 'done' : end.status, data: end.result ?? end.error?.message }
}

await main({
  begin: () => run((one) => one.start({ inputData: { id: 'o-17' } })),
  // What the server of Mastra does when it starts.
  async boot() {
    await mastra.restartAllActiveWorkflowRuns()
    const { status, result } = (await flow.getWorkflowRunById('o-17')) ?? {}
    if (status === 'suspended') return { state: 'waiting' }
    return status === 'success' ? { state: 'done', data: result } : undefined
  },
  resume: () => run((one) => one.restart()),
  approve: () => run((one) => one.resume({ step: 'approval', resumeData: { by: 'ann' } })),
})
