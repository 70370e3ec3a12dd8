/** What runs cost, where a price is known and where none is. */
import { expect, test } from 'vitest'
import { agent, ladder, workflow } from '../../src/ladder/index.ts'
import { aLadderOf, timeless } from './a-ladder.ts'

const usage = { inputTokens: 1000, outputTokens: 100, cachedInputTokens: 400, cacheWriteTokens: 200 }
const models = { 'test/dear': [{ text: 'dear', usage }], 'test/other': [{ text: 'other', usage }], 'test/own': [{ text: 'own', usage }] }

test('[WL-007] each channel costs what its price says; cached tokens cost what others do where nothing else is said; no price, no cost', async () => {
  const dear = agent({ name: 'dear', model: 'test/dear', price: { input: 2, output: 10, cachedInput: 0.5, cacheWrite: 3 } })
  const plain = agent({ name: 'plain', model: 'test/dear', price: { input: 2, output: 10 } })
  const unpriced = agent({ name: 'unpriced', model: 'test/other' })
  await using kit = await aLadderOf(models, dear, plain, unpriced)

  const { usage: spent } = await kit.clock.until(dear.execute('go'))
  expect(spent.cost).toEqual({ input: 0.0008, output: 0.001, cached: 0.0002, cacheWrite: 0.0006, total: expect.closeTo(0.0026, 12) })
  const { usage: cached } = await kit.clock.until(plain.execute('go'))
  expect(cached.cost).toEqual({ input: 0.0008, output: 0.001, cached: 0.0008, cacheWrite: 0.0004, total: expect.closeTo(0.003, 12) })
  const { usage: unknown } = await kit.clock.until(unpriced.execute('go'))
  expect(unknown).toEqual({ input: 1000, output: 100, total: 1100, cachedTokens: 400, cacheWriteTokens: 200 })
})

test('[WL-007, WL-005] a child without a price takes nothing from its siblings: the sum is that of those that have one', async () => {
  const dear = agent({ name: 'dear', model: 'test/dear', price: { input: 1, output: 1 } })
  const unpriced = agent({ name: 'unpriced', model: 'test/other' })
  const both = workflow({
    name: 'both',
    steps: [
      { name: 'first', agent: dear },
      { name: 'second', agent: unpriced },
      { name: 'third', agent: dear },
    ],
  })
  await using kit = await aLadderOf({ ...models, 'test/dear': () => ({ text: 'dear', usage }) }, both)

  const { report } = await kit.clock.until(both.execute('go', { runId: 'r' }))

  expect(report.usage).toMatchObject({ total: 3300, cost: { total: expect.closeTo(0.0022, 12), output: expect.closeTo(0.0002, 12) } })
  expect(report.children.map((step) => step.usage.cost?.total)).toEqual([expect.closeTo(0.0011, 12), undefined, expect.closeTo(0.0011, 12)])
  expect(JSON.stringify(report.children[1])).not.toContain('cost')
})

test('[WL-007] the model that answered has its own price; what was spent stays, whatever is charged later', async () => {
  const made = (input: number) =>
    agent({
      name: 'spare',
      model: 'test/down',
      fallbacks: ['test/own'],
      maxRetries: 0,
      price: { input, output: 0 },
      prices: { 'test/own': { input, output: 1 } },
    })
  const first = made(1)
  const down = [{ error: { code: 'provider_rate_limit' as const, message: 'later' } }]
  await using kit = await aLadderOf({ ...models, 'test/down': down }, first)
  const whole = await kit.clock.until(first.execute('go', { runId: 'r' }))
  expect(whole).toMatchObject({ data: 'own', usage: { cost: { input: 0.0004, output: 0.0001 } } })

  const second = made(50)
  await kit.restart({ extensions: [ladder({ executables: [second] })] })
  expect(timeless(await kit.clock.until(second.execute('go', { runId: 'r' })))).toEqual(timeless(whole))
  expect(await kit.runtime.replay({ kind: 'spare', id: 'r' })).toMatchObject({ verdict: 'identical' })
})

test('[WL-007] what was spent on reasoning, and what the cache had and took, is counted by kind in each trip and summed up the tree', async () => {
  const trip = { inputTokens: 1000, outputTokens: 100, cachedInputTokens: 400, cacheWriteTokens: 200, reasoningTokens: 60 }
  const price = { input: 1, output: 1, cachedInput: 0.5, cacheWrite: 2 }
  const thinker = agent({ name: 'thinker', model: 'test/thinker', price })
  const both = workflow({ name: 'both', steps: ['first', 'second'].map((name) => ({ name, agent: thinker })) })
  await using kit = await aLadderOf({ 'test/thinker': () => ({ text: 'so', usage: trip }) }, both)

  const { usage: spent, report } = await kit.clock.until(both.execute('go'))

  const once = { input: 1000, output: 100, total: 1100, cachedTokens: 400, cacheWriteTokens: 200, reasoningTokens: 60 }
  expect(report.children[0]?.usage).toMatchObject(once)
  expect(spent).toMatchObject(Object.fromEntries(Object.entries(once).map(([kind, count]) => [kind, 2 * count])))
  const cost = { input: 0.0008, output: 0.0002, cached: 0.0004, cacheWrite: 0.0008, total: 0.0022 }
  for (const [channel, dollars] of Object.entries(cost)) expect(spent.cost?.[channel as keyof typeof cost], channel).toBeCloseTo(dollars, 12)
})

test('[WL-007] what is no price is said where it is written', () => {
  for (const price of [{ input: 1 }, { input: -1, output: 1 }, { input: 1, output: 1, cachedInput: Number.NaN }, 3])
    expect(() => agent({ name: 'a', price: price as never }), JSON.stringify(price)).toThrow(
      expect.objectContaining({ code: 'LADDER_CONFIG', hint: expect.stringContaining('million') }),
    )
  // @ts-expect-error a price has both sides
  expect(() => agent({ name: 'a', price: { input: 1 } })).toThrow('output')
})
