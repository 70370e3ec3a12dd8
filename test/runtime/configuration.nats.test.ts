/** The configuration of nodes that share a NATS: one document, whoever writes it. */
import { expect, test, vi } from 'vitest'
import { agent, createRuntime } from '../../src/index.ts'
import { natsForAll } from '../support/nats.ts'

const server = natsForAll()
const open = () =>
  createRuntime({
    transport: server.url,
    prefix: 'configured',
    agents: [agent({ name: 'main', model: 'test/one' })],
    models: { 'test/one': () => ({ text: 'one' }), 'test/two': () => ({ text: 'two' }) },
  })

test('[CH-27] what one node sets the others go by, also a node that comes later; of two nodes that write on one hash one is refused', async () => {
  await using first = await open()
  await using second = await open()
  const { hash } = await first.command<{ hash: string }>('config.get')
  const set = (runtime: typeof first, value: string) => runtime.command('config.set', { key: 'agents.list[main].model', value, baseHash: hash })

  const both = await Promise.allSettled([set(first, 'test/two'), set(second, 'test/two')])

  expect(both.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
  await vi.waitFor(() => expect(second.config.hash).toBe(first.config.hash), 10_000)
  await using third = await open()
  for (const [index, node] of [first, second, third].entries())
    expect((await (await node.session(`s${index}`).send('who?')).result()).text).toBe('two')
})

test('[INV-19] a token that was made by way of one node opens another', async () => {
  await using first = await open()
  await using second = await open()
  const { token } = await first.command<{ token: string }>('tokens.create', { name: 'page', scopes: ['read'] })
  const hash = Buffer.from(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(token))).toString('hex')

  await vi.waitFor(() => expect(second.accessOf(hash)).toMatchObject({ scopes: ['read'] }), 10_000)
})
