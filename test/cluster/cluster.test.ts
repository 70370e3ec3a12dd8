/** Several nodes that share their actors on one NATS server. */

import { setTimeout as pause } from 'node:timers/promises'
import { afterEach, expect, test, vi } from 'vitest'
import { z } from 'zod'
import type { Clock } from '../../src/contracts/environment.ts'
import { partitionCount, partitionOf, rendezvous } from '../../src/contracts/placement.ts'
import { agent, createRuntime, type Runtime, type RuntimeOptions, tool } from '../../src/index.ts'
import { partsOf } from '../../src/runtime/index.ts'
import { openMemory } from '../../src/transport/memory/open.ts'
import { openNats } from '../../src/transport/nats/open.ts'
import { ownNats } from '../support/nats.ts'
import { paying } from '../support/paying.ts'
import { anEnvironment } from '../transport/harness.ts'

const server = ownNats()

/** Where each tool call ran, and how often. */
const paid: { node: string; callId: string }[] = []
let count = 0
let prefix = ''
let running: Runtime[] = []
afterEach(async () => {
  await Promise.all(running.map((runtime) => runtime.close()))
  running = []
  paid.length = 0
})

type Named = { name: string; hold?: Promise<void> } & RuntimeOptions

/** A node whose answers and tools say which it is. */
const node = async ({ name, hold, ...options }: Named): Promise<Runtime> => {
  if (running.length === 0) prefix = `cluster-${++count}`
  const itsAgent = paying({
    pay: async (amount, callId) => {
      paid.push({ node: name, callId })
      await hold
      return `${name} paid ${amount}`
    },
    answer: (last) => `${name}: ${last?.role === 'tool' ? String(last.output) : 'hello'}`,
  })
  const runtime = await createRuntime({
    transport: server.url,
    prefix,
    ...itsAgent,
    ...options,
  })
  running.push(runtime)
  return runtime
}

/** So many nodes, and each has the partitions that it is to have: none moves any more. */
const settled = (runtime: Runtime, nodes: number) =>
  vi.waitFor(() => {
    const rows = runtime.nodes()
    expect(rows).toHaveLength(nodes)
    const names = rows.map(({ id }) => id)
    const wanted = names.map((name) =>
      Array.from({ length: partitionCount }, (_, partition) => partition).filter((one) => rendezvous(one, names) === name),
    )
    expect(rows.map(({ holds }) => holds)).toEqual(wanted)
  })
/** Keys of sessions, so many that each node has some. */
const keys = Array.from({ length: 12 }, (_, index) => `s${index}`)

test('two nodes share the partitions, and each answers for the sessions of both', async () => {
  const first = await node({ name: 'A' })
  await settled(first, 1)
  const second = await node({ name: 'B' })
  await settled(second, 2)
  await settled(first, 2)

  const answers = await Promise.all(keys.map(async (key) => (await (await first.session(key).send('hi')).result()).text))
  const again = await Promise.all(keys.map(async (key) => (await (await second.session(key).send('pay')).result()).text))

  expect(new Set(answers)).toEqual(new Set(['A: hello', 'B: hello']))
  for (const [index, text] of again.entries()) expect(text).toBe(answers[index]?.startsWith('A') ? 'A: A paid 7' : 'B: B paid 7')
  expect(new Set(paid.map(({ callId }) => callId)).size).toBe(keys.length)
  expect((await second.session('s0').history()).map(({ role }) => role)).toEqual(['user', 'assistant', 'user', 'assistant', 'tool', 'assistant'])
})

test('events of a session elsewhere are heard as those of one here: each once, in order', async () => {
  const first = await node({ name: 'A' })
  const second = await node({ name: 'B' })
  await settled(first, 2)
  await settled(second, 2)

  for (const key of keys) {
    const run = await second.session(key).send('pay')
    const types: string[] = []
    for await (const { type } of run.events()) types.push(type)
    expect(types.filter((type) => type !== 'delta' && type !== 'usage')).toEqual(['accepted', 'started', 'tool', 'tool', 'final'])
  }
})

