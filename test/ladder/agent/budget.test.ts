/** Budgets, looked at after each answer of the model. */
import { expect, test } from 'vitest'
import { z } from 'zod'
import { type ModelRequest, tool } from '../../../src/index.ts'
import { agent, type LadderEvent, workflow } from '../../../src/ladder/index.ts'
import { aLadderOf } from '../a-ladder.ts'

const usage = { inputTokens: 40, outputTokens: 20 }
const aLook = (did: string[]) =>
  tool({ name: 'look', description: 'Looks.', input: z.object({}), onCrash: 'retry', execute: () => did.push('look') && 'seen' })
const restless = { calls: [{ name: 'look' }], usage }

test('[WL-127] with 100 tokens and trips of 60 it ends after the second, before its tools run; it can be gone on with, with as much again', async () => {
  const did: string[] = []
  const clerk = agent({ name: 'clerk', model: 'test/a', tools: [aLook(did)], budget: { maxTokens: 100 } })
  await using kit = await aLadderOf(
    { 'test/a': [restless, restless, restless, { text: 'enough', usage: { inputTokens: 5, outputTokens: 5 } }] },
    clerk,
  )
  const events: LadderEvent[] = []
  const run = clerk.execute('go', { runId: 'r', on: { 'agent.budget.exceeded': (event) => events.push(event) } })

  expect(await kit.clock.until(run)).toMatchObject({
    error: { code: 'BUDGET_EXCEEDED', category: 'limit', context: { unit: 'tokens', limit: 100, actual: 120 } },
    usage: { total: 120 },
    report: { status: 'failed', trips: 2, children: [{ name: 'look', status: 'completed' }] },
  })
  expect(did).toEqual(['look'])
  expect(events).toMatchObject([{ unit: 'tokens', limit: 100, actual: 120, onViolation: 'abort', runId: 'r' }])

  expect(await kit.clock.until(clerk.resume('r'))).toMatchObject({ data: 'enough', report: { trips: 4 }, usage: { total: 190 } })
  expect(await kit.runtime.replay({ kind: 'clerk', id: 'r' })).toMatchObject({ verdict: 'identical' })
})

test('[WL-127] what is used up to the last token is within the budget', async () => {
  const exact = agent({ name: 'exact', model: 'test/a', budget: { maxTokens: 60 } })
  await using kit = await aLadderOf({ 'test/a': [{ text: 'done', usage }] }, exact)
  expect(await kit.clock.until(exact.execute('go'))).toMatchObject({ data: 'done', usage: { total: 60 } })
})

test('[WL-127] dollars and time have limits too; the answer that goes over one is too late', async () => {
  const dear = agent({ name: 'dear', model: 'test/a', price: { input: 1000, output: 1000 }, budget: { maxCostUSD: 0.05 } })
  const slow = agent({ name: 'slow', model: 'test/slow', budget: { maxLatencyMs: 2_000 } })
  await using kit = await aLadderOf({ 'test/a': [{ text: 'done', usage }], 'test/slow': [{ chunks: ['a', 'b'], deltaDelayMs: 1_500 }] }, dear, slow)

  expect(await kit.clock.until(dear.execute('go'))).toMatchObject({
    error: { code: 'BUDGET_EXCEEDED', context: { unit: 'USD', limit: 0.05, actual: expect.closeTo(0.06, 12) } },
    usage: { cost: { total: expect.closeTo(0.06, 12) } },
  })
  const { error } = await kit.clock.until(slow.execute('go'))
  expect(error).toMatchObject({ code: 'BUDGET_EXCEEDED', context: { unit: 'ms', limit: 2_000 } })
  expect(error?.context.actual).toBeGreaterThan(2_000)
})

test('[WL-127] a run that is gone on with may cost as much again', async () => {
  const price = { input: 1000, output: 1000 }
  const clerk = agent({ name: 'clerk', model: 'test/a', tools: [aLook([])], price, budget: { maxCostUSD: 0.07 } })
  const enough = { text: 'enough', usage: { inputTokens: 5, outputTokens: 5 } }
  await using kit = await aLadderOf({ 'test/a': [restless, restless, enough] }, clerk)
  expect(await kit.clock.until(clerk.execute('go', { runId: 'r' }))).toMatchObject({
    error: { code: 'BUDGET_EXCEEDED', context: { unit: 'USD', actual: expect.closeTo(0.12, 12) } },
  })
  expect(await kit.clock.until(clerk.resume('r'))).toMatchObject({ data: 'enough', usage: { cost: { total: expect.closeTo(0.13, 12) } } })
})

const asking = () => {
  const told: string[] = []
  const model = ({ messages }: ModelRequest) => {
    const last = messages.at(-1)
    told.push(last?.role === 'user' ? last.text : String(last?.role))
    return { text: `"answer ${told.length}"`, usage: told.length === 1 ? usage : { inputTokens: 5, outputTokens: 5 } }
  }
  return { told, models: { 'test/a': model } }
}

