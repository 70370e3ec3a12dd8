/** The process that is killed while it looks links up: `node link-worker.ts FOLDER PLACE`. It says what the model was told, and whether a replay leads there. */
import { chat } from '../../src/chat.ts'
import { agent, createRuntime, type ModelRequest } from '../../src/index.ts'

const [folder = '', place = ''] = process.argv.slice(2)
const told = ({ messages }: ModelRequest): string => messages.flatMap((one) => (one.role === 'user' ? [one.after ?? ''] : [])).join('\n')

const runtime = await createRuntime({
  transport: `embedded:${folder}`,
  agents: [agent({ name: 'main', model: 'test/tells' })],
  models: { 'test/tells': (request: ModelRequest) => ({ text: told(request) }) },
  extensions: [chat({ links: { allow: [place] } })],
})
const session = runtime.session('main')
const run = await session.send(`http://${place}/quick and http://${place}/slow`, { idempotencyKey: 'm1' })
const { text } = await run.result()
const { verdict } = await runtime.replay(session.address)
await runtime.close()
process.stdout.write(JSON.stringify({ text, verdict }))
