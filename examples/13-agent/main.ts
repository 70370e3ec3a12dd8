/** An agent is executed: what it gives back has a type, and the report says what it took. */
import { createRuntime } from '../../src/index.ts'
import { type LadderEvent, ladder, type Report } from '../../src/ladder.ts'
import { seller } from './agents.ts'

const usage = { inputTokens: 100, outputTokens: 20 }

// What a model would say. The first offer lacks its reason: the seller is asked again.
await using runtime = await createRuntime({
  transport: 'memory:',
  extensions: [ladder({ executables: [seller] })],
  models: {
    'shop/scout': [{ text: 'Others take 60 for it.', usage }],
    'shop/seller': [
      { calls: [{ name: 'scout', input: { text: 'a lamp' } }], usage },
      { calls: [{ name: 'discount', input: { price: 60 } }], usage },
      { text: '{"item":"lamp","price":54}', usage },
      { text: '{"item":"lamp","price":54,"why":"the others take 60"}', usage },
    ],
  },
})

const say = ({ type, agent, tool, error }: LadderEvent) =>
  console.log([type.replace('agent.', ''), agent, tool, (error as { code?: string } | undefined)?.code].filter(Boolean).join(' '))
const on = { 'agent.tool.calling': say, 'agent.repairing': say, 'agent.completed': say }

const { data, error, report } = await seller.execute({ item: 'lamp' }, { runId: 'o-18', on })
if (error) throw error
// The schema of the output is the type of `data`.
console.log(`offer: ${data?.item} for ${data?.price.toFixed(2)}, because ${data?.why}`)

const print = ({ type, name, status, usage: { total }, children }: Report, depth = 1): void => {
  console.log(`${'  '.repeat(depth)}${type} ${name}: ${status}, ${total} tokens`)
  for (const child of children) print(child, depth + 1)
}
print(report)
console.log(`replay: ${(await runtime.replay({ kind: 'seller', id: 'o-18' })).verdict}`)
