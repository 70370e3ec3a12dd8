/** A node of its own process, with a conversation of many megabytes in it: says its port, and how much it keeps for those who do not read. */
import { agent, createRuntime } from '../../../../src/index.ts'
import { gatewayOn } from '../../gateway-on.ts'

const runtime = await createRuntime({
  transport: 'memory:',
  agents: [agent({ name: 'main', model: 'test/long', tools: [] })],
  models: { 'test/long': () => ({ text: 'x'.repeat(100_000) }) },
})
const session = runtime.session('main')
for (let turn = 0; turn < 160; turn++) await (await session.send('more', { idempotencyKey: `k${turn}` })).result()
await (await runtime.session('small').send('more', { idempotencyKey: 'k' })).result()
const gateway = await gatewayOn(runtime, { answers: { unsentBytesMax: 48 * 1024 * 1024 } })
process.stdout.write(`${new URL(gateway.url).port}\n`)
