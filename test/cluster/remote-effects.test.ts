/** Sessions on one node, the calls of models and tools on others. */

import { setTimeout as pause } from 'node:timers/promises'
import { afterEach, expect, test, vi } from 'vitest'
import { z } from 'zod'
import { agent, createRuntime, type Runtime, type RuntimeOptions, tool } from '../../src/index.ts'
import { partsOf } from '../../src/runtime/index.ts'
import { systemEnvironment } from '../../src/runtime/system-environment.ts'
import { createMemoryStore, openMemory } from '../../src/transport/memory/open.ts'

let store = createMemoryStore()
const running: Runtime[] = []
afterEach(async () => {
  await Promise.all(running.splice(0).map((runtime) => runtime.close()))
  store = createMemoryStore()
})

const words = Array.from({ length: 10_000 }, (_, word) => word).join(' ')

type Story = { said: string[]; tools: string[]; gate: Promise<void> }
const aStory = (gate: Promise<void> = Promise.resolve()): Story => ({ said: [], tools: [], gate })

/** A node that writes down what it does. */
const node = async (name: string, story: Story, options: RuntimeOptions): Promise<Runtime> => {
  const pay = tool({
    name: 'pay',
    description: 'pays',
    input: z.object({ amount: z.number() }),
    onCrash: 'retry',
    execute: async ({ amount }, { signal, progress }) => {
      story.tools.push(name)
      progress('counting')
      await Promise.race([story.gate, new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('stopped'))))])
      return `${name} paid ${amount}`
    },
  })
  const runtime = await createRuntime({
    transport: await openMemory({ environment: systemEnvironment(), store, shared: true }),
    agents: [agent({ name: 'main', model: 'test/model', tools: [pay] })],
    models: {
      'test/model': ({ messages }) => {
        story.said.push(name)
        const last = messages.at(-1)
        if (last?.role === 'tool') return { text: `${name}: ${String(last.output)}` }
        if (last?.role === 'user' && last.text === 'story') return { text: words, chunkSize: 10, deltaDelayMs: 5 }
        return { calls: [{ name: 'pay', input: { amount: 7 } }] }
      },
    },
    ...options,
  })
  running.push(runtime)
  return runtime
}
const lease: RuntimeOptions = { roles: ['gateway', 'session'] }
const hands: RuntimeOptions = { roles: ['turn', 'tool'] }

test('a session on one node, its model and its tools on another: the answer, its deltas and its two commits a step are the same', async () => {
  const story = aStory()
  const here = await node('here', story, lease)
  await node('there', story, hands)

  const run = await here.session('s').send('pay')
  const types = new Set<string>()
  for await (const event of run.events()) types.add(event.type === 'tool' ? `tool ${String((event as { phase?: string }).phase)}` : event.type)

  expect((await run.result()).text).toBe('there: there paid 7')
  expect([...types]).toEqual(expect.arrayContaining(['delta', 'tool progress', 'final']))
  expect(new Set([...story.said, ...story.tools])).toEqual(new Set(['there']))
  expect(await here.session('s').view()).toMatchObject({ seq: 4 })
  expect(await here.replay({ kind: 'session', id: 's' })).toMatchObject({ verdict: 'identical' })
})

test('distributed, the work goes to all nodes that do it', async () => {
  const story = aStory()
  const first = await node('a', story, { placement: 'distributed' })
  await node('b', story, { placement: 'distributed' })

  const runs = await Promise.all(Array.from({ length: 30 }, (_, index) => first.session(`s${index}`).send('pay')))
  await Promise.all(runs.map((run) => run.result()))

  expect(new Set(story.tools)).toEqual(new Set(['a', 'b']))
  expect(story.tools).toHaveLength(30)
})

test('stop reaches the model over there, and what it had said is kept', async () => {
  const story = aStory()
  const here = await node('here', story, lease)
  await node('there', story, hands)
  const run = await here.session('s').send('story')
  let heard = ''
  for await (const event of run.events()) {
    if (event.type === 'delta') heard += (event as { text: string }).text
    if (heard.length > 20) break
  }

  await here.session('s').cancel()

  await expect(run.result()).rejects.toMatchObject({ code: 'cancelled' })
  const [, said] = await here.session('s').history()
  expect(said).toMatchObject({ role: 'assistant', text: expect.stringMatching(/^0 1 2 /), partial: true })
})

test('the node that does the work dies: another one does it', async () => {
  const gate = Promise.withResolvers<void>()
  const story = aStory(gate.promise)
  const here = await node('here', story, lease)
  const there = await node('there', story, hands)
  const run = await here.session('s').send('pay')
  await vi.waitFor(() => expect(story.tools).toEqual(['there']))
  await node('spare', story, hands)

  partsOf(there).host.abandon()
  await partsOf(there).transport.close()
  await vi.waitFor(() => expect(story.tools).toEqual(['there', 'spare']))
  gate.resolve()

  expect((await run.result()).text).toBe('spare: spare paid 7')
})

test('a node that drains ends the work that it has begun, and takes no more', async () => {
  const gate = Promise.withResolvers<void>()
  const story = aStory(gate.promise)
  const here = await node('here', story, lease)
  const there = await node('there', story, hands)
  await node('spare', story, hands)
  await vi.waitFor(() => expect(here.nodes()).toHaveLength(3))
  const runs = await Promise.all(Array.from({ length: 10 }, (_, index) => here.session(`s${index}`).send('pay')))
  await vi.waitFor(() => expect(story.tools).toHaveLength(10))

  const drained = there.drain(10_000)
  gate.resolve()
  await drained

  const answers = await Promise.all(runs.map((run) => run.result()))
  expect(story.tools).toHaveLength(10)
  for (const { text } of answers) expect(text).toMatch(/paid 7$/)
  expect((await (await here.session('late').send('pay')).result()).text).toBe('spare: spare paid 7')
})

test('while a node drains, what begins meanwhile is done by others alone, from the first moment to the last', async () => {
  const gate = Promise.withResolvers<void>()
  const story = aStory(gate.promise)
  const here = await node('here', story, lease)
  const there = await node('there', story, hands)
  const held = await here.session('held').send('pay')
  await vi.waitFor(() => expect(story.tools).toEqual(['there']))
  await node('spare', story, hands)
  await vi.waitFor(() => expect(here.nodes()).toHaveLength(3))
  story.said.length = 0

  const drained = there.drain(600_000)
  await vi.waitFor(() => expect(here.nodes().filter(({ draining }) => draining)).toHaveLength(1))
  // Its own piece of work holds it there.
  const runs = await Promise.all(Array.from({ length: 20 }, (_, index) => here.session(`s${index}`).send('pay')))
  await vi.waitFor(() => expect(story.tools).toHaveLength(21))
  expect(new Set(story.said)).toEqual(new Set(['spare']))
  expect(story.tools.slice(1)).toEqual(Array.from({ length: 20 }, () => 'spare'))

  gate.resolve()
  await drained
  expect((await held.result()).text).toMatch(/: there paid 7$/)
  for (const run of runs) expect((await run.result()).text).toBe('spare: spare paid 7')
})

test('without anybody who does it a turn waits for one to come', async () => {
  const story = aStory()
  const here = await node('here', story, lease)
  const run = await here.session('s').send('pay')
  await pause(500)
  expect(story.said).toEqual([])

  await node('there', story, hands)

  expect((await run.result()).text).toBe('there: there paid 7')
})
