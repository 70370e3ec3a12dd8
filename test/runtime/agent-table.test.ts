/** Agents by name, where nodes do not all run the same app. */
import { afterEach, expect, test, vi } from 'vitest'
import { z } from 'zod'
import { agent, createRuntime, type Runtime, type Tool } from '../../src/index.ts'
import { systemEnvironment } from '../../src/runtime/system-environment.ts'
import { createMemoryStore, openMemory } from '../../src/transport/memory/open.ts'

const store = createMemoryStore()
const running: Runtime[] = []
afterEach(() => Promise.all(running.splice(0).map((runtime) => runtime.close())))

const aNode = async (names: string[], resume = true): Promise<Runtime> => {
  const runtime = await createRuntime({
    transport: await openMemory({ environment: systemEnvironment(), store, shared: true }),
    agents: names.map((name) => agent({ name, model: 'test/model' })),
    models: { 'test/model': [{ text: 'hello' }] },
    resume,
  })
  running.push(runtime)
  return runtime
}

test('a session whose agent its node does not have ends with what that node has, and what to do about it', async () => {
  await aNode(['main', 'clerk'])
  const other = await aNode(['main', 'lawyer'], false)
  await vi.waitFor(() => expect(other.nodes()[0]?.partitions).toBe(64))

  const run = await other.session('s', { agent: 'lawyer' }).send('may I?')

  await expect(run.result()).rejects.toMatchObject({
    code: 'not_found',
    message: expect.stringContaining("'lawyer'"),
    hint: expect.stringMatching(/it has: main, clerk; .* the same app/),
  })
})

test.each<[string, object]>([
  ['tools[0].execute', { execute: undefined }],
  ['tools[0].needApproval', { needApproval: true }],
])('a tool that was put into a copy of an agent is checked as agent() does: %s', async (field, change) => {
  const pay = { name: 'pay', description: 'pays', input: z.object({}), execute: () => 'paid', ...change } as unknown as Tool
  const agents = [{ ...agent({ name: 'main' }), tools: [pay] }]

  await expect(createRuntime({ transport: 'memory:', agents })).rejects.toMatchObject({ code: 'bad_request', field, hint: expect.any(String) })
})
