/** An order, as a workflow of Statecast. */
import { z } from 'zod'
import { createRuntime } from '../../../src/index.ts'
import { ladder, workflow } from '../../../src/ladder.ts'
import { folder, main, shop } from '../world.mjs'

const order = workflow({
  name: 'order',
  input: z.string(),
  state: { order: { id: '', item: '', price: 0 } },
  steps: [
    {
      name: 'fetch',
      run: async ({ input, state }) => {
        state.order = await shop.fetch(input)
      },
    },
    {
      name: 'checks',
      parallel: [
        { name: 'stock', run: ({ state }) => shop.checkStock(state.order) },
        { name: 'fraud', run: ({ state }) => shop.checkFraud(state.order) },
      ],
    },
    { name: 'charge', run: ({ state, key }) => shop.charge(state.order, key), retry: { attempts: 3, backoff: () => 50 } },
    { name: 'pause', sleep: 200 },
    { name: 'approval', waitFor: 'approved', schema: z.object({ by: z.string() }) },
    { name: 'ship', run: ({ state, key }) => shop.ship(state.order, key) },
  ],
})

const open = () => createRuntime({ transport: `embedded:${folder}/store`, extensions: [ladder({ executables: [order] })] })
const done = async () => ({ state: 'done', data: (await order.resume('o-17')).data })

await main({
  async begin() {
    await open()
    for await (const { type, step } of order.stream('o-17', { runId: 'o-17' }))
      if (type === 'workflow.step.starting' && step === 'approval') return { state: 'waiting' }
    return done()
  },
  // What was under way goes on as soon as the runtime is there.
  async boot() {
    const runtime = await open()
    const run = await runtime.actor('order', 'o-17').waitFor((at) => at.status === 'done' || at.matches({ steps: { approval: 'resting' } }))
    return run.status === 'done' ? done() : { state: 'waiting' }
  },
  async approve() {
    await open()
    await order.send('o-17', { type: 'approved', by: 'ann' })
    return done()
  },
})
