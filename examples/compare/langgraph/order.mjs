/** An order, as a graph of LangGraph with a checkpointer in SQLite. */
import { setTimeout as sleep } from 'node:timers/promises'
import { Annotation, Command, END, interrupt, START, StateGraph } from '@langchain/langgraph'
import { SqliteSaver } from '@langchain/langgraph-checkpoint-sqlite'
import { folder, main, shop } from '../world.mjs'

const State = Annotation.Root({
  id: Annotation(),
  order: Annotation(),
  stock: Annotation(),
  fraud: Annotation(),
  payment: Annotation(),
  approval: Annotation(),
  parcel: Annotation(),
})
const keyOf = (step, { configurable }) => `${configurable.thread_id}/${step}`

const order = new StateGraph(State)
  .addNode('fetchOrder', async ({ id }) => ({ order: await shop.fetch(id) }))
  .addNode('checkStock', async ({ order }) => ({ stock: await shop.checkStock(order) }))
  .addNode('checkFraud', async ({ order }) => ({ fraud: await shop.checkFraud(order) }))
  .addNode('charge', async ({ order }, config) => ({ payment: await shop.charge(order, keyOf('charge', config)) }), {
    retryPolicy: { maxAttempts: 3, initialInterval: 50, logWarning: false },
  })
  // There is no sleep: the process has to stay.
  .addNode('pause', async () => void (await sleep(200)))
  .addNode('approve', () => ({ approval: interrupt('may it be shipped?') }))
  .addNode('ship', async ({ order }, config) => ({ parcel: await shop.ship(order, keyOf('ship', config)) }))
  .addEdge(START, 'fetchOrder')
  .addEdge('fetchOrder', 'checkStock')
  .addEdge('fetchOrder', 'checkFraud')
  .addEdge(['checkStock', 'checkFraud'], 'charge')
  .addEdge('charge', 'pause')
  .addEdge('pause', 'approve')
  .addEdge('approve', 'ship')
  .addEdge('ship', END)
  .compile({ checkpointer: SqliteSaver.fromConnString(`${folder}/checkpoints.db`) })

const config = { configurable: { thread_id: 'o-17' }, durability: 'sync' }

const run = async (input) => {
  const end = await order.invoke(input, config)
  return end.__interrupt__ ? { state: 'waiting' } : { state: 'done', data: end.parcel }
}

await main({
  begin: () => run({ id: 'o-17' }),
  // Nothing in the library looks for runs that were cut off.
  boot: async () => undefined,
  // Whoever knows the thread goes on with it.
  resume: () => run(null),
  approve: () => run(new Command({ resume: { by: 'ann' } })),
})
