/** Every rung on two nodes that share a NATS server: the one that has a run is killed in the middle, and the other one goes on. */
import { expect, test, vi } from 'vitest'
import { z } from 'zod'
import { createRuntime, type ModelRequest, type Runtime, type RuntimeOptions, tool } from '../../src/index.ts'
import { type AnyExecutable, agent, END, type LadderOptions, ladder, schedule, supervisor, workflow } from '../../src/ladder/index.ts'
import { partsOf } from '../../src/runtime/index.ts'
import { natsForAll } from '../support/nats.ts'
import { timeless } from './a-ladder.ts'

const server = natsForAll()
const usage = { inputTokens: 7, outputTokens: 3 }
const takeoverMs = 60_000
const forEver = new Promise<never>(() => undefined)

/** What happened on all nodes; `hangs` until the first node was killed. */
type World = { did: string[]; hangs: boolean }
type Made<Rungs> = { rungs: Rungs; executables: LadderOptions['executables']; models?: NonNullable<RuntimeOptions['models']> }
type Node<Rungs> = Rungs & { runtime: Runtime }

/** Its executables are its own: they are of one runtime. */
const aNode = async <Rungs>(prefix: string, { rungs, executables, models = {} }: Made<Rungs>): Promise<Node<Rungs>> => {
  const runtime = await createRuntime({ transport: server.url, prefix, extensions: [ladder({ executables })], models })
  return { ...rungs, runtime }
}

/** Two nodes that have their share each, and an id of a run that the first one has. */
const twoNodes = async <Rungs>(prefix: string, kind: string, made: (world: World) => Made<Rungs>) => {
  const world: World = { did: [], hangs: true }
  const [here, there] = [await aNode(prefix, made(world)), await aNode(prefix, made(world))]
  await balanced(here, there)
  const id = Array.from({ length: 200 }, (_, index) => `run-${index}`).find((one) => partsOf(here.runtime).host.mayHave({ kind, id: one }))
  return { here, there, world, id: id as string }
}

/** Both know of both, and have their share. */
const balanced = (...two: [{ runtime: Runtime }, { runtime: Runtime }]): Promise<void> =>
  vi.waitFor(() => {
    const known = two.flatMap(({ runtime }) => runtime.nodes().map(({ partitions }) => partitions > 16))
    expect(known).toEqual([true, true, true, true])
  }, takeoverMs)

/** As `kill -9`: it says nothing more, and leaves nobody a word. */
const kill = async ({ runtime }: { runtime: Runtime }, world: World): Promise<void> => {
  world.hangs = false
  partsOf(runtime).host.abandon()
  await partsOf(runtime).transport.close()
}

/** The same run without a crash, on a node alone. */
const calmly = async <Rungs>(prefix: string, made: (world: World) => Made<Rungs>, run: (node: Node<Rungs>) => Promise<unknown>, id: string) => {
  const world: World = { did: [], hangs: false }
  const node = await aNode(`${prefix}-calm`, made(world))
  const result = (await run(node)) as { report: object }
  await node.runtime.close()
  expect(JSON.stringify(result)).toContain(id)
  return { result, did: world.did }
}
type Seen = { matches(state: never): boolean; context: unknown }
/** Asked of any node; the run need not be there yet. */
const comesTo = async ({ runtime }: { runtime: Runtime }, kind: string, id: string, fits: (seen: Seen) => boolean): Promise<void> => {
  await vi.waitFor(async () => expect(fits(await runtime.actor(kind, id).snapshot())).toBe(true), { timeout: takeoverMs, interval: 50 })
}
const inStep = (step: string) => (seen: Seen) => seen.matches({ steps: { [step]: 'resting' } } as never)

