/** Text while it is made: deltas are hints, the final event is the truth. */
import { agent, createRuntime, isRuntimeError } from '../../src/index.ts'

const runtime = await createRuntime({
  transport: 'memory:',
  models: {
    'scripted/stream': [
      { reasoning: 'A haiku has 5, 7, 5.', text: 'An old silent pond. A frog jumps into the pond. Splash! Silence again.', chunkSize: 20 },
      { text: 'Once upon a time there was a', hang: true }, // a model that goes silent
    ],
  },
  agents: [agent({ name: 'main', model: 'scripted/stream' })],
})
const session = runtime.session('poems')

const run = await session.send('A haiku, please.')
for await (const event of run.events()) {
  // `attempt` rises when a call has to be made again: whoever shows deltas then starts anew.
  if (event.type === 'delta') console.log(`${event.kind.padEnd(9)} ${event.attempt}.${event.index}  ${JSON.stringify(event.text)}`)
  if (event.type === 'final') console.log(`final          ${JSON.stringify(event.text)}`)
}

// Only the words, for any number of readers. A cancel reaches the model in mid-stream; what had been said is kept, and the run rejects with a stable code.
const endless = await session.send('And now a story.')
try {
  let told = ''
  for await (const text of endless.textStream) {
    told += text
    if (told.endsWith('was a')) await endless.cancel()
  }
} catch (error) {
  if (!isRuntimeError(error)) throw error
  console.log(`${error.code}, after ${JSON.stringify(error.data?.text)}`)
}
await runtime.close()
