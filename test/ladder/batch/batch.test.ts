/** Batches as their authors and users meet them. */
import { setTimeout } from 'node:timers/promises'
import { expect, expectTypeOf, test } from 'vitest'
import { z } from 'zod'
import { type ModelRequest, tool } from '../../../src/index.ts'
import { agent, batch, type LadderEvent, workflow } from '../../../src/ladder/index.ts'
import { aLadder, aLadderOf } from '../a-ladder.ts'

const usage = { inputTokens: 7, outputTokens: 3 }
const last = ({ messages }: ModelRequest): string => messages.flatMap((message) => (message.role === 'user' ? [message.text] : [])).at(-1) ?? ''

const halves = workflow({
  name: 'halves',
  input: z.number(),
  steps: [
    {
      name: 'halve',
      run: ({ input }) => {
        if (input % 2 === 1) throw new Error(`${input} is odd`)
        return input / 2
      },
    },
  ],
  output: ({ steps }) => steps.halve?.output as number,
})

test('[WL-132] items run by themselves: where one fails, data of the others stands in its place, and the report has a child for each', async () => {
  const all = batch(halves, { concurrency: 2 })
  await using kit = await aLadder(all)

  const { data, error, report } = await kit.clock.until(all.execute([2, 3, 8], { runId: 'r' }))

  expectTypeOf(data).toEqualTypeOf<(number | null)[] | undefined>()
  // @ts-expect-error its items are numbers
  const wrong = () => all.execute(['2'])
  expect(wrong).toBeTypeOf('function')
  expect(data).toEqual([1, null, 4])
  expect(error).toMatchObject({ code: 'BATCH_FAILED', category: 'execution', context: { failed: [1] } })
  expect(report).toMatchObject({
    type: 'batch',
    name: 'halves-batch',
    status: 'failed',
    children: [
      {
        type: 'item',
        name: '0',
        runId: 'r/0',
        parentRunId: 'r',
        rootRunId: 'r',
        status: 'completed',
        children: [{ type: 'workflow', runId: 'r/0/1' }],
      },
      { name: '1', status: 'failed', error: { code: 'STEP_FAILED' }, children: [{ status: 'failed' }] },
      { name: '2', status: 'completed' },
    ],
  })
  expect(await kit.runtime.replay({ kind: 'halves-batch', id: 'r' })).toMatchObject({ verdict: 'identical' })
})

test('[WL-132] what is executed and what is streamed end alike; an empty list is completed; usage is the sum of all', async () => {
  const asks = batch(agent({ name: 'echo', model: 'test/a' }), { name: 'echoes', version: '2' })
  await using kit = await aLadderOf({ 'test/a': (request: ModelRequest) => ({ text: `${last(request)}!`, usage }) }, asks)

  const { data, report, usage: used, error } = await kit.clock.until(asks.execute(['a', 'b', 'c']))
  expect(error).toBeUndefined()
  expect(data).toEqual(['a!', 'b!', 'c!'])
  expect(used).toMatchObject({ total: 30 })
  expect(report).toMatchObject({ status: 'completed', version: '2', usage: { total: 30 } })

  const streamed = asks.stream(['a'], { runId: 's' })
  const events: LadderEvent[] = []
  await kit.clock.until(
    (async () => {
      for await (const event of streamed) events.push(event)
    })(),
  )
  expect((await streamed.result).data).toEqual(['a!'])
  expect(events.filter(({ type }) => type.startsWith('batch.')).map(({ type }) => type)).toEqual([
    'batch.starting',
    'batch.item.starting',
    'batch.item.completed',
    'batch.completed',
  ])
  expect(events.map(({ type }) => type)).toContain('agent.completed')
  expect(await kit.clock.until(asks.execute([]))).toMatchObject({ data: [], report: { status: 'completed', children: [] } })
})

