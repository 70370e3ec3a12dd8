/** One agent, one session, two messages. */
import { agent, createRuntime } from '../../src/index.ts'

// A script stands in for a model here; 'anthropic/…' or 'openai/…' with a key in the environment go in its place.
const runtime = await createRuntime({
  transport: 'memory:', // 'embedded:./folder' keeps everything on disk
  models: { 'scripted/hello': [{ text: 'Nice to meet you, Ada.' }, { text: 'You are Ada.' }] },
  agents: [agent({ name: 'main', model: 'scripted/hello', instructions: 'Be friendly and brief.' })],
})

// A session is there as soon as it is spoken to. Its key is yours: a user, a ticket, a phone number.
const session = runtime.session('ada')

for (const text of ['I am Ada.', 'Who am I?']) {
  console.log(`you:   ${text}`)
  const run = await session.send(text) // resolves when the message is stored
  const { text: reply } = await run.result() // resolves when it is answered
  console.log(`agent: ${reply}`)
}

const roles = (await session.history()).map(({ role }) => role)
console.log(`the session remembers: ${roles.join(', ')}`)
await runtime.close()
