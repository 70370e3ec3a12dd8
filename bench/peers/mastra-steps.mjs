/** Mastra: a chain of steps, and parallel ones, with snapshots in a libSQL file. */
import { join } from 'node:path'
import { Mastra } from '@mastra/core'
import { Agent } from '@mastra/core/agent'
import { createStep, createWorkflow } from '@mastra/core/workflows'
import { LibSQLStore } from '@mastra/libsql'
import { Memory } from '@mastra/memory'
import { z } from 'zod'
import { instantStream } from './instant-stream.mjs'

const usage = { inputTokens: 10, outputTokens: 10, totalTokens: 20 }

export const open = async ({ steps: sizes, fan, history }, { folder }) => {
  let heard = () => undefined
  const count = z.object({ count: z.number(), output: z.string().optional() })
  const stepOf = (step) =>
    createStep({
      id: `step-${step}`,
      inputSchema: count,
      outputSchema: count,
      execute: async ({ inputData }) => {
        heard()
        return { count: inputData.count + 1, output: `step ${step} is done` }
      },
    })
  const chainOf = (length) => {
    let flow = createWorkflow({ id: `steps-${length}`, inputSchema: count, outputSchema: count })
    for (let step = 0; step < length; step++) flow = flow.then(stepOf(step))
    return flow.commit()
  }
  const specialistOf = (index) =>
    createStep({
      id: `specialist-${index}`,
      inputSchema: z.object({}),
      outputSchema: z.object({ said: z.string() }),
      execute: async () => ({ said: `specialist-${index} has looked at it` }),
    })
  const specialists = Array.from({ length: fan }, (_, index) => specialistOf(index))
  const merge = createStep({
    id: 'merge',
    inputSchema: z.record(z.string(), z.object({ said: z.string() })),
    outputSchema: z.object({ answer: z.number() }),
    execute: async ({ inputData }) => ({ answer: Object.keys(inputData).length }),
  })
  const desk = createWorkflow({ id: 'desk', inputSchema: z.object({}), outputSchema: z.object({ answer: z.number() }) })
    .parallel(specialists)
    .then(merge)
    .commit()
  const workflows = { ...Object.fromEntries(sizes.map((length) => [`steps-${length}`, chainOf(length)])), desk }
  const storage = new LibSQLStore({ id: 'bench', url: `file:${join(folder, 'mastra.db')}` })
  // It has no turn without a model, and shows it the newest messages instead of a summary.
  const model = {
    specificationVersion: 'v2',
    provider: 'bench',
    modelId: 'instant',
    supportedUrls: {},
    doGenerate: async () => ({ content: [{ type: 'text', text: 'an answer' }], finishReason: 'stop', usage, warnings: [] }),
    doStream: instantStream({ deltas: 1, delta: 'an answer' }, (finishReason) => ({ type: 'finish', finishReason, usage })),
  }
  const memory = new Memory({ storage, options: { lastMessages: history.max, semanticRecall: false } })
  const chat = new Agent({ id: 'chat', name: 'chat', instructions: 'answer', model, memory })
  const mastra = new Mastra({ workflows, agents: { chat }, logger: false, storage })
  const result = async (name, inputData) => {
    const end = await (await mastra.getWorkflow(name).createRun()).start({ inputData })
    if (end.status !== 'success') throw new Error(`${name} ended as ${end.status}: ${JSON.stringify(end.error ?? end).slice(0, 300)}`)
    return end.result
  }
  let sessions = 0
  return {
    async steps(length, stepped) {
      heard = stepped
      return (await result(`steps-${length}`, { count: 0 })).count
    },
    async talk(turns, said) {
      const thread = `session-${sessions++}`
      for (let turn = 0; turn < turns; turn++) {
        said()
        await chat.generate(`message ${turn}`, { memory: { thread, resource: 'bench' } })
      }
    },
    fan: async () => (await result('desk', {})).answer,
  }
}
