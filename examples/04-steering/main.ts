/** Typing on while the agent works: the message joins the turn that is running. */
import { z } from 'zod'
import { agent, createRuntime, tool } from '../../src/index.ts'

const search = Promise.withResolvers<string>()
const find = tool({
  name: 'find_table',
  description: 'Finds a table in a restaurant.',
  input: z.object({ people: z.number() }),
  execute: () => search.promise, // takes as long as it takes
  onCrash: 'retry',
})

const runtime = await createRuntime({
  transport: 'memory:',
  models: {
    // A function may stand in for a model, too: it answers by what it is shown.
    'scripted/waiter': ({ messages }) => {
      const said = messages.flatMap((message) => (message.role === 'user' ? [message.text] : []))
      const found = messages.find((message) => message.role === 'tool')
      if (!found) return { text: 'I will look.', calls: [{ name: 'find_table', input: { people: 2 } }] }
      return { text: `Found ${String(found.output)}. I have heard: ${said.join(' / ')}` }
    },
  },
  agents: [agent({ name: 'main', model: 'scripted/waiter', tools: [find] })],
})
const session = runtime.session('dinner')

const first = await session.send('A table for two, please.')
for await (const event of first.events()) if (event.type === 'tool') break // it is searching now

const second = await session.send('Outside, if you can.') // `steer` is the default
const third = await session.send('And thank you!', { queueMode: 'followup' }) // waits for a turn of its own
for (const { status, runId } of [first, second, third]) console.log(`${status}${runId === first.runId ? ', in the first turn' : ''}`)

search.resolve('table 7')
const outcomes = await Promise.all([first.result(), second.result(), third.result()])
console.log(outcomes[0].text)
console.log(`the first two got one answer: ${outcomes[0].runId === outcomes[1].runId}`)
console.log(`the third got its own:        ${outcomes[2].runId !== outcomes[0].runId}`)
await runtime.close()