test('a node that drains in the middle of turns loses none, and repeats no tool', async () => {
  const gate = Promise.withResolvers<void>()
  const first = await node({ name: 'A', hold: gate.promise })
  await settled(first, 1)
  const runs = await Promise.all(keys.map((key) => first.session(key).send('pay', { idempotencyKey: `m-${key}` })))
  for (const run of runs) run.result().catch(() => undefined)
  await vi.waitFor(() => expect(paid).toHaveLength(keys.length))

  const second = await node({ name: 'B' })
  await vi.waitFor(() => expect(second.nodes()).toHaveLength(2))
  const draining = first.drain(20_000)
  await vi.waitFor(() => expect(second.nodes().find(({ id }) => id !== undefined && second.nodes().length === 2)?.partitions).toBeDefined())
  // A message to a session that is still at work over there.
  const steered = await second.session('s0').send('hurry', { queueMode: 'followup' })
  gate.resolve()
  await draining

  const answers = await Promise.all(keys.map((key) => second.session(key).wait(`m-${key}`, 60_000)))
  for (const { text } of answers) expect(text).toMatch(/^A: A paid 7|^B: A paid 7/)
  expect((await steered.result()).status).toBe('completed')
  expect(paid).toHaveLength(keys.length)
  await settled(second, 1)
  expect(await (await second.session('s1').send('hi')).result()).toMatchObject({ text: 'B: hello' })
})

test('a node that is none is not asked to drain, whatever was given for its name', async () => {
  const first = await node({ name: 'A' })
  await settled(first, 1)

  for (const id of ['nobody', 5, undefined, null, {}])
    await expect(first.drainNode(id as string)).rejects.toMatchObject({ code: 'not_found', hint: expect.stringContaining('there are: node') })
})

test('the sessions of a node that dies go on at the other one', async () => {
  const first = await node({ name: 'A', hold: new Promise(() => undefined) })
  const second = await node({ name: 'B' })
  await settled(first, 2)
  await settled(second, 2)
  const there = keys.filter((key) => !partsOf(second).host.mayHave({ kind: 'session', id: key }))
  expect(there.length).toBeGreaterThan(0)
  const runs = await Promise.all(there.map((key) => second.session(key).send('hi')))
  await Promise.all(runs.map((run) => run.result()))

  // As a kill would: nothing is written, and nobody is told.
  partsOf(first).host.abandon()
  await partsOf(first).transport.close()

  const late = await Promise.all(there.map(async (key) => (await (await second.session(key).send('hi')).result()).text))
  expect(new Set(late)).toEqual(new Set(['B: hello']))
})

test('a message that is published reaches whoever has its session, and a bystander asks them', async () => {
  const first = await node({ name: 'A' })
  const second = await node({ name: 'B' })
  await settled(second, 2)
  for (const key of keys)
    await first.publish(`${prefix}.in.session.${key}`, new TextEncoder().encode(JSON.stringify({ type: 'message', text: 'hi', id: key })))
  const bystander = await node({ name: 'C', resume: false })

  for (const key of keys) {
    const { text } = await vi.waitFor(() => bystander.session(key).wait(key, 60_000))
    expect(text).toBe(`${partsOf(second).host.mayHave({ kind: 'session', id: key }) ? 'B' : 'A'}: hello`)
  }
  expect(partsOf(bystander).host.liveCount).toBe(0)
  expect(bystander.nodes()).toHaveLength(2)
})

test('a server that stands still for longer than a node is missed: nobody is dropped, and no tool is in doubt', async () => {
  const gate = Promise.withResolvers<void>()
  const first = await node({ name: 'A', hold: gate.promise })
  const second = await node({ name: 'B', hold: gate.promise })
  await settled(first, 2)
  await settled(second, 2)
  const runs = await Promise.all(keys.map((key) => first.session(key).send('pay')))
  await vi.waitFor(() => expect(paid).toHaveLength(keys.length))

  server.freeze()
  await pause(5_000)
  server.thaw()
  await settled(first, 2)
  gate.resolve()

  for (const run of runs) expect((await run.result()).text).toMatch(/paid 7$/)
  expect(paid).toHaveLength(keys.length)
})

