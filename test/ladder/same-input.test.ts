/** Names of runs and of turns that are used again. */
import { expect, test } from 'vitest'
import { z } from 'zod'
import { ladder, memoryStore, orchestrator, serve, workflow } from '../../src/ladder/index.ts'
import { testRuntime } from '../../src/testing/index.ts'
import { aLadder } from './a-ladder.ts'

type Order = { sku: string; count?: number | undefined; due?: Date }
const conflict = { code: 'INPUT_CONFLICT', category: 'validation', hint: expect.stringContaining('another') }

const anOrder = () => {
  const done: unknown[] = []
  const order = workflow({
    name: 'order',
    // What it makes of the input is another one each time.
    input: z.object({
      sku: z.string(),
      count: z.number().optional(),
      due: z.date().optional(),
      id: z.string().default(() => String(done.length)),
    }) as never,
    steps: [
      { name: 'wait', waitFor: 'paid' },
      { name: 'send', run: ({ input }: { input: unknown }) => void done.push(input) },
    ],
  })
  return { done, order: order as unknown as typeof order & { execute(input: Order, options?: object): ReturnType<typeof order.execute> } }
}

test('[WL-003, WL-113] a run that is executed again with another input is refused, under way and when it has ended; with the same it answers again', async () => {
  const { done, order } = anOrder()
  await using kit = await aLadder(order)
  const due = new Date(5)
  const first = order.execute({ sku: 'bee', count: 1, due }, { runId: 'r' })
  const waiting = new Promise((resolve) => order.on({ 'workflow.step.starting': resolve }))
  await kit.clock.until(waiting as Promise<void>)

  await expect(kit.clock.until(order.execute({ sku: 'wasp' }, { runId: 'r' }))).rejects.toMatchObject(conflict)
  await expect(kit.clock.until(order.start({ sku: 'wasp' }, { runId: 'r' }))).rejects.toMatchObject(conflict)
  expect(await kit.clock.until(order.start({ due: new Date(5), count: 1, sku: 'bee' }, { runId: 'r' }))).toBe('r')
  const again = order.execute({ due, count: 1, sku: 'bee' }, { runId: 'r' })
  await order.send('r', { type: 'paid' })
  const result = await kit.clock.until(first)
  expect((await kit.clock.until(again)).report).toEqual(result.report)

  await kit.crash()
  await kit.restart()
  await expect(kit.clock.until(order.execute({ sku: 'bee', count: 2 }, { runId: 'r' }))).rejects.toMatchObject(conflict)
  expect((await kit.clock.until(order.execute({ count: 1, due, sku: 'bee' }, { runId: 'r' }))).report).toEqual(result.report)
  expect(done).toHaveLength(1)
})

test('[WL-136] over HTTP another input under a name that was used is a conflict', async () => {
  const one = workflow({ name: 'one', steps: [{ name: 'all', run: ({ input }) => input }] })
  await using kit = await testRuntime({ extensions: [ladder({ executables: [one], serve: true })] })
  const handler = serve([one], { token: 'a-token-that-is-long' })
  const post = (input: unknown) =>
    handler(
      new Request('http://x/one', {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: 'Bearer a-token-that-is-long' },
        body: JSON.stringify({ input, runId: 'r' }),
      }),
    )
  await kit.clock.until(one.execute({ a: 1, b: 2 }, { runId: 'r' }))
  expect((await kit.clock.until(post({ a: 2 }))).status).toBe(409)
  const same = await kit.clock.until(post({ b: 2, a: 1 }))
  expect(same.status).toBe(200)
  await same.body?.cancel()
  const other = kit.runtime.command<object>('ladder.execute', { name: 'one', input: 5, runId: 'r' })
  await expect(kit.clock.until(other)).rejects.toMatchObject({ code: 'conflict' })
})

test('[WL-018, WL-024] a turn that is asked for again with another input is refused, in the queue, under way and when it has ended', async () => {
  const open = Promise.withResolvers<void>()
  const inputs: unknown[] = []
  const desk = orchestrator({
    name: 'desk',
    checkpointStore: memoryStore(),
    intents: {
      a: async ({ input }: { input: unknown }) => {
        inputs.push(input)
        await open.promise
        return { last: input }
      },
    },
    route: () => 'a' as const,
  })
  await using kit = await aLadder(desk)
  const turn = (input: unknown, requestId: string) => kit.clock.until(desk.execute(input, { sessionId: 's', history: [], requestId }))
  const [first, second] = [turn({ a: 1, b: undefined }, 'one'), turn('later', 'two')]
  await expect(turn({ a: 2 }, 'one')).rejects.toMatchObject(conflict)
  await expect(turn('sooner', 'two')).rejects.toMatchObject(conflict)
  open.resolve()
  expect(await first).toMatchObject({ turnIndex: 0, data: { last: { a: 1 } } })
  expect(await second).toMatchObject({ turnIndex: 1 })

  await kit.crash()
  await kit.restart()
  await expect(turn({ a: 2 }, 'one')).rejects.toMatchObject(conflict)
  expect(await turn({ a: 1 }, 'one')).toMatchObject({ turnIndex: 0, data: { last: { a: 1 } } })
  expect(inputs).toHaveLength(2)
})

/** Aborts as soon as anybody listens. */
const hasty = (): AbortSignal => {
  const { signal, abort } = ((leave) => ({ signal: leave.signal, abort: () => leave.abort('hasty') }))(new AbortController())
  const listen = signal.addEventListener.bind(signal) as (...all: unknown[]) => void
  signal.addEventListener = (...all: unknown[]) => {
    listen(...all)
    abort()
  }
  return signal
}

test('[WL-018, WL-036] who asks for a turn with another input and then leaves does not cancel the turn that has that name', async () => {
  const begun = Promise.withResolvers<void>()
  const open = Promise.withResolvers<void>()
  const desk = orchestrator({
    name: 'desk',
    checkpointStore: memoryStore(),
    intents: { a: async ({ input }: { input: unknown }) => (begun.resolve(), await open.promise, { last: input }) },
    route: () => 'a' as const,
  })
  await using kit = await aLadder(desk)
  const turn = (input: unknown, signal?: AbortSignal) =>
    desk.execute(input, { sessionId: 's', history: [], requestId: 'one', ...(signal && { signal }) })
  const first = turn(1)
  await kit.clock.until(begun.promise)
  await expect(kit.clock.until(turn(2, hasty()))).rejects.toMatchObject(conflict)
  open.resolve()
  expect(await kit.clock.until(first)).toMatchObject({ data: { last: 1 }, report: { status: 'awaiting-input' } })
})

test('[WL-003, WL-006] nor the run that has that name, even where nobody remembers any more who has begun it', async () => {
  const { done, order } = anOrder()
  await using kit = await aLadder(order)
  const first = order.execute({ sku: 'bee' }, { runId: 'r' })
  await kit.clock.until(new Promise((resolve) => order.on({ 'workflow.step.starting': resolve })))
  // As many messages as an actor remembers by their ids.
  for (let index = 0; index < 1100; index++) await kit.runtime.actor('order', 'r').send({ type: 'other' }, { id: `m-${index}` })
  await expect(kit.clock.until(order.execute({ sku: 'wasp' }, { runId: 'r', signal: hasty() }))).rejects.toMatchObject(conflict)
  await order.send('r', { type: 'paid' })
  expect(await kit.clock.until(first)).toMatchObject({ report: { status: 'completed' } })
  expect(done).toHaveLength(1)
})
