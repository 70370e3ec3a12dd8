/** LangGraph.js: a chain of nodes, and a fan of them, with a checkpointer in memory or in SQLite. */
import { join } from 'node:path'
import { AIMessage, RemoveMessage, SystemMessage } from '@langchain/core/messages'
import { Annotation, END, MemorySaver, MessagesAnnotation, REMOVE_ALL_MESSAGES, START, StateGraph } from '@langchain/langgraph'
import { SqliteSaver } from '@langchain/langgraph-checkpoint-sqlite'

/** @param variant memory, sqlite: as it comes, or sqlite-sync: each checkpoint written before the next step */
export const open = ({ steps: sizes, fan, history }, { variant, folder }) => {
  const checkpointer = variant === 'memory' ? new MemorySaver() : SqliteSaver.fromConnString(join(folder, 'checkpoints.db'))
  let heard = () => undefined
  const Count = Annotation.Root({ count: Annotation(), output: Annotation() })
  const chainOf = (length) => {
    const graph = new StateGraph(Count)
    for (let step = 0; step < length; step++)
      graph.addNode(`step-${step}`, ({ count }) => {
        heard()
        return { count: count + 1, output: `step ${step} is done` }
      })
    graph.addEdge(START, 'step-0')
    for (let step = 1; step < length; step++) graph.addEdge(`step-${step - 1}`, `step-${step}`)
    graph.addEdge(`step-${length - 1}`, END)
    return graph.compile({ checkpointer })
  }
  const chains = sizes.map(chainOf)

  const Said = Annotation.Root({ said: Annotation({ reducer: (all, one) => ({ ...all, ...one }), default: () => ({}) }), answer: Annotation() })
  const names = Array.from({ length: fan }, (_, index) => `specialist-${index}`)
  const desk = new StateGraph(Said)
  for (const name of names) desk.addNode(name, () => ({ said: { [name]: `${name} has looked at it` } })).addEdge(name, 'merge')
  desk.addNode('merge', ({ said }) => ({ answer: Object.keys(said).length })).addEdge('merge', END)
  desk.addConditionalEdges(START, () => names, names)
  const fanned = desk.compile({ checkpointer })

  const chat = new StateGraph(MessagesAnnotation)
    .addNode('answer', ({ messages }) => ({ messages: [new AIMessage(`answer to ${messages.at(-1).text}`)] }))
    .addNode('summarise', ({ messages }) => ({
      messages: [new RemoveMessage({ id: REMOVE_ALL_MESSAGES }), new SystemMessage('a summary'), ...messages.slice(-history.kept)],
    }))
    .addEdge(START, 'answer')
    .addConditionalEdges('answer', ({ messages }) => (messages.length > history.max ? 'summarise' : END), ['summarise', END])
    .addEdge('summarise', END)
    .compile({ checkpointer })

  const durability = variant === 'sqlite-sync' ? { durability: 'sync' } : {}
  let threads = 0
  const options = () => ({ configurable: { thread_id: `run-${threads++}` }, ...durability })
  return {
    async steps(count, stepped) {
      heard = stepped
      const end = await chains[sizes.indexOf(count)].invoke({ count: 0 }, { ...options(), recursionLimit: count + 10 })
      return end.count
    },
    async talk(turns, said) {
      const thread = options()
      for (let turn = 0; turn < turns; turn++) {
        said()
        await chat.invoke({ messages: [{ role: 'user', content: `message ${turn}` }] }, thread)
      }
    },
    fan: async () => (await fanned.invoke({}, options())).answer,
  }
}