test.each([
  ['as it is', {}, '"answer 1"'],
  ['checked', { output: z.string() }, 'answer 1'],
  [
    'as middleware has made it',
    { middleware: [{ name: 'loud', trip: { after: (_: unknown, text: string) => ({ result: text.toUpperCase() }) } }] },
    '"ANSWER 1"',
  ],
] as const)(
  '[WL-127] gone on with after an answer that came too late or too dear, it has that answer, %s, and pays for no other',
  async (_, more, data) => {
    const clerk = agent({ name: 'clerk', model: 'test/a', budget: { maxTokens: 50 }, ...more } as never)
    const { told, models } = asking()
    await using kit = await aLadderOf(models, clerk)
    expect(await kit.clock.until(clerk.execute('go', { runId: 'r' }))).toMatchObject({ error: { code: 'BUDGET_EXCEEDED' } })
    expect(await kit.clock.until(clerk.resume('r'))).toMatchObject({ data, usage: { total: 60 }, report: { status: 'completed', trips: 1 } })
    expect(told).toEqual(['go'])
    expect(await kit.runtime.replay({ kind: 'clerk', id: 'r' })).toMatchObject({ verdict: 'identical' })
  },
)

test('[WL-127] where that answer does not fit, the model is told what is wrong with it, within as much again', async () => {
  const output = z.string().refine((text) => text !== 'answer 1', 'another one')
  const clerk = agent({ name: 'clerk', model: 'test/a', budget: { maxTokens: 50 }, output, repair: 1 })
  const { told, models } = asking()
  await using kit = await aLadderOf(models, clerk)
  expect(await kit.clock.until(clerk.execute('go', { runId: 'r' }))).toMatchObject({ error: { code: 'BUDGET_EXCEEDED' } })
  expect(await kit.clock.until(clerk.resume('r'))).toMatchObject({ data: 'answer 2' })
  expect(told).toEqual(['go', expect.stringContaining('another one')])
})

test('[WL-127] a limit of dollars without a price does nothing, and is warned of once', async () => {
  const free = agent({ name: 'free', model: 'test/a', budget: { maxCostUSD: 0.000_001 } })
  await using kit = await aLadderOf({ 'test/a': () => ({ text: 'done', usage }) }, free)
  expect(await kit.clock.until(free.execute('go'))).toMatchObject({ data: 'done' })
  expect(await kit.clock.until(free.execute('go'))).toMatchObject({ data: 'done' })
  await kit.runtime.settled(1_000)
  expect(kit.log.filter(({ message }) => message?.includes('maxCostUSD'))).toHaveLength(1)
})

test('[WL-127] another model goes on, once, where the author has named one', async () => {
  const did: string[] = []
  const budget = { maxTokens: 50, onViolation: 'fallback', fallback: 'test/cheap' } as const
  const clerk = agent({ name: 'clerk', model: 'test/a', tools: [aLook(did)], budget })
  await using kit = await aLadderOf({ 'test/a': () => restless, 'test/cheap': [restless, restless, { text: 'enough', usage }] }, clerk)
  const events: LadderEvent[] = []
  const on = { 'agent.budget.exceeded': (event: LadderEvent) => events.push(event), 'agent.trip.started': (event: LadderEvent) => events.push(event) }

  expect(await kit.clock.until(clerk.execute('go', { runId: 'r', on }))).toMatchObject({
    data: 'enough',
    usage: { total: 180 },
    report: { status: 'completed', trips: 3, model: 'test/cheap' },
  })
  expect(events.map(({ type, model }) => model ?? type)).toEqual(['test/a', 'agent.budget.exceeded', 'test/cheap', 'test/cheap'])
  expect(did).toEqual(['look', 'look'])
})

test('[WL-127, WL-134] the caller of one whose budget is spent goes on, and has what it used below it', async () => {
  const errand = agent({ name: 'errand', description: 'Runs.', model: 'test/a', budget: { maxTokens: 10 } })
  const chief = agent({ name: 'chief', model: 'test/chief', tools: [errand] })
  const flow = workflow({ name: 'flow', steps: [{ name: 'one', agent: chief }] })
  await using kit = await aLadderOf(
    { 'test/a': () => ({ text: 'done', usage }), 'test/chief': [{ calls: [{ name: 'errand', input: { text: 'x' } }] }, { text: 'so be it' }] },
    flow,
  )
  expect(await kit.clock.until(flow.execute('go'))).toMatchObject({
    data: 'so be it',
    report: {
      children: [
        {
          children: [
            {
              name: 'chief',
              children: [{ name: 'errand', status: 'failed', children: [{ error: { code: 'BUDGET_EXCEEDED' }, usage: { total: 60 } }] }],
            },
          ],
        },
      ],
    },
  })
})

test('[WL-127] what cannot be a budget is said where it is written', () => {
  const bad: object[] = [
    {},
    { maxTokens: 0 },
    { maxTokens: 1, onViolation: 'pray' },
    { maxTokens: 1, onViolation: 'fallback' },
    { maxTokens: 1, fallback: 'test/b' },
    { tokens: 1 },
  ]
  for (const budget of bad)
    expect(() => agent({ name: 'a', budget: budget }), JSON.stringify(budget)).toThrow(
      expect.objectContaining({ code: 'LADDER_CONFIG', hint: expect.any(String) }),
    )
  // @ts-expect-error a fallback has to be named
  expect(() => agent({ name: 'a', budget: { maxTokens: 1, onViolation: 'fallback' } })).toThrow('names no model')
})