test('[WL-113] a workflow that sleeps and waits: its node is killed while it waits, and again while it works; the other one is told what it waits for', async () => {
  const made = (world: World): Made<{ fulfil: AnyExecutable & { send: (id: string, event: { type: string }) => Promise<void> } }> => {
    const fulfil = workflow({
      name: 'fulfil',
      state: { sum: 0 },
      steps: [
        { name: 'charge', run: ({ state, key }) => ((state.sum = 5), world.did.push(`charge ${key}`), 'charged') },
        { name: 'pause', sleep: 1_500 },
        { name: 'paid', waitFor: 'paid', schema: z.object({ by: z.string() }) },
        { name: 'ship', run: ({ state, steps, key }) => (world.did.push(`ship ${key}`), world.hangs ? forEver : [state.sum, steps.paid?.output]) },
      ],
    })
    return { rungs: { fulfil }, executables: [fulfil] }
  }
  const { here, there, world, id } = await twoNodes('wf', 'fulfil', made)
  here.fulfil.execute(undefined, { runId: id }).catch(() => undefined)
  await comesTo(there, 'fulfil', id, inStep('pause'))
  await kill(here, world)

  // It slept on without a node.
  await comesTo(there, 'fulfil', id, inStep('paid'))
  const third = await aNode('wf', made(world))
  await balanced(there, third)
  const [owner, left] = partsOf(there.runtime).host.mayHave({ kind: 'fulfil', id }) ? [there, third] : [third, there]
  world.hangs = true
  await left.fulfil.send(id, { type: 'paid', by: 'bank' } as never)
  await vi.waitFor(() => expect(world.did.at(-1)).toMatch(/^ship/), takeoverMs)
  await kill(owner, world)
  const result = await left.fulfil.execute(undefined, { runId: id })
  const replayed = await left.runtime.replay({ kind: 'fulfil', id })
  await left.runtime.close()

  const calm = await calmly(
    'wf',
    made,
    async ({ fulfil, runtime }) => {
      const running = fulfil.execute(undefined, { runId: id })
      await comesTo({ runtime }, 'fulfil', id, inStep('paid'))
      await fulfil.send(id, { type: 'paid', by: 'bank' } as never)
      return running
    },
    id,
  )
  expect(result.data).toEqual([5, { by: 'bank' }])
  expect(timeless(result)).toEqual(timeless(calm.result))
  expect(world.did).toEqual([...calm.did, calm.did.at(-1)])
  expect(replayed).toMatchObject({ verdict: 'identical' })
})

test('[WL-101] a supervisor with three at once: what has ended on the node that is killed is not asked again, what had not is', async () => {
  const made = (world: World): Made<{ desk: AnyExecutable }> => {
    const writer = agent({ name: 'writer', description: 'Writes.', model: 'test/writer', output: z.object({ title: z.string() }) })
    const state: { title?: string; counted?: number; looked?: boolean } = {}
    const desk = supervisor({
      name: 'desk',
      state,
      intents: {
        write: { agent: writer, output: z.object({ title: z.string() }), input: () => 'a title' },
        count: { run: () => (world.did.push('count'), { counted: 3 }) },
        look: { run: () => (world.did.push('look'), world.hangs ? forEver : { looked: true }) },
      },
      route: ({ iteration }) => (iteration === 0 ? (['write', 'count', 'look'] as const) : END),
    })
    const answers = () => (world.did.push('model'), { text: '{"title":"Bees"}', usage })
    return { rungs: { desk }, executables: [desk], models: { 'test/writer': answers } }
  }
  const { here, there, world, id } = await twoNodes('sv', 'desk', made)
  here.desk.execute('go', { runId: id }).catch(() => undefined)
  // Two branches have ended; the third hangs.
  await comesTo(there, 'desk', id, ({ context }) => Object.keys((context as { going: object }).going).join() === 'look')
  await kill(here, world)
  const result = await there.desk.execute('go', { runId: id })
  const replayed = await there.runtime.replay({ kind: 'desk', id })
  await there.runtime.close()

  const calm = await calmly('sv', made, ({ desk }) => desk.execute('go', { runId: id }), id)
  expect(result.data).toEqual({ title: 'Bees', counted: 3, looked: true })
  expect(timeless(result)).toEqual(timeless(calm.result))
  expect(world.did.toSorted()).toEqual(['count', 'look', 'look', 'model'])
  expect(replayed).toMatchObject({ verdict: 'identical' })
})

