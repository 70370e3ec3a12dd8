/** Sessions on one node, the calls of models and tools on others. */

import { setTimeout as pause } from 'node:timers/promises'
import { afterEach, expect, test, vi } from 'vitest'
import { z } from 'zod'
import type { PlaceableEffect, PlaceableScope } from '../../src/actors/index.ts'
import { Membership } from '../../src/cluster/membership.ts'
import { openWorker, remoteEffect } from '../../src/cluster/remote-effects.ts'
import { RuntimeError } from '../../src/contracts/errors.ts'
import { roles } from '../../src/contracts/placement.ts'
import { subjects } from '../../src/contracts/subjects.ts'
import { agent, createRuntime, type Runtime, type RuntimeOptions, tool } from '../../src/index.ts'
import type { TurnEffects } from '../../src/machines/index.ts'
import { partsOf } from '../../src/runtime/index.ts'
import { systemEnvironment } from '../../src/runtime/system-environment.ts'
import { createMemoryStore, openMemory } from '../../src/transport/memory/open.ts'
import { afterThisTest } from '../support/cleanup.ts'

let store = createMemoryStore()
const running: Runtime[] = []
afterEach(async () => {
  await Promise.all(running.splice(0).map((runtime) => runtime.close()))
  store = createMemoryStore()
})

const words = Array.from({ length: 10_000 }, (_, word) => word).join(' ')

/** `stopped` are the nodes whose tool was told to stop. */
type Story = { said: string[]; tools: string[]; stopped: string[]; gate: Promise<void> }
const aStory = (gate: Promise<void> = Promise.resolve()): Story => ({ said: [], tools: [], stopped: [], gate })

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
      signal.addEventListener('abort', () => void story.stopped.push(name))
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

