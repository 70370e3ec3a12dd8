/** Forks where several nodes share the work. */
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { agent, createRuntime, type Runtime } from '../../src/index.ts'
import { partsOf } from '../../src/runtime/index.ts'
import { natsForAll } from '../support/nats.ts'

const server = natsForAll()
let nodes: Runtime[]
const aNode = () =>
  createRuntime({
    transport: server.url,
    agents: [agent({ name: 'main', model: 'test/model' })],
    models: { 'test/model': ({ messages }) => ({ text: `I heard ${messages.length}` }) },
  })
beforeAll(async () => {
  nodes = await Promise.all([aNode(), aNode()])
})
afterAll(async () => {
  await Promise.all(nodes.map((node) => node.close()))
})

const says = async (node: Runtime, key: string, text: string) => (await (await node.session(key).send(text)).result()).text

test('a fork that one node makes is gone on with through another; the origin may go', async () => {
  const [one, other] = nodes as [Runtime, Runtime]
  expect(await says(one, 'main', 'first')).toBe('I heard 1')

  for (const as of ['a', 'b', 'c', 'd']) await one.command('trace.fork', { id: 'main', as })
  for (const as of ['a', 'b']) expect(await says(other, as, 'in the fork')).toBe('I heard 3')
  await other.command('sessions.delete', { sessionKey: 'main' })
  for (const as of ['c', 'd']) expect(await says(one, as, 'in the fork')).toBe('I heard 3')
  expect(await says(one, 'main', 'anew')).toBe('I heard 1')

  for (const node of nodes)
    for (const id of ['a', 'b', 'c', 'd']) expect(await node.command('trace.replay', { id })).toMatchObject({ verdict: 'identical' })
  await expect(one.command('trace.fork', { id: 'main', as: 'a' })).rejects.toMatchObject({ code: 'conflict', field: 'as' })
})

test('keys that were looked at through whichever node before forks were made there run on', async () => {
  const [one, other] = nodes as [Runtime, Runtime]
  await says(one, 'looked', 'first')
  const keys = Array.from({ length: 8 }, (_, index) => `looked-${index}`)
  for (const node of nodes) for (const key of keys) await expect(node.session(key).view()).rejects.toMatchObject({ code: 'not_found' })

  for (const as of keys) await one.command('trace.fork', { id: 'looked', as, at: 1 })

  const { journal } = partsOf(other).transport
  for (const id of keys) await vi.waitFor(async () => expect((await journal.head({ kind: 'session', id }))?.wakeAt).toBeNull(), 20_000)
  for (const key of keys) expect((await other.session(key).history()).map(({ role }) => role)).toEqual(['user', 'assistant'])
})
