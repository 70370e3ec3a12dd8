/** A desk where three specialists are asked at once, as agents of the OpenAI Agents SDK that are tools of another one. */
import { Agent, run } from '@openai/agents'
import { main } from '../world.mjs'
import { caller, model } from './model.mjs'

const specialist = (name) =>
  new Agent({ name, instructions: `You know all about ${name}.`, model: model(name) }).asTool({
    toolName: name,
    toolDescription: `knows all about ${name}`,
  })

const desk = new Agent({
  name: 'desk',
  instructions: 'Ask your specialists, and put together what they say.',
  model: caller('router', (text) => JSON.parse(text).next.map((name) => ({ name, input: { input: 'May I return the lamp?' } })), 'writer'),
  tools: [specialist('billing'), specialist('stock'), specialist('law')],
})

const begin = async () => ({ state: 'done', data: (await run(desk, 'May I return the lamp?')).finalOutput })

await main({
  begin,
  // Nothing in the library looks for runs that were cut off, and nothing of this one was stored.
  boot: async () => undefined,
  resume: begin,
})
