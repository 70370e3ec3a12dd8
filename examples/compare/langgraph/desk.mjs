/** A desk where three specialists are asked at once, as a graph of LangGraph with a checkpointer in SQLite. */
import { Annotation, END, Send, START, StateGraph } from '@langchain/langgraph'
import { SqliteSaver } from '@langchain/langgraph-checkpoint-sqlite'
import { folder, main } from '../world.mjs'
import { model } from './model.mjs'

const State = Annotation.Root({
  question: Annotation(),
  next: Annotation(),
  said: Annotation({ reducer: (all, one) => ({ ...all, ...one }), default: () => ({}) }),
  answer: Annotation(),
})

const ask = async (job, instructions, text) => {
  const { content } = await model(job).invoke([
    { role: 'system', content: instructions },
    { role: 'user', content: text },
  ])
  return content
}

const desk = new StateGraph(State)
  .addNode('route', async ({ question }) => JSON.parse(await ask('router', 'Choose from billing, stock, law.', question)))
  .addNode('specialist', async ({ name, question }) => ({ said: { [name]: await ask(name, `You know all about ${name}.`, question) } }))
  .addNode('write', async ({ said }) => ({ answer: await ask('writer', 'Put together what the specialists say.', JSON.stringify(said)) }))
  .addEdge(START, 'route')
  .addConditionalEdges('route', ({ next, question }) => next.map((name) => new Send('specialist', { name, question })), ['specialist'])
  .addEdge('specialist', 'write')
  .addEdge('write', END)
  .compile({ checkpointer: SqliteSaver.fromConnString(`${folder}/checkpoints.db`) })

const config = { configurable: { thread_id: 'q-1' }, durability: 'sync' }
const run = async (input) => ({ state: 'done', data: (await desk.invoke(input, config)).answer })

await main({
  begin: () => run({ question: 'May I return the lamp?' }),
  // Nothing in the library looks for runs that were cut off.
  boot: async () => undefined,
  // Whoever knows the thread goes on with it.
  resume: () => run(null),
})
