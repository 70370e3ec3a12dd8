/** What only looks at a session wakes nobody. */
import { expect, test } from 'vitest'
import { agent, createRuntime } from '../../src/index.ts'
import { systemEnvironment } from '../../src/runtime/index.ts'
import { createMemoryStore, openMemory } from '../../src/transport/memory/open.ts'
import { aGateway } from './http/harness.ts'

const app = { agents: [agent({ name: 'main', model: 'test/model' })], models: { 'test/model': () => ({ text: 'hello' }) } }

test('[CH-52] sessions.get and tools.list of a session that sleeps read its journal: it is taken over by no node', async () => {
  const store = createMemoryStore()
  const on = async () => ({ ...app, transport: await openMemory({ environment: systemEnvironment(), store, steal: true }) })
  const before = await createRuntime(await on())
  await (await before.session('main').send('hello')).result()
  const seen = await before.command('sessions.get', { sessionKey: 'main' })
  await before.close()
  const { rpc } = await aGateway({}, await on())

  const { json } = await rpc('sessions.get', { sessionKey: 'main' })
  expect((await rpc('tools.list', { sessionKey: 'main' })).json.agents).toMatchObject([{ agent: 'main' }])

  expect(json).toEqual(seen)
  expect((await rpc('health')).json).toMatchObject({ liveActors: 0 })
  await rpc('chat.send', { sessionKey: 'main', message: 'again', idempotencyKey: 'k' })
  await rpc('agent.wait', { sessionKey: 'main', runId: 'k' })
  expect((await rpc('sessions.get', { sessionKey: 'main' })).json).toMatchObject({ messages: 4 })
})