test.each([
  [3, { concurrency: 3 }],
  [5, {}],
])('[WL-132] no more run at once than was said, five where nothing is, and they begin in their order: %i', async (expected, options) => {
  let [now, most] = [0, 0]
  const order: number[] = []
  const slow = workflow({
    name: 'slow',
    steps: [
      {
        name: 'wait',
        run: async ({ input }) => {
          order.push(input as number)
          most = Math.max(most, ++now)
          await setTimeout(1)
          now--
        },
      },
    ],
  })
  const all = batch(slow, options)
  await using kit = await aLadder(all)
  const { report } = await kit.clock.until(all.execute([0, 1, 2, 3, 4, 5, 6, 7]))
  expect(report.status).toBe('completed')
  expect(most).toBe(expected)
  expect(order).toEqual([0, 1, 2, 3, 4, 5, 6, 7])
})

test('[WL-132] each item is tried again by itself as often as was said, after a pause, and only where it is worth it', async () => {
  const tries: string[] = []
  const shaky = workflow({
    name: 'shaky',
    steps: [
      {
        name: 'try',
        run: ({ input, runId }) => {
          tries.push(runId)
          if (input === 'never' || tries.filter((one) => one.startsWith(runId.slice(0, 4))).length < 3) throw new Error(`busy: ${input as string}`)
          return input
        },
      },
    ],
  })
  const retry = { attempts: 3, backoff: 'linear' as const, retryOn: (error: unknown) => !(error as Error).message.includes('never') }
  const all = batch(shaky, { retry })
  await using kit = await aLadder(all)
  const retried: unknown[] = []
  const before = kit.clock.now()
  const { data, report } = await kit.clock.until(
    all.execute(['soon', 'never'], { runId: 'r', on: { 'batch.item.retrying': ({ item, attempt }) => retried.push([item, attempt]) } }),
  )
  expect(data).toEqual(['soon', null])
  expect(tries).toEqual(expect.arrayContaining(['r/0/1', 'r/0/2', 'r/0/3', 'r/1/1']))
  expect(tries).toHaveLength(4)
  expect(retried).toEqual([
    [0, 1],
    [0, 2],
  ])
  expect(kit.clock.now() - before).toBeGreaterThanOrEqual(1_500)
  expect(report.children).toMatchObject([
    { attempts: 3, status: 'completed', children: [{ status: 'failed' }, { status: 'failed' }, { status: 'completed' }] },
    { attempts: 1, status: 'failed' },
  ])
})

test('[WL-132] cancel reaches all that run, and those that wait never begin; resume runs what has no data yet, and nothing twice', async () => {
  const ran: unknown[] = []
  const aborted: unknown[] = []
  let hang = true
  const slow = workflow({
    name: 'slow',
    steps: [
      {
        name: 'work',
        run: ({ input, signal }) => {
          ran.push(input)
          if (input === 'a' || !hang) return input
          return new Promise((_, reject) => {
            signal.addEventListener('abort', () => (aborted.push(input), reject(new Error('aborted'))))
          })
        },
      },
    ],
  })
  const all = batch(slow, { concurrency: 2 })
  await using kit = await aLadder(all)
  const stop = new AbortController()
  let ended = 0
  const running = all.execute(['a', 'b', 'c', 'd'], {
    runId: 'r',
    signal: stop.signal,
    on: { 'batch.item.completed': () => void ended++, 'batch.item.starting': ({ item }) => item === 2 && stop.abort('enough') },
  })
  const { data, error, report } = await kit.clock.until(running)
  expect(error).toMatchObject({ code: 'BATCH_CANCELLED', category: 'cancelled', context: { cancelledAt: 1, reason: 'enough' } })
  expect(data).toEqual(['a', null, null, null])
  expect(report).toMatchObject({
    status: 'cancelled',
    children: [{ status: 'completed' }, { status: 'cancelled' }, { status: 'cancelled' }, { status: 'cancelled' }],
  })
  expect(aborted).toEqual(expect.arrayContaining(['b']))
  expect(ran).not.toContain('d')

  hang = false
  ran.length = 0
  expect(await kit.clock.until(all.resume('r'))).toMatchObject({ data: ['a', 'b', 'c', 'd'], report: { status: 'completed' } })
  expect(ran).toEqual(['b', 'c', 'd'])
})