test('the node that asked dies: the work that another node does for it is stopped', async () => {
  const story = aStory(new Promise(() => undefined))
  const here = await node('here', story, lease)
  const there = await node('there', story, hands)
  const run = await here.session('s').send('pay')
  run.result().catch(() => undefined)
  await vi.waitFor(() => expect(story.tools).toEqual(['there']))
  const { id } = here.nodes().find(({ roles }) => roles.includes('session')) as { id: string }

  // As a kill does: it can say nothing any more when its turns end.
  await partsOf(here).transport.close()
  partsOf(here).host.abandon()
  // Its record would expire on its own, after seconds.
  await partsOf(there).transport.registry.delete(`nodes/${id}`)

  await vi.waitFor(() => expect(story.stopped).toEqual(['there']), 2_000)
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

/** One effect on another node, over the real bus: `work` is what that node does, `scope` what the caller gives it. */
const elsewhere = async (work: PlaceableEffect<unknown, unknown>, scope: Partial<PlaceableScope<unknown>>) => {
  const environment = { ...systemEnvironment(), ...lines() }
  const { bus, registry, close } = await openMemory({ environment, store, shared: true })
  afterThisTest(close)
  const member = async (me: string) => {
    // Without a time to live: it is there for as long as a test of this file takes.
    await registry.put(`nodes/${me}`, JSON.stringify({ id: me, roles, host: 'h', pid: 1, version: '1', since: 0, draining: false }))
    const membership = await new Membership(registry, environment).open()
    afterThisTest(() => membership.close())
    return { bus, names: subjects(), membership, environment, me }
  }
  const [asker, worker] = [await member('asker'), await member('worker')]
  const subscribed: string[] = []
  const counted: typeof bus = {
    ...bus,
    publish(subject, data, ...rest) {
      if (data.length > bytesMax) throw new RuntimeError('too_large', `a message on the bus may have ${bytesMax} bytes`)
      bus.publish(subject, data, ...rest)
    },
    subscribe: (pattern, ...rest) => {
      subscribed.push(pattern)
      const stop = bus.subscribe(pattern, ...rest)
      return () => {
        subscribed.splice(subscribed.indexOf(pattern), 1)
        stop()
      }
    },
  }
  const { stop } = openWorker({ ...worker, bus: counted }, { execute: work } as unknown as TurnEffects, ['tool'])
  afterThisTest(stop)
  const order: PlaceableScope<unknown> = {
    input: {},
    signal: new AbortController().signal,
    info: { key: 'k', attempt: 1, epoch: 1, restarted: false, confirm: async () => undefined },
    emit: () => undefined,
    receive: () => undefined,
    ...scope,
  }
  /** As a node that is gone: it renews its record no more. */
  const forget = (me: string) => registry.delete(`nodes/${me}`)
  return {
    forget,
    result: remoteEffect({ ...asker, bus: counted }, 'execute')(order as PlaceableScope<never>),
    subscribed,
    logged: environment.warnings,
  }
}
/** What fits into one message, as on a server. */
const bytesMax = 20_000
const lines = () => {
  const warnings: string[] = []
  const none = () => undefined
  return { warnings, log: { debug: none, info: none, error: none, warn: (_: object, message?: string) => void warnings.push(message ?? '') } }
}
const nextTurn = () => new Promise<void>((resolve) => setImmediate(resolve))

test('what the caller sends before the other node listens arrives there, once and in order', async () => {
  const { result } = await elsewhere(
    async ({ receive }) => {
      const received: string[] = []
      // It listens late, as work that has to get ready first.
      await nextTurn()
      receive(({ type }) => void received.push(type))
      while (!received.includes('third')) await nextTurn()
      return received
    },
    {
      receive: (listener) => {
        // Before the order is on its way, and after.
        listener({ type: 'first' })
        listener({ type: 'second' })
        void nextTurn()
          .then(nextTurn)
          .then(() => listener({ type: 'third' }))
      },
    },
  )

  expect(await result).toEqual(['first', 'second', 'third'])
})

test('a stop that comes before the other node has answered stops the work there', async () => {
  const stopping = new AbortController()
  let stopped = false
  const { result } = await elsewhere(
    ({ signal }) =>
      new Promise((_, reject) => {
        signal.addEventListener('abort', () => {
          stopped = true
          reject(new Error('stopped'))
        })
      }),
    { signal: stopping.signal, receive: () => setImmediate(() => stopping.abort()) },
  )
  result.catch(() => undefined)

  await expect(result).rejects.toThrow()
  await vi.waitFor(() => expect(stopped).toBe(true), 2_000)
})

test('work on another node runs only while the caller confirms it, and its refusal arrives there', async () => {
  const refused = new RuntimeError('fenced', 'another node has this session')
  const { result } = await elsewhere(({ info }) => info.confirm(), {
    info: { key: 'k', attempt: 1, epoch: 1, restarted: false, confirm: () => Promise.reject(refused) },
  })

  await expect(result).rejects.toMatchObject({ code: 'fenced', message: 'another node has this session' })
})

test('an order that has ended leaves nothing listening on either node', async () => {
  const { result, subscribed } = await elsewhere(async () => 'done', {})
  expect(await result).toBe('done')

  await vi.waitFor(() => expect(subscribed).toEqual([subjects().work('execute')]), 2_000)
})

test('an event that does not fit into a message takes none of those of its moment with it', async () => {
  const heard: string[] = []
  const { result, logged } = await elsewhere(
    async ({ emit }) => {
      for (const text of ['a', 'b', 'x'.repeat(bytesMax), 'c', 'd']) emit({ type: 'delta', text })
      await nextTurn()
      await nextTurn()
      emit({ type: 'delta', text: 'e' })
      return 'done'
    },
    { emit: (event) => void heard.push(String(event.text)) },
  )

  expect(await result).toBe('done')
  expect(heard).toEqual(['a', 'b', 'c', 'd', 'e'])
  expect(logged).toEqual(['an event of work for another node could not be passed on'])
})

test('what work emits in its last moment comes before its result, also where it fails', async () => {
  const heard: unknown[] = []
  const { result } = await elsewhere(
    async ({ emit }) => {
      emit({ type: 'delta', text: 'last words' })
      throw new RuntimeError('tool_failed', 'no ink')
    },
    { emit: (event) => void heard.push(event.text) },
  )

  await expect(result).rejects.toMatchObject({ code: 'tool_failed' })
  expect(heard).toEqual(['last words'])
})

test('a failure that does not fit into a message arrives shortened', async () => {
  const { result } = await elsewhere(() => Promise.reject(new RuntimeError('tool_failed', 'm'.repeat(50_000), { hint: 'read it' })), {})

  await expect(result).rejects.toMatchObject({ code: 'tool_failed', hint: 'read it' })
})

test('a node that was taken for gone, and goes on, is told to stop its work', async () => {
  const begun = Promise.withResolvers<void>()
  let stopped = false
  const { result, forget } = await elsewhere(
    ({ signal }) =>
      new Promise((_, reject) => {
        signal.addEventListener('abort', () => {
          stopped = true
          reject(new Error('stopped'))
        })
        begun.resolve()
      }),
    {},
  )
  result.catch(() => undefined)
  await begun.promise
  await nextTurn()

  await forget('worker')

  await expect(result).rejects.toMatchObject({ code: 'tool_lost', retryable: true })
  await vi.waitFor(() => expect(stopped).toBe(true), 2_000)
})