test('leases that somebody takes away are taken again, and the turns on them go on', async () => {
  let release: () => void = () => undefined
  const hold = new Promise<void>((resolve) => (release = resolve))
  const first = await node({ name: 'A', hold })
  await settled(first, 1)
  const run = await first.session('s1').send('pay')
  await vi.waitFor(() => expect(paid).toHaveLength(1))

  const { registry, close } = await openNats({ url: server.url, environment: anEnvironment(), prefix })
  for (const { key } of await registry.list('leases/')) await registry.delete(key)
  await settled(first, 1)
  release()

  expect((await run.result()).text).toBe('A: A paid 7')
  expect(paid).toHaveLength(1)
  await vi.waitFor(async () => expect(await registry.list('leases/')).toHaveLength(64))
  await close()
})

test('a node that leaves does not wait for somebody to take what nobody has', async () => {
  const gateway = await node({ name: 'G', roles: ['gateway'] })
  const sending = gateway.session('s1').send('hello')
  sending.catch(() => undefined)

  await gateway.drain()

  await expect(sending).rejects.toMatchObject({ code: 'closed', retryable: true })
})

test('what does not fit into a message ends neither the node that does the work nor the turn', async () => {
  const loud = tool({
    name: 'pay',
    description: 'pays',
    input: z.object({ amount: z.number() }),
    onCrash: 'retry',
    execute: ({ amount }, { progress }) => {
      progress('p'.repeat(2_000_000))
      if (amount === 7) throw new Error('M'.repeat(2_000_000))
      return 'paid'
    },
  })
  const agents = [agent({ name: 'main', model: 'test/model', tools: [loud] })]
  const here = await node({ name: 'A', roles: ['gateway', 'session'], agents })
  await node({ name: 'B', roles: ['turn', 'tool'], agents })
  await vi.waitFor(() => expect(here.nodes()).toHaveLength(2))

  const { text } = await (await here.session('s').send('pay')).result()

  expect(text).toMatch(/^B: /)
})

test('an actor belongs to the partition into which the server sorts its messages', async () => {
  const runtime = await node({ name: 'A' })
  const { connect } = await import('@nats-io/transport-node')
  const nc = await connect({ servers: server.url })
  const { jetstreamManager } = await import('@nats-io/jetstream')
  const jsm = await jetstreamManager(nc)
  await runtime.close()
  const ids = ['main', 'agent:main:web:main', 'ümläut', 'a b.c', '0']
  for (const id of ids) nc.publish(runtime.subjects.in({ kind: 'session', id }), '{}')
  await nc.flush()

  await vi.waitFor(async () => {
    const { state } = await jsm.streams.info(`${prefix.toUpperCase()}_INBOX`, { subjects_filter: '>' })
    const sorted = Object.keys(state.subjects ?? {}).map((subject) => Number(subject.split('.')[2]))
    expect(new Set(sorted)).toEqual(new Set(ids.map((id) => partitionOf({ kind: 'session', id }))))
  })
  await nc.close()
})

test('a runtime that cannot be made leaves nobody behind who watches, or waits for his time', async () => {
  const environment = anEnvironment()
  const transport = await openMemory({ environment, shared: true })
  const timers = new Set<unknown>()
  const clock: Clock = {
    now: Date.now,
    setTimeout: (callback, ms) => {
      const timer = setTimeout(() => {
        timers.delete(timer)
        callback()
      }, ms)
      timers.add(timer)
      return timer
    },
    clearTimeout: (timer) => {
      timers.delete(timer)
      clearTimeout(timer as NodeJS.Timeout)
    },
  }
  let watching = 0
  const watch: typeof transport.registry.watch = (...args) => {
    watching++
    const stop = transport.registry.watch(...args)
    return () => {
      watching--
      stop()
    }
  }
  const subscribe: typeof transport.bus.subscribe = (pattern, ...rest) => {
    if (pattern.includes('.api.')) throw new Error('no door')
    return transport.bus.subscribe(pattern, ...rest)
  }
  const broken = { ...transport, registry: { ...transport.registry, watch }, bus: { ...transport.bus, subscribe } }

  await expect(createRuntime({ transport: broken, environment: { clock } })).rejects.toThrow('no door')

  expect(watching).toBe(0)
  await vi.waitFor(() => expect(timers.size).toBe(0))
  await transport.close()
})