test('[WL-129, WL-125] an agent whose call waits for a person, who answers at the other node; its node is killed after the call: it is not made again', async () => {
  const made = (world: World): Made<{ clerk: AnyExecutable }> => {
    const pay = tool({
      name: 'pay',
      description: 'Pays.',
      input: z.object({ sum: z.number() }),
      approval: true,
      onCrash: 'once',
      execute: ({ sum }, { callId }) => (world.did.push(`pay ${sum} ${callId}`), 'paid'),
    })
    const clerk = agent({ name: 'clerk', model: 'test/c', tools: [pay] })
    const answers = async ({ messages }: ModelRequest) => {
      const isPaid = messages.some(({ role }) => role === 'tool')
      // Only once: on a busy machine the other node may have come to have it before this one is killed.
      const hangs = isPaid && world.hangs && !world.did.includes('model after')
      world.did.push(isPaid ? 'model after' : 'model before')
      if (hangs) return forEver
      return isPaid ? { text: 'all is paid', usage } : { calls: [{ name: 'pay', input: { sum: 7 } }], usage }
    }
    return { rungs: { clerk }, executables: [clerk], models: { 'test/c': answers } }
  }
  const decided = async ({ clerk, runtime }: Node<{ clerk: AnyExecutable }>, id: string): Promise<void> => {
    await comesTo({ runtime }, 'clerk', id, ({ context }) => (context as { waiting: unknown[] }).waiting.length > 0)
    const [call] = await clerk.pending(id)
    await clerk.decide(id, { callId: call?.callId ?? '', decision: 'approve', by: 'ann' })
  }
  const { here, there, world, id } = await twoNodes('ag', 'clerk', made)
  here.clerk.execute('pay', { runId: id }).catch(() => undefined)
  await decided(there, id)
  await vi.waitFor(() => expect(world.did).toContain('model after'), takeoverMs)
  await kill(here, world)
  const result = await there.clerk.execute('pay', { runId: id })
  const replayed = await there.runtime.replay({ kind: 'clerk', id })
  await there.runtime.close()

  const calm = await calmly(
    'ag',
    made,
    async (node) => {
      const running = node.clerk.execute('pay', { runId: id })
      await decided(node, id)
      return running
    },
    id,
  )
  expect(result.data).toBe('all is paid')
  expect(timeless(result)).toEqual(timeless(calm.result))
  expect(world.did).toEqual([...calm.did, 'model after'])
  expect(replayed).toMatchObject({ verdict: 'identical' })
})

test('a schedule that two nodes have begins one run each time, also where its node is killed', async () => {
  const made = (world: World) => {
    const flow = workflow({ name: 'flow', input: z.string(), steps: [{ name: 'work', run: ({ input }) => void world.did.push(input) }] })
    const often = schedule({ name: 'often', run: flow, every: '1s', overlap: 'allow', catchUp: 'all', input: ({ runId }) => runId })
    return { rungs: { flow, often }, executables: [flow, often] }
  }
  const { here, there, world } = await twoNodes('sc', 'often', made)
  await vi.waitFor(() => expect(world.did.length).toBeGreaterThan(2), takeoverMs)
  const [owner, left] = partsOf(here.runtime).host.mayHave({ kind: 'often', id: 'main' }) ? [here, there] : [there, here]
  await kill(owner, world)
  const before = world.did.length
  await vi.waitFor(() => expect(world.did.length).toBeGreaterThan(before + 5), takeoverMs)
  await left.often.stop()
  await vi.waitFor(async () => expect((await left.often.history()).filter(({ status }) => status === 'running')).toEqual([]), takeoverMs)
  const firings = await left.often.history()
  const runs = await partsOf(left.runtime).transport.journal.list({ kind: 'flow' })
  await left.runtime.close()

  expect(firings.map(({ status }) => status)).toEqual(firings.map(() => 'completed'))
  expect(runs.map(({ address }) => address.id).toSorted()).toEqual(firings.map(({ runId }) => runId).toSorted())
  // None was left out: they are a second apart.
  const due = firings.map((firing) => firing.due.getTime()).toReversed()
  expect(due.slice(1).map((at, index) => at - (due[index] as number))).toEqual(due.slice(1).map(() => 1_000))
  // A step that the kill cut off may run again, under the same key.
  expect(new Set(world.did)).toEqual(new Set(firings.map(({ runId }) => runId)))
  expect(world.did.length - firings.length).toBeLessThanOrEqual(1)
})
