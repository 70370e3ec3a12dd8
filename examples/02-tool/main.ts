/** A tool is a function with a name, a schema and a promise about crashes. */
import { z } from 'zod'
import { agent, createRuntime, tool } from '../../src/index.ts'

const add = tool({
  name: 'add',
  description: 'Adds two numbers.',
  input: z.object({ a: z.number(), b: z.number() }),
  execute: ({ a, b }) => a + b,
  onCrash: 'retry', // safe to run again; the default, 'once', is for what must never happen twice
})

const runtime = await createRuntime({
  transport: 'memory:',
  models: {
    'scripted/tool': [
      { calls: [{ name: 'add', input: { a: 'two', b: 40 } }] }, // models make mistakes …
      {
        calls: [
          { name: 'add', input: { a: 2, b: 40 } }, // … and ask for several things at once
          { name: 'add', input: { a: 17, b: 23 } },
        ],
      },
      { text: '2 + 40 is 42, and 17 + 23 is 40.' },
    ],
  },
  agents: [agent({ name: 'main', model: 'scripted/tool', tools: [add] })],
})

const run = await runtime.session('sums').send('What is 2 + 40, and 17 + 23?')
for await (const event of run.events()) {
  if (event.type === 'tool' && event.phase === 'requested') console.log(`add ${JSON.stringify(event.input)}`)
  if (event.type === 'tool' && event.phase !== 'requested') console.log(`  ${event.phase}: ${JSON.stringify(event.output)}`)
}
const { text, steps, toolCalls } = await run.result()
console.log(`${text}  (${steps} steps, ${toolCalls} tool calls)`)
await runtime.close()