test('[WL-132, WL-129] a call that waits in an item is pending in the batch, and a decision goes to that item', async () => {
  const wipe = tool({
    name: 'wipe',
    description: 'Wipes.',
    input: z.object({}),
    onCrash: 'retry',
    approval: true,
    execute: () => 'clean',
  })
  const cleaner = agent({ name: 'cleaner', model: 'test/a', tools: [wipe] })
  const all = batch(cleaner, { name: 'rooms' })
  const model = (request: ModelRequest) =>
    request.messages.some(({ role }) => role === 'tool') ? { text: 'done' } : { calls: [{ name: 'wipe', input: {} }] }
  await using kit = await aLadderOf({ 'test/a': model }, all)
  const running = all.execute(['one', 'two'], { runId: 'r' })
  const pending = async () => {
    for (;;) {
      const calls = await all.pending('r').catch(() => [])
      if (calls.length === 2) return calls
      await setTimeout(1)
    }
  }
  const calls = await kit.clock.until(pending())
  for (const { callId } of calls) await kit.clock.until(all.decide('r', { callId, decision: 'approve' }))
  expect(await kit.clock.until(running)).toMatchObject({ data: ['done', 'done'] })
})

test('[WL-132] a batch runs inside of a workflow, and as a tool of an agent', async () => {
  const all = batch(halves, { description: 'Halves numbers.' })
  const flow = workflow({ name: 'flow', steps: [{ name: 'halve', agent: all, input: () => [4, 6] }] })
  const chief = agent({ name: 'chief', model: 'test/a', tools: [all] })
  await using kit = await aLadderOf({ 'test/a': [{ calls: [{ name: 'halves-batch', input: { items: [2, 4] } }] }, { text: 'done' }] }, flow, chief)
  const { data, report } = await kit.clock.until(flow.execute(undefined))
  expect(data).toEqual([2, 3])
  expect(report.children[0]?.children[0]).toMatchObject({ type: 'batch', children: [{ type: 'item' }, { type: 'item' }] })
  const asked = await kit.clock.until(chief.execute('go'))
  expect(asked).toMatchObject({ data: 'done', report: { children: [{ type: 'tool', children: [{ type: 'batch', status: 'completed' }] }] } })
})

test('[WL-132] an item that does not fit what runs fails by itself, and nothing of it runs', async () => {
  const ran: unknown[] = []
  const strict = workflow({ name: 'strict', input: z.number(), steps: [{ name: 'x', run: ({ input }) => ran.push(input) }] })
  const all = batch(strict, { retry: { attempts: 3 } })
  await using kit = await aLadder(all)
  const { data, report } = await kit.clock.until(all.execute([1, 'two' as never, 3]))
  expect(data).toEqual([1, null, 2])
  expect(ran).toEqual([1, 3])
  expect(report.children[1]).toMatchObject({ status: 'failed', error: { code: 'SCHEMA_VALIDATION_FAILED' }, attempts: 0, children: [] })
})

test('[WL-132] what is wrong with a batch, or is no list, is said', async () => {
  const all = batch(halves)
  await using kit = await aLadder(all, workflow({ name: 'flow', steps: [{ name: 'x', agent: all, input: () => 7 }] }))
  expect(() => batch({} as never)).toThrow(expect.objectContaining({ code: 'BATCH_CONFIG' }))
  expect(() => batch(halves, { name: 'Not a name' })).toThrow(/no name/)
  expect(() => batch(halves, { name: 'halves' })).toThrow(/named as what it runs/)
  expect(() => batch(halves, { concurrency: 0 })).toThrow(/concurrency/)
  expect(() => batch(halves, { retry: { attempts: 1.5 } })).toThrow(/retry/)
  expect(await kit.clock.until(all.execute(7 as never))).toMatchObject({ error: { code: 'SCHEMA_VALIDATION_FAILED' }, report: { status: 'failed' } })
})
