/** What other nodes may ask, and what somebody else asks who has found the subject. */

import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { decode, encode } from '../../src/actors/journal/codec.ts'
import { agent, createRuntime, type Runtime } from '../../src/index.ts'
import { partsOf } from '../../src/runtime/index.ts'
import { systemEnvironment } from '../../src/runtime/system-environment.ts'
import { createMemoryStore, openMemory } from '../../src/transport/memory/open.ts'

let runtime: Runtime
beforeAll(async () => {
  runtime = await createRuntime({
    transport: await openMemory({ environment: systemEnvironment(), store: createMemoryStore(), shared: true }),
    agents: [agent({ name: 'main', model: 'test/model' })],
    models: { 'test/model': [{ text: 'hello' }] },
  })
  await vi.waitFor(() => expect(runtime.nodes()[0]?.partitions).toBe(64))
})
afterAll(() => runtime.close())

const ask = async (question: string, data: Uint8Array) => {
  const { bus } = partsOf(runtime).transport
  return decode((await bus.request(runtime.subjects.node(runtime.nodes()[0]!.id, question), data, { timeoutMs: 5_000 })).data)
}
const about = (args: unknown, address: unknown = 'session/s') => encode({ address, args })

test.each([
  ['read', new Uint8Array()],
  ['read', new TextEncoder().encode('{"address":"session/s"}')],
  ['read', encode(null)],
  ['read', encode({ address: 5, args: [] })],
  ['read', about('none')],
  ['read', about([], 'nowhere')],
  ['send', about([])],
  ['send', about([null])],
  ['send', about([{ type: 'message' }, 'id'])],
  ['send', about([{ type: 'message' }, { renews: 5 }])],
  ['seqOf', about([{}])],
  ['nextCommit', about([])],
  ['nextCommit', about(['soon'])],
  ['nextCommit', about([-1])],
])('%s with what does not fit it is refused as such (%#)', async (question, data) => {
  expect(await ask(question, data)).toMatchObject({ code: 'bad_request', hint: expect.any(String) })
})

test('what no node is asked is unsupported', async () => {
  expect(await ask('constructor', about([]))).toMatchObject({ code: 'unsupported' })
})

test('nobody is made to wait for a commit for ever', async () => {
  const nextCommit = vi.spyOn(partsOf(runtime).host, 'nextCommit').mockResolvedValue()

  await ask('nextCommit', about([1e300]))

  expect(nextCommit).toHaveBeenCalledWith({ kind: 'session', id: 's' }, 35_000)
})
