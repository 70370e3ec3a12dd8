/** A node with an MCP server whose program has a child; it says the ids of both and goes on until it is killed. */
import { fileURLToPath } from 'node:url'
import { agent, createRuntime } from '../../src/index.ts'

const args = [fileURLToPath(new URL('./mcp-program.ts', import.meta.url)), 'new']
const runtime = await createRuntime({
  transport: 'memory:',
  mcp: { servers: { desk: { command: process.execPath, args } } },
  agents: [agent({ name: 'main', model: 'test/family', mcp: true })],
  models: {
    'test/family': ({ messages }) => {
      const last = messages.at(-1)
      return last?.role === 'tool' ? { text: String(last.output) } : { calls: [{ name: 'desk__family' }] }
    },
  },
})
const run = await runtime.session('main').send('go')
console.log(`pids ${await run.text()}`)
setInterval(() => undefined, 1000)
