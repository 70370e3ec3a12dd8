/** A channel of your own: people write on it, answers stream back in blocks, and orders are carried out. */
import { chat } from '../../src/chat.ts'
import { agent, type Channel, createRuntime } from '../../src/index.ts'

/** What a messenger would do over the network, this one does on the screen. */
const paper: Channel = {
  id: 'paper',
  markdown: false,
  textMax: 60, // characters of one message: longer answers become several
  send: ({ text }, { route, kind }) => {
    console.log(`${kind} to ${route.to}: ${text}`)
    return undefined
  },
}

const runtime = await createRuntime({
  transport: 'memory:',
  extensions: [chat({ channels: [paper], agents: { main: { delivery: { streaming: true, min: 20, max: 60 } } } })],
  models: {
    'scripted/busy': [{ error: { status: 429 } }, { error: { status: 429 } }],
    'scripted/poet': [
      { text: 'Roses are red. Violets are blue.\n\nAnd the second verse is longer than the first one is, so it takes two.', deltaDelayMs: 1 },
      { text: 'Once more: roses.', usage: { inputTokens: 1500, outputTokens: 12 } },
    ],
  },
  agents: [
    // The first model asks to slow down, so the next one answers.
    agent({ name: 'main', model: 'scripted/busy', fallbacks: ['scripted/poet'] }),
  ],
})
const session = runtime.session('ann')
let count = 0
/** As the webhook of the messenger would: with where it came from, and its id there. */
const receive = async (text: string, messageId = `${++count}`) => {
  const run = await session.send(text, { idempotencyKey: `paper-${messageId}`, origin: { channel: 'paper', to: 'ann', messageId } })
  return run.result()
}

const poem = await receive('A poem, please')
console.log(`${poem.outcome} by ${poem.model}, after ${poem.attempts?.map(({ model, reason }) => `${model}: ${reason}`).join(', ')}`)
await receive('/usage tokens') // an order: no model is asked
await receive('Again!')
console.log((await session.view()).record.toggles)
await runtime.close()
