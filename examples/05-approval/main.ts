/** A tool that a person has to agree to, once, for exactly these arguments. */
import { agent, createRuntime, isRuntimeError } from '../../src/index.ts'
import { pay } from './pay.ts'

const runtime = await createRuntime({
  transport: 'memory:',
  models: {
    'scripted/bills': [
      {
        calls: [
          { name: 'pay', input: { to: 'the baker', euros: 12 } },
          { name: 'pay', input: { to: 'the plumber', euros: 480 } },
          { name: 'pay', input: { to: 'a prince', euros: 9999 } },
        ],
      },
      { text: 'The baker and the plumber are paid.' },
    ],
  },
  agents: [agent({ name: 'main', model: 'scripted/bills', tools: [pay] })],
})
const session = runtime.session('bills')

const run = await session.send('Pay my bills.')
for await (const event of run.events()) {
  if (event.type === 'tool' && event.phase !== 'requested') console.log(`${event.phase}: ${JSON.stringify(event.output)}`)
  if (event.type !== 'approval') continue
  // The turn waits, for days if it must, also over restarts; `session.view()` lists what it waits for.
  const { to, euros } = event.input as { to: string; euros: number }
  const isOurs = to === 'the plumber'
  console.log(`${isOurs ? 'approve' : 'deny'}: ${euros} euros to ${to}?`)
  if (isOurs) await session.approve(event, { by: 'Ada' })
  else await session.deny(event, { by: 'Ada' })
  // The first decision counts.
  await session.approve(event).catch((error: unknown) => {
    if (isRuntimeError(error)) console.log(`  once more? ${error.code}`)
  })
}
console.log((await run.result()).text)
await runtime.close()
